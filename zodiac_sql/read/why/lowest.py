"""Finds a proof of least height, by following everything that facts can be derived from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import inf
from typing import Any

from zodiac_sql.language.syntax import Rule
from zodiac_sql.read.why.asked import Key, instances, uses
from zodiac_sql.read.why.paths import ClosedPredicate, path_among
from zodiac_sql.read.why.search import Derivation, ProofSearch

MOST_INSTANCES = 60
"""So many instances of a rule are followed for each fact, where all are."""

FACTS_OF_A_QUESTION = 1_000
"""To look for a proof among so many facts takes about as long as a question."""

Found = dict[Key, Derivation]
"""A derivation for each fact of a proof, and for others."""


@dataclass(slots=True)
class Lowest:
    """The search for a proof of least height, a level at a time.

    After n levels, every proof of less than that height has been seen. So when proofs are found,
    the search goes on until another one could be lower by 1 at most.
    """

    search: ProofSearch
    goals: Sequence[Key]
    few: int
    """If a path can consist of more facts than this, only a shortest one is followed."""
    unseen: float = inf
    """The height that a proof which was not seen has at least."""
    _level: int = 0
    _frontier: list[Key] = field(init=False)
    """The facts that are followed next."""
    _asked: int = 0
    """How many facts rules were asked about."""
    _derivations: dict[Key, list[Derivation]] = field(default_factory=dict)
    """The rule instances that derive each fact."""
    _edges: dict[Key, tuple[ClosedPredicate, tuple[Key, ...]]] = field(default_factory=dict)
    """The facts among which a path for a fact of a closure is to be found."""

    def __post_init__(self) -> None:
        self._frontier = list(dict.fromkeys(self.goals))

    def follow(self, most: int, read_is_free: bool = False) -> Found | None:
        """Go on until there are proofs, or more than some facts take part.

        Those do not count that are explicit, or in a hypernode whose instances have all been read,
        if to follow them is free. Returns what there is then, however high, or None.
        """
        best: dict[Key, tuple[int, Derivation]] = {}
        is_proven = False
        since = 0
        while self._frontier:
            self._level += 1
            since += 1
            most_read = None if read_is_free else most - len(self._derivations)
            below = self._follow(self._frontier, most_read)
            self._frontier = [u for u in dict.fromkeys(below) if u not in self._derivations]
            if read_is_free:
                self._take_explicit()
            ends = not self._frontier or self._taken(read_is_free) > most
            if not ends and len(self._derivations) > since * FACTS_OF_A_QUESTION:
                continue  # to follow another level takes no longer
            since, best = 0, self._best()
            highest = max((best[goal][0] for goal in self.goals if goal in best), default=0)
            is_proven = all(goal in best or self.search.is_explicit(goal) for goal in self.goals)
            if ends or (is_proven and self._level >= highest - 1):
                break
        self.unseen = self._level if self._frontier else inf
        return {fact: derivation for fact, (_, derivation) in best.items()} if is_proven else None

    def _taken(self, read_is_free: bool) -> int:
        """How many facts take part."""
        followed = self._asked if read_is_free else len(self._derivations)
        return followed + len(self._frontier)

    def _take_explicit(self) -> None:
        """Take the facts out of the next level that need no derivation."""
        self.search.locate_used(self._frontier)
        self._derivations |= {fact: [] for fact in self._frontier if self.search.is_explicit(fact)}
        self._frontier = [fact for fact in self._frontier if fact not in self._derivations]

    def _follow(self, facts: Sequence[Key], most_read: int | None) -> list[Key]:
        """Find all that facts can be derived from; returns it."""
        search = self.search
        search.locate_used(facts)
        groups: dict[tuple[int, str], list[Key]] = defaultdict(list)
        for fact in facts:
            self._derivations[fact] = []
            if not search.is_explicit(fact):
                for owner, _ in search.owners(fact):
                    groups[owner, fact[0]].append(fact)
        below = self._follow_down(groups, most_read)
        for (owner, predicate), some in groups.items():
            rules = search.rules(owner, predicate)
            if closure := search.closures.get((owner, predicate)):
                beside = search.beside(closure)
                # If those feed it, their facts are among the edges. Else only the rules reach them.
                rules = beside if closure.row.fed or not beside else rules
                for fact in some:
                    below += self._follow_edges(closure, fact)
            search.questions[owner] += len(rules)
            self._asked += len(some)
            for fact, derivation in by_rules(search, rules, some, MOST_INSTANCES):
                self._derivations[fact].append(derivation)
                below += derivation.uses
        return below

    def _follow_down(
        self, groups: dict[tuple[int, str], list[Key]], most_read: int | None
    ) -> list[Key]:
        """Follow facts of recursive hypernodes down to the end, if their instances have been read.

        Takes these out of the groups, and returns what they are derived from.
        """
        search = self.search
        below: list[Key] = []
        for owner in dict.fromkeys(owner for owner, _ in groups):
            derived = search.read_instances(owner)
            if derived is None:
                continue
            mine = [key for key in groups if key[0] == owner and key[1] in derived.tables.parts]
            facts = [fact for key in mine for fact in groups.pop(key)]
            reached = derived.below(facts, most_read)
            search.locate_own(owner, {fact: derived.ranks[fact] for fact in reached})
            search.locate_used(reached)
            for fact, ways in reached.items():
                if fact not in self._derivations:  # other hypernodes may derive it, too
                    for other, _ in search.owners(fact):
                        if other != owner and not search.is_explicit(fact):
                            groups[other, fact[0]].append(fact)
                known = self._derivations.setdefault(fact, [])
                if not search.is_explicit(fact):
                    known += [Derivation(*way) for way in ways]
                    for _, used in ways:
                        below += used
        return below

    def _follow_edges(self, closure: ClosedPredicate, fact: Key) -> tuple[Key, ...]:
        """The facts that a path for a fact can consist of; of many, those of a shortest one."""
        graph = self.search.graph(closure, fact)
        near = graph.near(fact, self.few) if graph else None
        if near is None:
            path = self.search.path(closure, fact)
            near = path.facts if path else ()
        self._edges[fact] = closure, near
        return near

    def _best(self) -> dict[Key, tuple[int, Derivation]]:
        """The derivation of least height for each fact that has one down to explicit facts.

        Heights are settled in ascending order, so no derivation rests on its own fact.
        """
        best: dict[Key, tuple[int, Derivation]] = {}
        settled = set(self.search.explicit)
        open_ = _Open.of(self._derivations, settled)
        on_paths: dict[Key, list[Key]] = defaultdict(list)
        for fact, (_, near) in self._edges.items():
            for edge in near:
                on_paths[edge].append(fact)
        paths: Iterable[Key] = self._edges
        ready, level = open_.ready, 0
        while True:
            level += 1
            new: list[Key] = []
            for fact in paths:
                if fact not in settled and (path := self._path(fact, settled)):
                    best[fact] = level, path
                    new.append(fact)
            for fact, place in ready.items():
                if fact not in settled and fact not in best:
                    best[fact] = level, self._derivations[fact][place]
                    new.append(fact)
            if not new:
                return best
            settled.update(new)
            ready = open_.ready_with(new)
            paths = dict.fromkeys(chain.from_iterable(on_paths.pop(one, ()) for one in new))

    def _path(self, fact: Key, settled: set[Key]) -> Derivation | None:
        """A path for a fact of a closure that uses nothing but what is settled."""
        closure, near = self._edges[fact]
        path = path_among(closure, fact, (one for one in near if one in settled))
        return Derivation(path, path.uses) if path else None


@dataclass(slots=True)
class _Open:
    """The derivations that use facts which are not settled yet.

    Each is a list: how many such facts it uses, which fact it derives, and its place among the
    derivations of that.
    """

    above: dict[Key, list[list[Any]]]
    """The derivations that use a fact."""
    ready: dict[Key, int]
    """The first derivation of each fact that uses nothing else than what is settled."""

    @classmethod
    def of(cls, derivations: Mapping[Key, Sequence[Derivation]], settled: set[Key]) -> _Open:
        """Derivations, while some facts are settled."""
        above: dict[Key, list[list[Any]]] = defaultdict(list)
        ready: dict[Key, int] = {}
        for fact, several in derivations.items():
            for place, derivation in enumerate(several):
                used = {use for use in derivation.uses if use not in settled}
                one = [len(used), fact, place]
                for use in used:
                    above[use].append(one)
                if not used:
                    ready.setdefault(fact, place)
        return cls(above, ready)

    def ready_with(self, settled: Iterable[Key]) -> dict[Key, int]:
        """Settle facts. Returns those that have derivations now, with the first of them."""
        ready: dict[Key, int] = {}
        for use in settled:
            for one in self.above.pop(use, ()):
                one[0] -= 1
                if not one[0]:
                    _, fact, place = one
                    ready[fact] = min(place, ready.get(fact, place))
        return ready


def by_rules(
    search: ProofSearch, rules: Iterable[Rule], facts: Sequence[Key], most: int
) -> Iterable[tuple[Key, Derivation]]:
    """The instances of rules that derive facts of one predicate."""
    for rule in rules:
        for fact, several in zip(facts, instances(search.known, rule, facts, most), strict=True):
            for instance in several:
                yield fact, Derivation(instance, tuple(uses(search.known, instance)))
