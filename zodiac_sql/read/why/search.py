"""What a search for proofs has found so far: where facts are, and how closures lead to them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from zodiac_sql.language.syntax import Rule
from zodiac_sql.program.state import State
from zodiac_sql.read.why import all_facts
from zodiac_sql.read.why.all_facts import Derived, every, facts_of, tables_of
from zodiac_sql.read.why.asked import Instance, Key, Known, Place, places
from zodiac_sql.read.why.paths import (
    MOST_EDGES,
    ClosedPredicate,
    Path,
    PathEdges,
    all_edges,
    edges_near,
    path_in_database,
)
from zodiac_sql.sql.relations import Part
from zodiac_sql.storage.owners import EXPLICIT, Owner

ALL_EDGES = 2_000
"""If a closure has at most so many edges, all are read at once, for all facts."""

ROWS_OF_A_QUESTION = 1_000
"""To read so many facts takes about as long as to ask where one of them is."""

SEVERAL = 3
"""After so many facts of a closure, all its edges are read, if they are at most MOST_EDGES."""

EdgesOf = tuple[int, str, bool]
"""A hypernode, a predicate that it closes, and whether edges that its own rules feed are meant."""


@dataclass(frozen=True, slots=True)
class Derivation:
    """How a fact can be derived, and from what."""

    by: Instance | Path
    uses: tuple[Key, ...]


@dataclass(slots=True)
class ProofSearch:
    """What the search has found so far."""

    known: Known
    state: State
    closures: Mapping[tuple[int, str], ClosedPredicate]
    """The closures at work, by hypernode and predicate."""
    places: dict[Key, list[Place]] = field(default_factory=dict)
    explicit: set[Key] = field(default_factory=set)
    """The facts that were located and are explicit."""
    edges: dict[EdgesOf, PathEdges | None] = field(default_factory=dict)
    """All edges of closures that have at most ALL_EDGES, None for others; other searches of the
    same facts may share them."""
    many: dict[EdgesOf, PathEdges | None] = field(default_factory=dict)
    """All edges of closures that have more; None where they are too many."""
    asked: Counter[EdgesOf] = field(default_factory=Counter)
    """How often edges near a fact were read."""
    questions: Counter[int] = field(default_factory=Counter)
    """How often a rule of each hypernode was asked about facts of a level."""
    instances: dict[int, Derived | None] = field(default_factory=dict)
    """All instances of the rules of hypernodes; None where they are too many."""
    places_asked: Counter[str] = field(default_factory=Counter)
    """How often it was asked where facts of each predicate are."""
    whole: dict[tuple[Owner, str], Mapping[Key, int | None]] = field(default_factory=dict)
    """All facts of a predicate that an owner's table has, with their ranks, where it was read."""
    deriving: dict[str, list[Rule]] = field(default_factory=dict)
    """What `rules_of` has found."""

    def is_explicit(self, fact: Key) -> bool:
        """Whether a fact that was located is explicit."""
        return fact in self.explicit

    def locate(self, facts: Iterable[Key]) -> None:
        """Find the tables that have some facts, of which some may have none."""
        self._ask_places(_by_predicate(fact for fact in facts if fact not in self.places))

    def locate_used(self, facts: Iterable[Key]) -> None:
        """Find the tables that have some facts which were read just now.

        If only one table can have them, nothing has to be asked.
        """
        new = _by_predicate(fact for fact in facts if fact not in self.places)
        for predicate, some in list(new.items()):
            if place := self._only_place(predicate, None):
                self._found({fact: [place] for fact in some})
                del new[predicate]
        self._ask_places(new)

    def locate_own(self, hypernode: int, ranks: Mapping[Key, int | None]) -> None:
        """Say where facts of a hypernode's tables are, if the other tables are none or small."""
        own = _by_predicate(fact for fact in ranks if fact not in self.places)
        for predicate, some in own.items():
            others = [one for one in self._tables(predicate) if one[0] != hypernode]
            if self._read_whole(predicate, others, len(some)):
                located = {fact: [Place(hypernode, ranks[fact])] for fact in some}
                for owner, _ in others:
                    facts = self.whole[owner, predicate]
                    for fact in facts.keys() & located.keys():
                        located[fact].append(Place(owner, facts[fact]))
                self._found(located)

    def _ask_places(self, new: dict[str, list[Key]]) -> None:
        for predicate, some in list(new.items()):
            owners = [owner for owner, _ in self._tables(predicate)]
            if owners and all((owner, predicate) in self.whole for owner in owners):
                there = [(owner, self.whole[owner, predicate]) for owner in owners]
                self._found({
                    fact: [Place(owner, facts[fact]) for owner, facts in there if fact in facts]
                    for fact in some
                })  # fmt: skip
                del new[predicate]
        self.places_asked.update(new.keys())
        if new:
            self._found(places(self.known, new))

    def _tables(self, predicate: str) -> list[tuple[Owner, Part]]:
        """The tables that have facts of a predicate, with their owners."""
        owners = self.known.sources.owners(predicate)
        return [(owner, part) for owner, parts in owners.items() for part in parts if part.rows]

    def _read_whole(self, predicate: str, tables: Sequence[tuple[Owner, Part]], some: int) -> bool:
        """Read tables, if that takes not longer than to ask for some facts, and asking took so far.

        Returns whether all of them have been read.
        """
        new = [(owner, part) for owner, part in tables if (owner, predicate) not in self.whole]
        most = some + ROWS_OF_A_QUESTION * self.places_asked[predicate]
        if sum(part.rows for _, part in new) > most:
            return False
        for owner, part in new:
            self.whole[owner, predicate] = facts_of(self.known, predicate, part)
        return True

    def _found(self, located: Mapping[Key, list[Place]]) -> None:
        self.places |= located
        for fact, there in located.items():
            for place in there:
                if place.owner == EXPLICIT:
                    self.explicit.add(fact)

    def _locate_edges(self, closure: ClosedPredicate, path: Path) -> None:
        """Say where the facts of a path are, if only one table can have them."""
        if place := self._only_place(closure.row.predicate, closure.hypernode):
            self._found({edge: [place] for edge in path.facts if edge not in self.places})

    def _only_place(self, predicate: str, without: int | None) -> Place | None:
        """Where all facts of a predicate are, without those of a hypernode.

        None if that is several tables, or if ranks are needed.
        """
        tables = [one for one in self._tables(predicate) if one[0] != without]
        if len(tables) != 1:
            return None
        ((owner, part),) = tables
        if owner == EXPLICIT or not part.ranked:
            return Place(owner, None)
        assert isinstance(owner, int)
        closure = self.closures.get((owner, predicate))
        return Place(owner, None) if closure and not self.beside(closure) else None

    def read_instances(self, hypernode: int) -> Derived | None:
        """All instances of a recursive hypernode's rules, as soon as it was asked so often that to
        read them takes no longer; None before, or if they are too many.
        """
        graph = self.known.graph[hypernode]
        if not graph.recursive or self.questions[hypernode] < len(graph.rules):
            return None
        if hypernode not in self.instances:
            closed = {name for owner, name in self.closures if owner == hypernode}
            tables = tables_of(self.known, hypernode, closed)
            derived = every(self.known, tables, all_facts.MOST_READ)
            self.instances[hypernode] = derived
            if derived:
                self.whole |= {(hypernode, name): derived.ranks for name in tables.parts}
        return self.instances[hypernode]

    def beside(self, closure: ClosedPredicate) -> list[Rule]:
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
        if predicate not in self.deriving:
            hypernodes = self.known.graph.derivers.get(predicate, ())
            self.deriving[predicate] = [r for h in hypernodes for r in self.rules(h.id, predicate)]
        return self.deriving[predicate]

    def graph(self, closure: ClosedPredicate, fact: Key) -> PathEdges | None:
        """Edges of a closure with all that can be on the way of a fact; None if too many are."""
        key = closure.hypernode, closure.row.predicate, closure.row.fed
        if key not in self.edges:
            self.edges[key] = all_edges(self.known, closure, ALL_EDGES)
        elif self.edges[key] is None:
            self.asked[key] += 1
            if self.asked[key] == SEVERAL:
                self.many[key] = all_edges(self.known, closure, MOST_EDGES)
        whole = self.edges[key] or self.many.get(key)
        return whole or edges_near(self.known, closure, fact)

    def path(self, closure: ClosedPredicate, fact: Key) -> Path | None:
        """A shortest path for a fact of a closure, unless it is the fact itself."""
        graph = self.graph(closure, fact)
        if graph is None:
            found = path_in_database(self.known, closure, fact)
        else:
            found = graph.shortest(fact)
        if found and not closure.row.fed:
            self._locate_edges(closure, found)
        return found


def _by_predicate(facts: Iterable[Key]) -> dict[str, list[Key]]:
    found: dict[str, list[Key]] = defaultdict(list)
    for fact in dict.fromkeys(facts):
        found[fact[0]].append(fact)
    return found
