"""Finds a proof going down: each fact gets one derivation, a level of facts at a time.

That ends, because a derivation uses facts that are older in one of two orders: those of hypernodes
before it, or, in a recursive hypernode, facts of lower ranks (maintain/contract.py). Where the file
has no ranks, they are found once more (evaluated_again.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from zodiac_sql.read.why.asked import Below, Instance, Key, instances, uses
from zodiac_sql.read.why.copies import Underived, copied
from zodiac_sql.read.why.descents import Descents
from zodiac_sql.read.why.evaluated_again import Again
from zodiac_sql.read.why.paths import Path
from zodiac_sql.read.why.search import Derivation, ProofSearch
from zodiac_sql.sql.relations import OUTSIDE

Groups = dict[tuple[int, str], dict[Key, int | None]]
"""Facts by hypernode and predicate, with their ranks in its table."""


def downwards(
    search: ProofSearch, goals: Sequence[Key], again: Again | None
) -> dict[Key, Derivation] | None:
    """Proofs with one derivation for each fact, found going down.

    Where ranks are missing, hypernodes are evaluated again. None if that is not allowed.
    """
    found: dict[Key, Derivation] = {}
    descents = Descents(search.known, search.closures.keys())
    frontier = list(dict.fromkeys(goals))
    seen = set(frontier)
    while frontier or (again and again.waits()):
        search.locate_used(frontier)
        groups = _groups(search, [fact for fact in frontier if fact not in found])
        if groups is None:
            return None
        further = _further(search, descents, groups)
        seen.update(further)
        new: dict[Key, Derivation] = {}
        for (owner, predicate), left in _one_each(search, groups, again, descents, new):
            if not (again and again.take(owner, predicate, left)):
                return None
        for order in again.orders.values() if again else ():
            derived = order.next()
            if derived is None:
                return None
            search.locate_used(derived)
            new |= {
                fact: _derivation_by(search, by)
                for fact, by in derived.items()
                if _is_first(search, fact, order.hypernode)
            }
        found |= new
        below = [use for derivation in new.values() for use in derivation.uses]
        if again:
            search.places |= again.located(below)
        frontier = [use for use in dict.fromkeys(below) if use not in seen]
        seen.update(frontier)
    return found


def _groups(search: ProofSearch, facts: Sequence[Key]) -> Groups | None:
    """Facts that are not explicit, by the first table that has them; None if no table has one."""
    search.locate_used(facts)
    groups: Groups = defaultdict(dict)
    for fact in facts:
        if search.is_explicit(fact):
            continue
        owners = search.owners(fact)
        if not owners:
            return None
        owner, rank = owners[0]
        groups[owner, fact[0]][fact] = rank
    return groups


def _is_first(search: ProofSearch, fact: Key, hypernode: int) -> bool:
    """Whether no hypernode further down derives a fact.

    What one derives from facts that others derive, too, may rest on the fact itself there.
    """
    owners = search.owners(fact)
    return not owners or owners[0][0] == hypernode


def _further(search: ProofSearch, descents: Descents, groups: Groups) -> list[Key]:
    """Add all facts further down in hypernodes that are gone down at once. Returns them."""
    by_owner: dict[int, dict[Key, int]] = defaultdict(dict)
    for (owner, _), ranks in groups.items():
        by_owner[owner] |= {fact: rank for fact, rank in ranks.items() if rank is not None}
    added: list[Key] = []
    for owner, facts in by_owner.items():
        below = descents.below(owner, facts)
        if not below:
            continue
        search.locate_own(owner, below)
        new = [fact for fact in below if fact not in facts]
        more = _groups(search, new)
        assert more is not None, "they were read from a table"
        for group, several in more.items():
            groups.setdefault(group, {}).update(several)
        added += new
    return added


def _derivation_by(search: ProofSearch, by: Instance | Path) -> Derivation:
    return Derivation(by, by.uses if isinstance(by, Path) else tuple(uses(search.known, by)))


def _one_each(
    search: ProofSearch,
    groups: Groups,
    again: Again | None,
    descents: Descents,
    found: dict[Key, Derivation],
) -> Iterator[tuple[tuple[int, str], list[Key]]]:
    """Find one derivation for each fact of some tables. Yields those that have none, by table."""
    wanted: list[tuple[tuple[int, str], Underived]] = []
    for (owner, predicate), ranks in groups.items():
        if again and again.closes(owner, predicate):
            yield (owner, predicate), list(ranks)
            continue
        waiting, ends = _by_paths(search, owner, predicate, ranks, found)
        recursive = search.known.graph[owner].recursive
        if ends or (recursive and any(rank is None for rank in waiting.values())):
            if waiting:
                yield (owner, predicate), list(waiting)
        elif waiting:
            rules = search.rules(owner, predicate)
            wanted.append(((owner, predicate), Underived(owner, rules, waiting)))
            for fact in waiting:
                if way := descents.way(owner, fact):
                    found[fact] = Derivation(*way)
    found |= copied(search, [one for _, one in wanted if not descents.goes_down(one.hypernode)])
    for table, one in wanted:
        if left := _by_asking(search, one, descents, found):
            yield table, left


def _by_paths(
    search: ProofSearch,
    owner: int,
    predicate: str,
    ranks: dict[Key, int | None],
    found: dict[Key, Derivation],
) -> tuple[dict[Key, int | None], bool]:
    """Find paths for facts of a closure.

    Returns those that have none, and whether no rule can derive them otherwise.
    """
    closure = search.closures.get((owner, predicate))
    if closure is None:
        return ranks, False
    waiting = dict(ranks)
    of_given = closure.of_given
    for fact in ranks:
        if path := search.path(of_given, fact):
            found[fact] = Derivation(path, path.uses)
            del waiting[fact]
    return waiting, closure.row.fed or not search.beside(closure)


def _by_asking(
    search: ProofSearch, one: Underived, descents: Descents, found: dict[Key, Derivation]
) -> list[Key]:
    """Ask each rule for instances that derive facts. Returns those that have none."""
    waiting = {fact: rank for fact, rank in one.waiting.items() if fact not in found}
    recursive = search.known.graph[one.hypernode].recursive
    for rule in one.rules:
        if not waiting:
            break
        some = list(waiting)
        ranks = tuple(rank for rank in waiting.values() if rank is not None)
        below = Below(one.hypernode, ranks) if recursive else None
        descents.asked[one.hypernode] += 1
        for fact, several in zip(some, instances(search.known, rule, some, 1, below), strict=True):
            if several:
                found[fact] = _derivation_by(search, several[0])
                _locate_own(search, one.hypernode, found[fact], several[0].rank)
                del waiting[fact]
    return list(waiting)


def _locate_own(search: ProofSearch, hypernode: int, derivation: Derivation, rank: int) -> None:
    """Say where the only fact of its hypernode is that a derivation uses: nobody has to ask."""
    own = {*search.known.graph[hypernode].derives}
    used = [use for use in derivation.uses if use[0] in own]
    if len(used) == 1 and rank > OUTSIDE:
        search.locate_own(hypernode, {used[0]: rank})
