"""Decides where a proof goes on down through a recursive hypernode at once.

The first facts are asked about level by level, as most proofs are low. When as many questions have
been asked as it takes to go all the way down, that is done: by reading the facts of the hypernode
that are older, if they are few (all_facts.py), or by one recursive statement (descent_query.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from math import inf

from zodiac_sql.read.why import all_facts
from zodiac_sql.read.why.all_facts import (
    Derived,
    DerivingTables,
    Way,
    chosen,
    count_older,
    tables_of,
)
from zodiac_sql.read.why.asked import Key, Known
from zodiac_sql.read.why.descent_query import can_descend, descend

SCANNED = 30_000
"""DuckDB puts about so many facts into a hash table in the time that a question takes."""

ASKED_FIRST = 10
"""Older facts are counted after so many questions, as that is one more, and most proofs are low."""


@dataclass(slots=True)
class Descents:
    """The hypernodes that a proof goes through."""

    known: Known
    closed: Collection[tuple[int, str]]
    """The predicates that are closed, with their hypernodes: paths lead to their facts."""
    asked: Counter[int] = field(default_factory=Counter)
    """How many questions were about the facts of each hypernode."""
    _tables: dict[int, DerivingTables] = field(default_factory=dict)
    _older: dict[tuple[int, object], int] = field(default_factory=dict)
    """How many facts of a hypernode had at most the rank of the first that were asked about, and
    some value in the column that it keeps."""
    _derived: dict[int, Derived] = field(default_factory=dict)
    _down: set[int] = field(default_factory=set)

    def goes_down(self, hypernode: int) -> bool:
        """Whether a hypernode is gone down at once."""
        return hypernode in self._down

    def way(self, hypernode: int, fact: Key) -> Way | None:
        """The instance that derives a fact, and what it uses, if it has been read."""
        derived = self._derived.get(hypernode)
        several = derived.ways(fact) if derived else ()
        return several[0] if several else None

    def below(self, hypernode: int, facts: Mapping[Key, int]) -> dict[Key, int]:
        """What some facts of a hypernode rest on there, with ranks, if it is time to go down."""
        asked = self.asked[hypernode]
        if not asked or not self.known.graph[hypernode].recursive:
            return {}
        return self.go_down(hypernode, facts, asked)

    def go_down(
        self, hypernode: int, facts: Mapping[Key, int], asked: float = inf
    ) -> dict[Key, int]:
        """The same, if it takes not longer than some questions."""
        tables = self._of(hypernode)
        mine = {fact: rank for fact, rank in facts.items() if fact[0] in tables.parts}
        if not mine or asked < len(tables.rules):
            return {}
        highest = max(mine.values())
        derived, kept = self._derived.get(hypernode), tables.value_kept(mine)
        if derived and derived.kept != kept:
            kept = None
        if derived is None or derived.highest < highest or derived.kept != kept:
            older = self._count(tables, highest, kept, asked)
            if older > all_facts.MOST_READ:
                return self._by_statement(
                    tables, mine, asked >= len(tables.rules) + older / SCANNED
                )
            self._down.add(hypernode)
            derived = self._derived[hypernode] = chosen(self.known, tables, highest, kept)
        reached = derived.below(mine)
        ranks = {fact: derived.ranks[fact] for fact in reached if fact in derived.ranks}
        return {fact: rank for fact, rank in ranks.items() if rank is not None}

    def _count(self, tables: DerivingTables, rank: int, kept: object, asked: float) -> float:
        """How many facts of some tables are older; too many while it does not pay to count them."""
        about = tables.hypernode, kept
        if tables.rows <= all_facts.MOST_READ:
            return tables.rows
        if asked < max(ASKED_FIRST, len(tables.rules)):
            return inf
        if about not in self._older:
            self._older[about] = count_older(self.known, tables, rank, kept)
        return self._older[about]

    def _by_statement(
        self, tables: DerivingTables, facts: Mapping[Key, int], pays: bool
    ) -> dict[Key, int]:
        if not pays or not can_descend(self.known, tables):
            return {}
        self._down.add(tables.hypernode)
        return descend(self.known, tables, facts)

    def _of(self, hypernode: int) -> DerivingTables:
        if hypernode not in self._tables:
            closed = {name for owner, name in self.closed if owner == hypernode}
            self._tables[hypernode] = tables_of(self.known, hypernode, closed)
        return self._tables[hypernode]
