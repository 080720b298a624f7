"""What a change tells: what became of hypernodes, and facts for as long as they are kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zodiac_sql.change.change import AtWork, Change, HypernodeChange
from zodiac_sql.change.collected import Collected
from zodiac_sql.change.difference import Difference, settled
from zodiac_sql.change.stats import MarkStats, Seconds, Stats, StreamStats
from zodiac_sql.change.workspace import Materialisation
from zodiac_sql.database import dictionary
from zodiac_sql.database.guard import Guard, exclusive
from zodiac_sql.database.store import Store
from zodiac_sql.errors import QueryError
from zodiac_sql.evaluate.cost.choose_trees import at_work
from zodiac_sql.graph.restructuring import Restructuring
from zodiac_sql.language.schema import Predicate, local_name, resolve
from zodiac_sql.maintain.choose import MARKING
from zodiac_sql.program.state import State
from zodiac_sql.sql.relations import Relation
from zodiac_sql.storage.catalog import generation
from zodiac_sql.storage.extensions import decoded, distinct_query
from zodiac_sql.storage.sources import sources_of

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


IsCurrent = Callable[[State], bool]
"""Whether a state is still that of the knowledge base."""


def report(
    collected: Collected,
    work: Materialisation,
    differences: Mapping[str, Difference],
    state: State,
    is_current: IsCurrent,
) -> Change:
    """What an update tells of itself, with the facts for as long as they are kept."""
    structure = work.planned.restructuring
    facts = ChangedFacts(
        collected.store,
        collected.state.schema,
        state,
        dict(differences),
        is_current,
        work.all_marked(),
    )
    streamed = collected.streamed
    return Change(
        {name: d.inserted_count for name, d in differences.items() if d.inserted_count},
        hypernode_change(structure, work.evaluated),
        _stats(collected, work),
        time.perf_counter() - collected.started,
        _notes(collected, work),
        range(streamed.first, streamed.last + 1) if streamed else range(0),
        facts.deleted,
        facts.table,
        (structure.before, work.planned.graph),
        (modules_at_work(collected.state), modules_at_work(state)),
    )


def _stats(collected: Collected, work: Materialisation) -> Stats:
    """What the change cost."""
    marks = stream = None
    if collected.settings.strategy in MARKING:
        marks = MarkStats(
            explicit=sum(part.rows for part in work.next.values()),
            implicit=sum(part.rows for part in work.marked.values()),
        )
    if collected.streamed:
        lag = time.perf_counter() - collected.streamed.arrived
        stream = StreamStats(lag, collected.streamed.waiting)
    return Stats(Seconds(**collected.seconds), work.evaluated, marks, stream)


def _notes(collected: Collected, work: Materialisation) -> tuple[str, ...]:
    """Remarks of the loader, and names in rules that may be meant for other predicates."""
    notes = [note for loaded in collected.loaded for note in loaded.notes]
    notes += collected.remarks
    schema = work.planned.schema
    shown = {predicate.sql_name.lower(): predicate for predicate in schema.values()}
    derived = {name for h in work.planned.graph.hypernodes for name in h.derives}
    for name in schema.keys() - collected.state.schema.keys() - derived:
        other = shown.get(name.lower())
        if other is not None and other.name != name and not work.new.relation(name).rows:
            notes.append(
                f"{name} in the rules is a predicate without facts; SQL's {other.sql_name} is "
                f"<{other.name}>. If that is meant, write it so, or with a prefix."
            )
    notes += _homonyms(collected, schema)
    return tuple(dict.fromkeys(notes))


def _homonyms(collected: Collected, schema: Mapping[str, Predicate]) -> Iterator[str]:
    """What is to be said of new predicates that are called as tables of somebody else are."""
    for name, sql_name in collected.sql_names.given.items():
        local = local_name(name)
        if name in schema and local.lower() in collected.others:
            yield (
                f"the predicate {name} is not {local}, a table or view that was in the file "
                f"before: SQL knows the predicate as {sql_name}. For rules to read the rows of "
                f'that table, insert them: kb.insert("{name}", kb.sql("SELECT * FROM {local}")).'
            )
