"""Finds proofs: from facts down to explicit ones, a level at a time.

Two ways lead down. In a small database, all instances of all rules are followed until a proof is
complete: then it is one of least height. In a large one, each fact gets one instance. That ends,
because an instance reads facts that are older in one of two orders: those of hypernodes before it,
or, in a recursive hypernode, facts of lower ranks (maintain/contract.py). Where the file has no
ranks, they are found once more (evaluated_again.py).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from zodiac_sql.language.syntax import Rule
from zodiac_sql.program.state import State
from zodiac_sql.read.why.asked import Below, Instance, Key, Known, Place, instances, places, uses
from zodiac_sql.read.why.evaluated_again import Again
from zodiac_sql.read.why.paths import (
    MOST_EDGES,
    Closure,
    Graph,
    Path,
    all_edges,
    edges_near,
    path_among,
    path_in_database,
)
from zodiac_sql.storage.owners import EXPLICIT

SMALL = 20_000
"""In a database of at most this many facts, proofs of least height are looked for."""

MOST_INSTANCES = 60
"""So many instances of a rule are followed for each fact, where all are."""

ALL_EDGES = 2_000
"""If a closure has at most so many edges, all are read at once, for all facts."""

SEVERAL = 3
"""After so many facts of a closure, all its edges are read, if they are at most MOST_EDGES."""

FEW_FACTS = 100
"""If more facts than this take part, a proof is looked for in the other way, too."""

HIGHER = 2
"""In a small database, a proof may be so much higher than the lowest."""

MOST_FACTS = 3_000
"""If more facts than this take part, a lower proof than the one at hand is not looked for."""


@dataclass(frozen=True, slots=True)
class Derivation:
    """How a fact can be derived, and from what."""

    by: Instance | Path
    uses: tuple[Key, ...]


@dataclass(slots=True)
class Search:
    """What the search has found so far."""

    known: Known
    state: State
    closures: Mapping[tuple[int, str], Closure]
    """The closures at work, by hypernode and predicate."""
    places: dict[Key, list[Place]] = field(default_factory=dict)
    graphs: dict[tuple[int, str, bool], Graph | None] = field(default_factory=dict)
    """All edges of closures, by hypernode and predicate, and whether those that rules feed are
    among them; None where they are too many."""
    asked: Counter[tuple[int, str, bool]] = field(default_factory=Counter)
    """How often edges near a fact were read."""

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
        if owner == EXPLICIT or not part.ranked:
            return Place(owner, None)
        assert isinstance(owner, int)
        closure = self.closures.get((owner, predicate))
        return Place(owner, None) if closure and not self.beside(closure) else None

    def beside(self, closure: Closure) -> list[Rule]:
        """The rules of a closure's hypernode that derive its facts, and do not close it."""
        rules = self.rules(closure.hypernode, closure.row.predicate)
        return [rule for rule in rules if rule not in closure.rules]

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

    def graph(self, closure: Closure, fact: Key) -> Graph | None:
        """Edges of a closure with all that can be on the way of a fact; None if too many are."""
        key = closure.hypernode, closure.row.predicate, closure.row.fed
        if key not in self.graphs:
            self.graphs[key] = all_edges(self.known, closure, ALL_EDGES)
        elif self.graphs[key] is None:
            self.asked[key] += 1
            if self.asked[key] == SEVERAL:
                self.graphs[key] = all_edges(self.known, closure, MOST_EDGES)
        return self.graphs[key] or edges_near(self.known, closure, fact)

    def path(self, closure: Closure, fact: Key) -> Path | None:
        """A shortest path for a fact of a closure, unless it is the fact itself."""
        graph = self.graph(closure, fact)
        if graph is None:
            found = path_in_database(self.known, closure, fact)
        else:
            found = graph.shortest(fact)
        if found and not closure.row.fed:
            self._locate_edges(closure, found)
        return found


def find_proofs(search: Search, goals: Sequence[Key]) -> dict[Key, Derivation] | None:
    """A derivation for each fact that a proof of the goals needs; None if there is none.

    The goals have been located.
    """
    is_small = sum(search.known.rows()) <= SMALL
    if not is_small and (found := downwards(search, goals, None)):
        return found
    lowest = 0
    if is_small or not any(closure.row.fed for closure in search.closures.values()):
        found, lowest = least(search, goals, FEW_FACTS)
        if found is not None:
            return found
    with Again(search.known, search.state, search.closures) as again:
        found = downwards(search, goals, again)
    if found is None or not is_small or height(search, goals, found) <= lowest + HIGHER:
        return found
    lower, _ = least(search, goals, MOST_FACTS)
    return lower or found


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
) -> tuple[dict[Key, Derivation] | None, int]:
    """Proofs of least height, found by following everything.

    After n levels, every proof of at most that height has been seen. So when proofs are found, the
    search goes on until it has seen all that could be lower. If more than some facts take part, it
    ends: then it returns what it has, or None, and the height that a proof has at least.
    """
    seen = _Seen()
    frontier = list(dict.fromkeys(goals))
    level = 0
    while True:
        level += 1
        below = _follow(search, frontier, seen)
        frontier = [use for use in dict.fromkeys(below) if use not in seen.derivations]
        best = _best(search, seen)
        heights = [best[goal][0] for goal in goals if goal in best]
        is_proven = all(goal in best or search.is_explicit(goal) for goal in goals)
        ends = not frontier or len(seen.derivations) + len(frontier) > most
        if is_proven and (ends or level >= max(heights, default=0) - 1):
            return {fact: derivation for fact, (_, derivation) in best.items()}, 0
        if ends:
            return None, level + 1


def _follow(search: Search, facts: Sequence[Key], seen: _Seen) -> list[Key]:
    """Find all that facts can be derived from; returns it."""
    search.locate_used(facts)
    groups: dict[tuple[int, str], list[Key]] = defaultdict(list)
    for fact in facts:
        seen.derivations[fact] = []
        if not search.is_explicit(fact):
            for owner, _ in search.owners(fact):
                groups[owner, fact[0]].append(fact)
    below: list[Key] = []
    for (owner, predicate), some in groups.items():
        rules = search.rules(owner, predicate)
        if closure := search.closures.get((owner, predicate)):
            beside = search.beside(closure)
            # If those feed it, their facts are among the edges. Else only the rules reach them.
            rules = beside if closure.row.fed or not beside else rules
            for fact in some:
                below += _follow_edges(search, closure, fact, seen)
        for fact, derivation in by_rules(search, rules, some, MOST_INSTANCES):
            seen.derivations[fact].append(derivation)
            below += derivation.uses
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

    Heights are settled in ascending order, so no derivation rests on its own fact.
    """
    best: dict[Key, tuple[int, Derivation]] = {}
    settled = {fact for fact in seen.derivations if search.is_explicit(fact)}
    level = 0
    while True:
        level += 1
        new = {}
        for fact in seen.derivations:
            if fact not in settled and (derivation := _derivation(fact, seen, settled)):
                new[fact] = (level, derivation)
        if not new:
            return best
        best |= new
        settled |= new.keys()


def _derivation(fact: Key, seen: _Seen, settled: set[Key]) -> Derivation | None:
    """The first derivation of a fact that uses nothing but what is settled."""
    if fact in seen.edges:
        closure, near = seen.edges[fact]
        if path := path_among(closure, fact, (one for one in near if one in settled)):
            return Derivation(path, path.facts)
    for derivation in seen.derivations[fact]:
        if settled.issuperset(derivation.uses):
            return derivation
    return None


# --- one downwards --------------------------------------------------------------------------------


def downwards(
    search: Search, goals: Sequence[Key], again: Again | None
) -> dict[Key, Derivation] | None:
    """Proofs with one derivation for each fact, found going down.

    Where ranks are missing, hypernodes are evaluated again. None if that is not allowed.
    """
    found: dict[Key, Derivation] = {}
    frontier = list(dict.fromkeys(goals))
    seen = set(frontier)
    while frontier or (again and again.waits()):
        search.locate_used(frontier)
        groups: dict[tuple[int, str], list[tuple[Key, int | None]]] = defaultdict(list)
        for fact in frontier:
            if search.is_explicit(fact):
                continue
            owners = search.owners(fact)
            if not owners:
                return None
            owner, rank = owners[0]
            groups[owner, fact[0]].append((fact, rank))
        new: dict[Key, Derivation] = {}
        for (owner, predicate), some in groups.items():
            if again and again.closes(owner, predicate):
                left = [fact for fact, _ in some]
            else:
                left = _one_each(search, owner, predicate, some, new)
            if left and not (again and again.take(owner, predicate, left)):
                return None
        for order in again.orders.values() if again else ():
            derived = order.next()
            if derived is None:
                return None
            new |= {fact: _derivation_by(search, by) for fact, by in derived.items()}
        found |= new
        below = (use for derivation in new.values() for use in derivation.uses)
        frontier = [use for use in dict.fromkeys(below) if use not in seen]
        seen.update(frontier)
    return found


def _derivation_by(search: Search, by: Instance | Path) -> Derivation:
    return Derivation(by, by.facts if isinstance(by, Path) else tuple(uses(search.known, by)))


def _one_each(
    search: Search,
    owner: int,
    predicate: str,
    facts: Sequence[tuple[Key, int | None]],
    found: dict[Key, Derivation],
) -> list[Key]:
    """Find one derivation for each fact of a hypernode's table. Returns those that have none."""
    closure = search.closures.get((owner, predicate))
    waiting = dict(facts)
    if closure is not None:
        for fact in list(waiting):
            if path := search.path(closure.of_given, fact):
                found[fact] = Derivation(path, path.facts)
                del waiting[fact]
        if closure.row.fed or not search.beside(closure):
            return list(waiting)
    recursive = search.known.graph[owner].recursive
    if recursive and any(rank is None for rank in waiting.values()):
        return list(waiting)
    for rule in search.rules(owner, predicate):
        if not waiting:
            break
        some = list(waiting)
        ranks = tuple(rank for rank in waiting.values() if rank is not None)
        below = Below(owner, ranks) if recursive else None
        for fact, several in zip(some, instances(search.known, rule, some, 1, below), strict=True):
            if several:
                found[fact] = _derivation_by(search, several[0])
                del waiting[fact]
    return list(waiting)


def _by_predicate(facts: Iterable[Key]) -> dict[str, list[Key]]:
    found: dict[str, list[Key]] = defaultdict(list)
    for fact in dict.fromkeys(facts):
        found[fact[0]].append(fact)
    return found
