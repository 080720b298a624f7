"""Makes the Change: what became of facts and hypernodes, what the work cost, and remarks."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import filterfalse

from zodiac_sql.change.change import AtWork, Change, HypernodeChange
from zodiac_sql.change.changed_facts import ChangedFacts
from zodiac_sql.change.collected import Collected
from zodiac_sql.change.difference import Difference
from zodiac_sql.change.request import left_window
from zodiac_sql.change.schema_edits import SchemaEdits
from zodiac_sql.change.stats import HypernodeStats, MarkStats, Seconds, Stats, StreamStats
from zodiac_sql.change.workspace import MarkedFacts
from zodiac_sql.cost.choose_trees import at_work
from zodiac_sql.graph.restructuring import Restructuring
from zodiac_sql.language.schema import Schema, Staged, local_name
from zodiac_sql.language.syntax import atoms_of
from zodiac_sql.maintain.registry import MARKING
from zodiac_sql.names import is_filter
from zodiac_sql.program.build import Planned
from zodiac_sql.program.clock import ticked
from zodiac_sql.program.doubts import made
from zodiac_sql.program.state import HypernodeRow, State
from zodiac_sql.sql.relations import Part
from zodiac_sql.storage.edits import Edit
from zodiac_sql.storage.owners import EXPLICIT, Owner


def hypernode_change(restructuring: Restructuring, evaluated: Collection[str]) -> HypernodeChange:
    """What became of hypernodes, by name."""
    if restructuring.before is restructuring.after:
        names = restructuring.after.names
        if not evaluated:
            return HypernodeChange(untouched=names)
        return HypernodeChange(
            updated=tuple(filter(evaluated.__contains__, names)),
            untouched=tuple(filterfalse(evaluated.__contains__, names)),
        )
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


def modules_at_work(hypernodes: Iterable[HypernodeRow]) -> AtWork:
    """The modules and trees at work in those hypernodes that have any."""
    found: AtWork = {r.id: (*r.modules, *at_work(r.trees)) for r in hypernodes}
    return {number: rows for number, rows in found.items() if rows}


def _at_work(
    before: Iterable[HypernodeRow], after: Iterable[HypernodeRow]
) -> tuple[AtWork, AtWork]:
    return modules_at_work(before), modules_at_work(after)


IsCurrent = Callable[[], bool]
"""Tells whether the state that a change has left is still the current one."""


ExplicitMoves = Mapping[str, tuple[Part | None, Part | None]]
"""The explicit facts that a change deletes and inserts, by predicate."""


@dataclass(frozen=True, slots=True)
class CarriedOut:
    """What became of an update, in whatever way it was carried out, or would be."""

    planned: Planned
    """The program after it."""
    state: State
    differences: Mapping[str, Difference]
    explicit: ExplicitMoves = field(default_factory=dict)
    evaluated: Mapping[str, HypernodeStats] = field(default_factory=dict)
    """What the hypernodes with work did, by their names."""
    marked: MarkedFacts = field(default_factory=MarkedFacts)
    given: Mapping[str, Staged] = field(default_factory=dict)
    """Facts in memory, by the names of the temporary tables that they get if asked for."""
    is_published: bool = True


def report(collected: Collected, done: CarriedOut, is_current: IsCurrent) -> Change:
    """The Change of an update. It can read its facts until the next change begins."""
    structure, before = done.planned.restructuring, collected.before
    differences, state = done.differences, done.state
    facts = ChangedFacts(
        store=before.store,
        before=before.state,
        state=state,
        is_published=done.is_published,
        differences=dict(differences),
        is_current=is_current,
        marked=done.marked.relations(done.planned.schema),
        explicit=done.explicit,
        given=dict(done.given),
    )
    streamed, graphs = collected.request.streamed, (structure.before, done.planned.graph)
    return Change(
        inserted={
            name: d.inserted_count
            for name, d in differences.items()
            if d.inserted_count and not is_filter(name)
        },
        hypernodes=hypernode_change(structure, done.evaluated),
        stats=_stats(collected, done),
        seconds=time.perf_counter() - collected.report.started,
        notes=notes_of(collected, done.planned.schema),
        updates=range(streamed.first, streamed.last + 1) if streamed else range(0),
        violations=collected.report.violations,
        _ticked=ticked(before.state, collected.request.positions),
        _left_window=partial(left_window, collected.request.left),
        _deleted=facts.deleted,
        _facts=facts.table,
        _sides=partial(facts.sides, graphs),
        _graphs=graphs,
        _modules=partial(_at_work, before.state.hypernodes, state.hypernodes),
    )


def explicit_moves(edits: Mapping[tuple[str, Owner], Edit]) -> ExplicitMoves:
    """What becomes of explicit facts, by the edits of all tables."""
    return {n: (e.deleted, e.inserted) for (n, owner), e in edits.items() if owner == EXPLICIT}


def _stats(collected: Collected, done: CarriedOut) -> Stats:
    """What the change cost."""
    marks = stream = None
    streamed = collected.request.streamed
    if collected.before.settings.strategy in MARKING:
        marks = MarkStats(
            explicit=sum(part.rows for part in done.marked.next.values()),
            implicit=sum(part.rows for part in done.marked.derived.values()),
        )
    if streamed:
        lag = time.perf_counter() - streamed.arrived
        stream = StreamStats(lag, streamed.waiting)
    return Stats(Seconds(**collected.report.seconds), done.evaluated, marks, stream)


def notes_of(collected: Collected, schema: Schema) -> tuple[str, ...]:
    """Remarks of the loader, on rules, on predicates that facts have made, and on those that are
    called like tables of somebody else."""
    told, edits = collected.report, collected.edits
    notes = [
        *told.of_files, *told.remarks, *_made(collected, schema), *_homonyms(edits, schema),
    ]  # fmt: skip
    return tuple(dict.fromkeys(notes))


def _made(collected: Collected, schema: Schema) -> Iterator[str]:
    """Remarks on predicates that inserted facts have made. The first ones are expected to be new,
    and so are those that are declared, or that rules of the same update name."""
    there = collected.before.state.schema
    new = [name for name in collected.request.inserts if name in schema and name not in there]
    if not new or not there:
        return
    rules = [rule for one in collected.request.rules.arrivals for rule in one.program.rules]
    named = {atom.predicate for rule in rules for atom in (rule.head, *atoms_of(rule.body))}
    yield from made([n for n in new if n not in named and not schema[n].declared], there)


def _homonyms(edits: SchemaEdits, schema: Schema) -> Iterator[str]:
    """Remarks on new predicates that have the same name as somebody else's table."""
    for name, sql_name in edits.sql_names.given.items():
        local = local_name(name)
        if name in schema and local.lower() in edits.others:
            yield (
                f"the predicate {name} is not {local}, a table or view that was in the file "
                f"before: SQL knows the predicate as {sql_name}. For rules to read the rows of "
                f'that table, insert them: kb.insert("{name}", kb.sql("FROM main.{local}")).'
            )
