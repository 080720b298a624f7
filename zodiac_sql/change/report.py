"""What a change tells: what became of hypernodes, and facts for as long as they are kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zodiac_sql.change.change import AtWork, HypernodeChange
from zodiac_sql.change.difference import Difference, settled
from zodiac_sql.database import dictionary
from zodiac_sql.database.guard import Guard, exclusive
from zodiac_sql.database.store import Store
from zodiac_sql.errors import QueryError
from zodiac_sql.evaluate.cost.choose_trees import at_work
from zodiac_sql.graph.restructuring import Restructuring
from zodiac_sql.language.schema import Predicate, resolve
from zodiac_sql.program.state import State
from zodiac_sql.sql.relations import Relation
from zodiac_sql.storage.catalog import generation
from zodiac_sql.storage.extensions import decoded, distinct_query, sources_of

if TYPE_CHECKING:
    import pyarrow as pa


def hypernode_change(restructuring: Restructuring, evaluated: Collection[str]) -> HypernodeChange:
    """What became of hypernodes, by name."""
    merged, split = restructuring.merged, restructuring.split
    apart = {*restructuring.created, *merged, *(n for parts in split.values() for n in parts)}
    others = [h for h in restructuring.after.hypernodes if h.id not in apart]
    worked = {h.id for h in others if h.name in evaluated or h.id in restructuring.heritages}
    return HypernodeChange(
        created=_named(sorted(restructuring.created)),
        merged={f"h{number}": _named(old) for number, old in merged.items()},
        split={f"h{number}": _named(new) for number, new in split.items()},
        dropped=_named(restructuring.dropped),
        updated=_named(h.id for h in others if h.id in worked),
        untouched=_named(h.id for h in others if h.id not in worked),
    )


def _named(numbers: Iterable[int]) -> tuple[str, ...]:
    return tuple(f"h{number}" for number in numbers)


def modules_at_work(state: State) -> AtWork:
    """The modules and trees at work in those hypernodes that have any."""
    found: AtWork = {r.id: (*r.modules, *at_work(r.trees)) for r in state.hypernodes}
    return {number: rows for number, rows in found.items() if rows}


@dataclass(frozen=True, slots=True)
class ChangedFacts:
    """The facts of a change, for as long as they are kept."""

    store: Store
    before: Mapping[str, Predicate]
    state: State
    differences: dict[str, Difference]
    is_current: Callable[[State], bool]
    marked: Mapping[str, Relation] = field(default_factory=dict)

    @property
    def _guard(self) -> Guard:
        return self.store.guard

    def deleted(self) -> dict[str, int]:
        """How many facts left each extension. Who is told that asks the database only once."""
        if any(difference.waits for difference in self.differences.values()):
            self._ask()
        return {n: d.deleted_count for n, d in self.differences.items() if d.deleted_count}

    @exclusive
    def _ask(self) -> None:
        self._settle()

    def _settle(self) -> None:
        """Count what has not been counted yet."""
        for name, difference in self.differences.items():
            if difference.waits:
                self._require_current()
                self.differences[name] = settled(self.store, self.state, name, difference)

    @exclusive
    def table(self, which: str, predicate: str, limit: int | None) -> pa.Table:
        """Facts that were inserted, deleted or marked."""
        self._require_current()
        self._settle()
        schemas = (self.before, self.state.schema)
        schema = (
            {**schemas[0], **schemas[1]} if which == "inserted" else {**schemas[1], **schemas[0]}
        )
        name = resolve(predicate, schema, self.state.prefixes)
        if name not in schema:
            raise QueryError(f"there is no predicate {predicate}")
        relation = self._relation(which, schema[name])
        facts = distinct_query(relation)
        query = decoded(
            relation, facts if limit is None else facts.limit(limit), f'temp."{dictionary.KNOWN}"'
        )
        try:
            return self.store.arrow(query)
        finally:  # another connection may have taken away, or replaced, what was read
            self._require_current()

    def _require_current(self) -> None:
        if not self.is_current(self.state) or generation(self.store) != self.state.generation:
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
    return frozenset([*(p.table for p in parts), *(p.minus for p in parts if p.minus)])
