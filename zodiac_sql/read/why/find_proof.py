"""Finds proofs: from facts down to explicit ones, a level at a time.

Two ways lead down. In a small database, all instances of all rules are followed until a proof is
complete: then it is one of least height. In a large one, each fact gets one instance. That ends,
because an instance reads facts that are older in one of two orders: those of hypernodes before it,
or, in a recursive hypernode, facts of lower ranks (maintain/contract.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from zodiac_sql.language.syntax import Rule
from zodiac_sql.read.why.asked import Below, Instance, Key, Known, Place, instances, places, uses
from zodiac_sql.read.why.paths import Closure, Path, path_among, shortest_path
from zodiac_sql.storage.owners import EXPLICIT

SMALL = 20_000
"""In a database of at most this many facts, proofs of least height are looked for."""

MOST_INSTANCES = 60
"""So many instances of a rule are followed for each fact, where all are."""

MOST_FACTS = 3_000
"""If more facts than this take part, the search for a proof of least height ends."""

MOST_FACTS_AT_LAST = 100_000
"""The same where no other way is left."""


@dataclass(frozen=True, slots=True)
class Derivation:
    """How a fact can be derived, and from what."""

    by: Instance | Path
    uses: tuple[Key, ...]


@dataclass(slots=True)
class Search:
    """What the search has found so far."""

    known: Known
    closures: Mapping[tuple[int, str], Closure]
    """The closures at work, by hypernode and predicate."""
    places: dict[Key, list[Place]] = field(default_factory=dict)
    paths: dict[Key, Path | None] = field(default_factory=dict)

    def is_explicit(self, fact: Key) -> bool:
        """Whether a fact that was located is explicit."""
        return any(place.owner == EXPLICIT for place in self.places[fact])

    def locate(self, facts: Iterable[Key]) -> None:
        """Find the tables that have some facts, of which some may have none."""
        new = _by_predicate(fact for fact in facts if fact not in self.places)
        if new:
            self.places |= places(self.known, new)

    def locate_used(self, facts: Iterable[Key]) -> None:
        """Find the tables that have some facts which were read just now.

        If only one table can have them, nothing has to be asked.
        """
        new = _by_predicate(fact for fact in facts if fact not in self.places)
        for predicate, some in list(new.items()):
            if place := self._only_place(predicate, None):
                self.places.update((fact, [place]) for fact in some)
                del new[predicate]
        if new:
            self.places |= places(self.known, new)

    def _locate_edges(self, closure: Closure, path: Path) -> None:
        """Say where the facts of a path are, if only one table can have them."""
        if place := self._only_place(closure.row.predicate, closure.hypernode):
            for edge in path.facts:
                self.places.setdefault(edge, [place])

    def _only_place(self, predicate: str, without: int | None) -> Place | None:
        """Where all facts of a predicate are, without those of a hypernode.

        None if that is several tables, or if ranks are needed.
        """
        owners = self.known.sources.owners(predicate)
        tables = [
            (owner, part)
            for owner, parts in owners.items()
            for part in parts
            if part.rows and owner != without
        ]
        if len(tables) != 1:
            return None
        ((owner, part),) = tables
        if owner == EXPLICIT or not part.ranked or (owner, predicate) in self.closures:
            return Place(owner, None)
        return None

    def owners(self, fact: Key) -> list[tuple[int, int | None]]:
        """The hypernodes that derive a fact, first those that read less, with its ranks there."""
        order = self.known.graph.places
        derived = [(p.owner, p.rank) for p in self.places[fact] if isinstance(p.owner, int)]
        return sorted(
            (o for o in derived if o[0] != EXPLICIT and o[0] in order), key=lambda o: order[o[0]]
        )

    def rules(self, hypernode: int, predicate: str) -> list[Rule]:
        """The rules of a hypernode that derive a predicate."""
        rules = self.known.graph[hypernode].rules
        return [rule for rule in rules if rule.head.predicate == predicate]

    def rules_of(self, predicate: str) -> list[Rule]:
        """All rules that derive a predicate."""
        hypernodes = self.known.graph.derivers.get(predicate, ())
        return [rule for h in hypernodes for rule in self.rules(h.id, predicate)]

    def path(self, closure: Closure, fact: Key) -> Path | None:
        """A shortest path for a fact of a closure, unless it is the fact itself."""
        if fact not in self.paths:
            found = shortest_path(self.known, closure, fact)
            if found and not closure.row.fed:
                self._locate_edges(closure, found)
            self.paths[fact] = None if found is None or fact in found.facts else found
        return self.paths[fact]


def find_proofs(search: Search, goals: Sequence[Key]) -> dict[Key, Derivation] | None:
    """A derivation for each fact that a proof of the goals needs; None if there is none.

    The goals have been located.
    """
    if sum(search.known.rows()) <= SMALL:
        found = least(search, goals, MOST_FACTS)
        if found is not None:
            return with_paths(search, found)
    found = downwards(search, goals)
    if found is not None:
        return found
    found = least(search, goals, MOST_FACTS_AT_LAST)
    return None if found is None else with_paths(search, found)


# --- one of least height --------------------------------------------------------------------------


def least(search: Search, goals: Sequence[Key], most: int) -> dict[Key, Derivation] | None:
    """Proofs of least height, found by following everything; None if that is too much.

    After n levels, every proof of at most that height has been seen. So when proofs are found, the
    search goes on until it has seen all that could be lower.
    """
    found: dict[Key, list[Derivation]] = {}
    frontier = list(dict.fromkeys(goals))
    level = 0
    while True:
        level += 1
        search.locate_used(frontier)
        for fact in frontier:
            found[fact] = []
        open_ = [fact for fact in frontier if not search.is_explicit(fact)]
        for fact, derivation in every_derivation(search, open_, MOST_INSTANCES):
            found[fact].append(derivation)
        best = _best(search, found)
        below = (use for fact in frontier for d in found[fact] for use in d.uses)
        frontier = list(dict.fromkeys(use for use in below if use not in found))
        heights = [best[goal][0] for goal in goals if goal in best]
        is_proven = all(goal in best or search.is_explicit(goal) for goal in goals)
        ends = not frontier or len(found) > most
        if is_proven and (ends or level >= max(heights, default=0) - 1):
            return {fact: derivation for fact, (_, derivation) in best.items()}
        if ends:
            return None


def every_derivation(
    search: Search, facts: Iterable[Key], most: int
) -> Iterable[tuple[Key, Derivation]]:
    """The derivations of facts that were located: paths for closures, else instances of rules."""
    groups: dict[tuple[int, str], list[Key]] = defaultdict(list)
    for fact in facts:
        for owner, _ in search.owners(fact):
            groups[owner, fact[0]].append(fact)
    for (owner, predicate), some in groups.items():
        rules = search.rules(owner, predicate)
        closure = search.closures.get((owner, predicate))
        if closure is not None:
            for fact in some:
                if path := search.path(closure, fact):
                    yield fact, Derivation(path, path.facts)
        yield from by_rules(search, rules, some, most)


def by_rules(
    search: Search, rules: Iterable[Rule], facts: Sequence[Key], most: int
) -> Iterable[tuple[Key, Derivation]]:
    """The instances of rules that derive facts of one predicate."""
    for rule in rules:
        for fact, several in zip(facts, instances(search.known, rule, facts, most), strict=True):
            for instance in several:
                yield fact, Derivation(instance, tuple(uses(search.known, instance)))


def _best(
    search: Search, found: Mapping[Key, Sequence[Derivation]]
) -> dict[Key, tuple[int, Derivation]]:
    """The derivation of least height for each fact that has one down to explicit facts.

    Heights are settled in ascending order, so no derivation rests on its own fact.
    """
    best: dict[Key, tuple[int, Derivation]] = {}
    settled = {fact for fact in found if search.is_explicit(fact)}
    height = 0
    while True:
        height += 1
        new = {}
        for fact, several in found.items():
            if fact in settled:
                continue
            for derivation in several:
                if settled.issuperset(derivation.uses):
                    new[fact] = (height, derivation)
                    break
        if not new:
            return best
        best |= new
        settled |= new.keys()


def with_paths(search: Search, found: Mapping[Key, Derivation]) -> dict[Key, Derivation]:
    """Derivations with paths in place of trees of instances of rules that close a predicate."""
    closures = {rule.name: one for one in search.closures.values() for rule in one.rules}

    def closure_of(fact: Key) -> Closure | None:
        derivation = found.get(fact)
        if derivation is None or isinstance(derivation.by, Path) or search.is_explicit(fact):
            return None
        return closures.get(derivation.by.rule.name)

    told = dict(found)
    for fact in found:
        closure = closure_of(fact)
        if closure is None:
            continue
        leaves: list[Key] = []
        waiting = list(found[fact].uses)
        while waiting:
            use = waiting.pop()
            if closure_of(use) is closure:
                waiting += found[use].uses
            else:
                leaves.append(use)
        if path := path_among(closure, fact, leaves):
            told[fact] = Derivation(path, path.facts)
    return told


# --- one downwards --------------------------------------------------------------------------------


def downwards(search: Search, goals: Sequence[Key]) -> dict[Key, Derivation] | None:
    """Proofs with one derivation for each fact, found going down; None if an order is missing."""
    found: dict[Key, Derivation] = {}
    frontier = list(dict.fromkeys(goals))
    seen = set(frontier)
    while frontier:
        search.locate_used(frontier)
        open_ = [fact for fact in frontier if not search.is_explicit(fact)]
        groups: dict[tuple[int, str], list[tuple[Key, int | None]]] = defaultdict(list)
        for fact in open_:
            owners = search.owners(fact)
            if not owners:
                return None
            owner, rank = owners[0]
            groups[owner, fact[0]].append((fact, rank))
        for (owner, predicate), some in groups.items():
            if not _one_each(search, owner, predicate, some, found):
                return None
        below = (use for fact in open_ for use in found[fact].uses)
        frontier = [use for use in dict.fromkeys(below) if use not in seen]
        seen.update(frontier)
    return found


def _one_each(
    search: Search,
    owner: int,
    predicate: str,
    facts: Sequence[tuple[Key, int | None]],
    found: dict[Key, Derivation],
) -> bool:
    """Find one derivation for each fact of a hypernode's table. Returns whether all have one."""
    closure = search.closures.get((owner, predicate))
    waiting = dict(facts)
    if closure is not None:
        if closure.row.fed:
            return False
        for fact in list(waiting):
            if path := search.path(closure, fact):
                found[fact] = Derivation(path, path.facts)
                del waiting[fact]
        return not waiting
    recursive = search.known.graph[owner].recursive
    if recursive and any(rank is None for rank in waiting.values()):
        return False
    for rule in search.rules(owner, predicate):
        if not waiting:
            return True
        some = list(waiting)
        ranks = tuple(rank for rank in waiting.values() if rank is not None)
        below = Below(owner, ranks) if recursive else None
        for fact, several in zip(some, instances(search.known, rule, some, 1, below), strict=True):
            if several:
                found[fact] = Derivation(several[0], tuple(uses(search.known, several[0])))
                del waiting[fact]
    return not waiting


def _by_predicate(facts: Iterable[Key]) -> dict[str, list[Key]]:
    found: dict[str, list[Key]] = defaultdict(list)
    for fact in dict.fromkeys(facts):
        found[fact[0]].append(fact)
    return found
