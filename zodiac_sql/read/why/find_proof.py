"""Finds proofs: from facts down to explicit ones, a level at a time.

Two ways lead down. In a small database, all instances of all rules are followed until a proof is
complete that is hardly higher than the lowest. In a large one, each fact gets one (downwards.py).
If no proof consists of facts, because a best value rests on itself now, then values that were the
best for a time count, too (best_ranks.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from math import inf

from zodiac_sql.language.syntax import Rule
from zodiac_sql.read.why.asked import Key, instances, uses
from zodiac_sql.read.why.downwards import downwards
from zodiac_sql.read.why.evaluated_again import Again
from zodiac_sql.read.why.paths import Closure, path_among
from zodiac_sql.read.why.search import Derivation, Search

SMALL = 20_000
"""In a database of at most this many facts, proofs of least height are looked for."""

MOST_INSTANCES = 60
"""So many instances of a rule are followed for each fact, where all are."""

FEW_FACTS = 100
"""If more facts than this take part, a proof is looked for in the other way, too."""

HIGHER = 2
"""In a small database, a proof may be so much higher than the lowest."""

MOST_FACTS = 3_000
"""If more facts than this take part, a lower proof than the one at hand is not looked for."""


def find_proofs(search: Search, goals: Sequence[Key]) -> dict[Key, Derivation] | None:
    """A derivation for each fact that a proof of the goals needs; None if there is none.

    The goals have been located. In a small database, a proof that is found while others have not
    been seen is kept only if none of these can be much lower.
    """
    is_small = sum(search.known.rows()) <= SMALL
    if not is_small and (found := downwards(search, goals, None)):
        return found
    found, unseen = None, inf
    if is_small or not any(closure.row.fed for closure in search.closures.values()):
        found, unseen = least(search, goals, FEW_FACTS)
    if found is None:
        with Again(search.known, search.state, search.closures) as again:
            found = downwards(search, goals, again)
    if found is None and search.known.graph.with_best:
        with Again(search.known, search.state, search.closures, passed=True) as again:
            return downwards(search, goals, again)
    if found is None or not is_small or height(search, goals, found) <= unseen + HIGHER:
        return found
    other, _ = least(search, goals, MOST_FACTS)
    return min(found, other, key=partial(height, search, goals)) if other else found


def height(search: Search, goals: Sequence[Key], found: Mapping[Key, Derivation]) -> int:
    """The steps on the longest way from a goal to an explicit fact."""
    heights: dict[Key, int] = {}
    waiting = list(goals)
    while waiting:
        fact = waiting[-1]
        below = [] if search.is_explicit(fact) else found[fact].uses
        open_ = [use for use in below if use not in heights]
        if open_:
            waiting += open_
        else:
            heights[fact] = 1 + max((heights[use] for use in below), default=-1)
            waiting.pop()
    return max((heights[goal] for goal in goals), default=0)


# --- one of least height --------------------------------------------------------------------------


@dataclass(slots=True)
class _Seen:
    """What the search for a proof of least height has followed."""

    derivations: dict[Key, list[Derivation]] = field(default_factory=dict)
    """The rule instances that derive each fact."""
    edges: dict[Key, tuple[Closure, tuple[Key, ...]]] = field(default_factory=dict)
    """The facts among which a path for a fact of a closure is to be found."""


def least(
    search: Search, goals: Sequence[Key], most: int
) -> tuple[dict[Key, Derivation] | None, float]:
    """Proofs of least height, found by following everything.

    After n levels, every proof of less than that height has been seen. So when proofs are found,
    the search goes on until another one could be lower by 1 at most. If more than some facts take
    part, it ends: then it returns what it has, however high, or None.

    Also returns the height that a proof which was not seen has at least.
    """
    seen = _Seen()
    frontier = list(dict.fromkeys(goals))
    level = 0
    while True:
        level += 1
        below = _follow(search, frontier, seen, most)
        frontier = [use for use in dict.fromkeys(below) if use not in seen.derivations]
        best = _best(search, seen)
        highest = max((best[goal][0] for goal in goals if goal in best), default=0)
        is_proven = all(goal in best or search.is_explicit(goal) for goal in goals)
        ends = not frontier or len(seen.derivations) + len(frontier) > most
        if ends or (is_proven and level >= highest - 1):
            found = {fact: derivation for fact, (_, derivation) in best.items()}
            return found if is_proven else None, level if frontier else inf


def _follow(search: Search, facts: Sequence[Key], seen: _Seen, most: int) -> list[Key]:
    """Find all that facts can be derived from; returns it."""
    search.locate_used(facts)
    groups: dict[tuple[int, str], list[Key]] = defaultdict(list)
    for fact in facts:
        seen.derivations[fact] = []
        if not search.is_explicit(fact):
            for owner, _ in search.owners(fact):
                groups[owner, fact[0]].append(fact)
    below = _follow_down(search, groups, seen, most)
    for (owner, predicate), some in groups.items():
        rules = search.rules(owner, predicate)
        if closure := search.closures.get((owner, predicate)):
            beside = search.beside(closure)
            # If those feed it, their facts are among the edges. Else only the rules reach them.
            rules = beside if closure.row.fed or not beside else rules
            for fact in some:
                below += _follow_edges(search, closure, fact, seen)
        search.questions[owner] += len(rules)
        for fact, derivation in by_rules(search, rules, some, MOST_INSTANCES):
            seen.derivations[fact].append(derivation)
            below += derivation.uses
    return below


def _follow_down(
    search: Search, groups: dict[tuple[int, str], list[Key]], seen: _Seen, most: int
) -> list[Key]:
    """Follow facts of recursive hypernodes down to the end, if their instances have been read.

    Takes these out of the groups, and returns what they are derived from.
    """
    below: list[Key] = []
    for owner in dict.fromkeys(owner for owner, _ in groups):
        derived = search.read_instances(owner)
        if derived is None:
            continue
        mine = [key for key in groups if key[0] == owner and key[1] in derived.tables.parts]
        facts = [fact for key in mine for fact in groups.pop(key)]
        reached = derived.below(facts, most - len(seen.derivations))
        search.locate_used(reached)
        for fact, ways in reached.items():
            known = seen.derivations.setdefault(fact, [])
            if not search.is_explicit(fact):
                known += [Derivation(*way) for way in ways]
                below += chain.from_iterable(way[1] for way in ways)
    return below


def _follow_edges(search: Search, closure: Closure, fact: Key, seen: _Seen) -> tuple[Key, ...]:
    """The facts that a path for a fact can consist of; if they are many, those of a shortest."""
    graph = search.graph(closure, fact)
    near = graph.near(fact, FEW_FACTS) if graph else None
    if near is None:
        path = search.path(closure, fact)
        near = path.facts if path else ()
    seen.edges[fact] = closure, near
    return near


def by_rules(
    search: Search, rules: Iterable[Rule], facts: Sequence[Key], most: int
) -> Iterable[tuple[Key, Derivation]]:
    """The instances of rules that derive facts of one predicate."""
    for rule in rules:
        for fact, several in zip(facts, instances(search.known, rule, facts, most), strict=True):
            for instance in several:
                yield fact, Derivation(instance, tuple(uses(search.known, instance)))


def _best(search: Search, seen: _Seen) -> dict[Key, tuple[int, Derivation]]:
    """The derivation of least height for each fact that has one down to explicit facts.

    Heights are settled in ascending order, so no derivation rests on its own fact. A fact is looked
    at again when something is settled that it can be derived from.
    """
    best: dict[Key, tuple[int, Derivation]] = {}
    settled: set[Key] = set()
    above: dict[Key, list[Key]] = defaultdict(list)
    for fact, several in seen.derivations.items():
        for use in chain.from_iterable(one.uses for one in several):
            above[use].append(fact)
        for edge in seen.edges[fact][1] if fact in seen.edges else ():
            above[edge].append(fact)
    new = [fact for fact in seen.derivations if search.is_explicit(fact)]
    level = 0
    waiting: Iterable[Key] = seen.derivations
    while True:
        settled.update(new)
        level += 1
        new = []
        for fact in waiting:
            if fact not in settled and (derivation := _derivation(fact, seen, settled)):
                best[fact] = (level, derivation)
                new.append(fact)
        if not new:
            return best
        waiting = dict.fromkeys(one for fact in new for one in above[fact])


def _derivation(fact: Key, seen: _Seen, settled: set[Key]) -> Derivation | None:
    """The first derivation of a fact that uses nothing but what is settled."""
    if fact in seen.edges:
        closure, near = seen.edges[fact]
        if path := path_among(closure, fact, (one for one in near if one in settled)):
            return Derivation(path, path.uses)
    for derivation in seen.derivations[fact]:
        if settled.issuperset(derivation.uses):
            return derivation
    return None
