"""The facts of a change, which can be asked for until the next change begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zodiac_sql.change.difference import Difference, looked_into
from zodiac_sql.change.sides import Sides, sides_of
from zodiac_sql.change.staged_rows import parameters_of, staged_query
from zodiac_sql.database import dictionary
from zodiac_sql.database.guard import Guard, exclusive
from zodiac_sql.database.statements import create_temp
from zodiac_sql.database.store import Store
from zodiac_sql.errors import QueryError
from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.language.schema import Predicate, Staged, resolve
from zodiac_sql.program.state import State
from zodiac_sql.sql.relations import Part, Relation
from zodiac_sql.storage.extensions import decoded, distinct_query
from zodiac_sql.storage.sources import sources_of

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class ChangedFacts:
    """Reads the facts of a change until the next change begins."""

    store: Store
    before: State
    state: State
    """The states before and after the change. One of them is in the file: after a preview, the one
    before, else (`is_published`) the one after."""
    is_published: bool
    differences: dict[str, Difference]
    is_current: Callable[[], bool]
    marked: Mapping[str, Relation] = field(default_factory=dict)
    explicit: Mapping[str, tuple[Part | None, Part | None]] = field(default_factory=dict)
    """The explicit facts that were deleted and inserted, by predicate."""
    given: dict[str, Staged] = field(default_factory=dict)
    """Facts in memory, by the names of the temporary tables that they get when they are asked for.
    """

    @property
    def _guard(self) -> Guard:
        return self.store.guard

    def deleted(self) -> dict[str, int]:
        """How many facts left each extension. The database is asked at most once."""
        if any(difference.waits for difference in self.differences.values()):
            self._ask()
        return {n: d.deleted_count for n, d in self.differences.items() if d.deleted_count}

    @exclusive
    def _ask(self) -> None:
        self._look_into_waiting()

    def _look_into_waiting(self) -> None:
        """Complete the differences that still wait (see `Difference`)."""
        for name, difference in self.differences.items():
            if difference.waits:
                self._require_current()
                self.differences[name] = looked_into(self.store, self.state, name, difference)

    @exclusive
    def table(self, which: str, predicate: str, limit: int | None) -> pa.Table:
        """Facts that were inserted, deleted or marked."""
        self._require_current()
        self._look_into_waiting()
        schemas = (self.before.schema, self.state.schema)
        schema = (
            {**schemas[0], **schemas[1]} if which == "inserted" else {**schemas[1], **schemas[0]}
        )
        name = resolve(predicate, schema, self.state.prefixes)
        if name not in schema:
            raise QueryError(f"there is no predicate {predicate}")
        relation = self._relation(which, schema[name])
        self._make(schema[name], relation)
        facts = distinct_query(relation)
        query = decoded(
            relation, facts if limit is None else facts.limit(limit), f'temp."{dictionary.KNOWN}"'
        )
        try:
            return self.store.arrow(query)
        finally:  # another connection may have dropped or replaced the tables while they were read
            self._require_current()

    def sides(self, graphs: tuple[Hypergraph, Hypergraph]) -> Sides:
        """The extensions before and after the change. Raises QueryError if the next has begun."""
        self._require_current()
        self._look_into_waiting()
        schema = {**self.before.schema, **self.state.schema}
        moved = {}
        for name in self.differences:
            pair = (
                self._relation("deleted", schema[name]),
                self._relation("inserted", schema[name]),
            )
            moved[name] = pair
            explicit = tuple(part for part in self.explicit.get(name, ()) if part)
            for relation in (*pair, Relation(schema[name].columns, explicit)):
                self._make(schema[name], relation)
        known = self.state if self.is_published else self.before
        return sides_of(
            self.store,
            sources_of(known),
            is_after=self.is_published,
            schemas=(self.before.schema, self.state.schema),
            graphs=graphs,
            moved=moved,
            explicit=self.explicit,
        )

    def _make(self, predicate: Predicate, relation: Relation) -> None:
        """Make the tables of facts that are in memory."""
        for part in relation.parts:
            if staged := self.given.get(part.table):
                query = create_temp(part.table, staged_query(predicate, [staged]))
                self.store.run(query, parameters_of([staged]))
                del self.given[part.table]

    def _require_current(self) -> None:
        if not self.is_current():
            raise QueryError(
                "the facts of a change are kept until the next change begins: ask before it"
            )

    def _relation(self, which: str, predicate: Predicate) -> Relation:
        if which == "marked":
            return self.marked.get(predicate.name, Relation(predicate.columns, ()))
        difference = self.differences.get(predicate.name)
        if difference is None:
            return Relation(predicate.columns, ())
        if which == "deleted":
            return difference.deleted
        if difference.all_new:
            return sources_of(self.state).relation(predicate.name)
        return difference.inserted


def tables_read(differences: Mapping[str, Difference]) -> frozenset[str]:
    """The tables that a change's facts are read from."""
    parts = [
        part
        for difference in differences.values()
        for part in (*difference.inserted.parts, *difference.deleted.parts)
    ]
    beside = [p.read.minus for p in parts if p.read.minus]
    beside += [p.read.pairs.between.table for p in parts if p.read.pairs and p.read.pairs.between]
    return frozenset([*(p.table for p in parts), *beside])
