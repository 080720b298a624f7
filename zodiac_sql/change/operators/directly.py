"""A change of few facts that no rule has to do with: written right away, without temporary tables.

Rule: if the program stays as it is, and a change inserts and deletes only a few facts of predicates
that no rule reads or derives, then nothing is staged, reasoned or compared. A statement that writes
facts finds those that are not there yet, or are there, and tells which they were. Reason: such a
change does nothing to any other table, so what the explicit facts gain or lose is all that it does.
Each temporary table would cost as much as the change itself.

The Change has its facts in memory. A table of them is made when somebody asks for it
(changed_facts.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sqlglot import exp

from zodiac_sql.change.difference import Difference
from zodiac_sql.change.execution import Applied, Carries, Execution, in_rules
from zodiac_sql.change.net_facts import explicit_table, net_deletes, net_inserts
from zodiac_sql.change.noted import Fed, prepare_feed, write_fed, write_fed_if_written
from zodiac_sql.change.prepared import Prepared
from zodiac_sql.change.report import CarriedOut
from zodiac_sql.change.request import Request
from zodiac_sql.change.staged_rows import (
    deletion,
    is_each_once,
    is_one,
    is_the_fact,
    parameters_of,
    shape,
    without_none,
)
from zodiac_sql.change.temporary_tables import drop_temporary
from zodiac_sql.change.update_report import UpdateReport
from zodiac_sql.cost.calibration import STATEMENT
from zodiac_sql.cost.operator import Cost, Operator
from zodiac_sql.database import dictionary
from zodiac_sql.database.render import render
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.database.store import Store
from zodiac_sql.database.together import Together
from zodiac_sql.database.waiting import WRITTEN
from zodiac_sql.language.schema import Predicate, Staged
from zodiac_sql.names import CHANGE_FACTS, EXPLICIT_SCHEMA, whole
from zodiac_sql.program.state import State
from zodiac_sql.sql.relations import Part, Relation, columns_of
from zodiac_sql.storage.edit_tables import require_as_known
from zodiac_sql.storage.feed import entered
from zodiac_sql.storage.publish import is_published, publishing
from zodiac_sql.storage.save_catalog import save
from zodiac_sql.storage.sources import hand_on


@dataclass(frozen=True, slots=True)
class Write:
    """A few facts of one predicate, to be inserted, or deleted: then they are `gone`."""

    known: Predicate
    staged: Staged
    gone: bool

    @property
    def key(self) -> tuple[str, str]:
        """The table that is written."""
        return EXPLICIT_SCHEMA, self.known.sql_name

    @property
    def table(self) -> str:
        """The name of the temporary table that a Change reads these facts from."""
        which = "minus" if self.gone else "plus"
        return f"{CHANGE_FACTS}edb_{which}_{whole(self.known.sql_name)}"


def direct_writes(state: State, prepared: Prepared, request: Request) -> list[Write] | None:
    """What an update of facts alone is to write, if it can be written right away; else None."""
    ruled = in_rules(prepared)
    inserts, deletes = without_none(request.inserts), without_none(request.deletes)
    writes: list[Write] = []
    for name in {**deletes, **inserts}:
        if name in ruled:
            return None
        writes += _writes(prepared.schema[name], deletes.get(name, []), inserts.get(name, []))
    tables = {write.table for write in writes}
    if len(tables) < len(writes) or not all(_is_possible(write, state) for write in writes):
        return None
    return writes


def _writes(known: Predicate, gone: list[Staged], coming: list[Staged]) -> Iterator[Write]:
    """What is to be deleted, and inserted, of one predicate. What is inserted is not deleted."""
    stays = {row for staged in coming for row in staged.given or ()}
    for staged in _together(gone):
        if staged.given is not None:
            left = tuple(row for row in staged.given if row not in stays)
            staged = replace(staged, given=left, rows=len(left))
        if staged.given != ():
            yield Write(known, staged, gone=True)
    for staged in _together(coming):
        yield Write(known, staged, gone=False)


def _together(staged: list[Staged]) -> list[Staged]:
    """What several verbs have given, as if it was one verb."""
    if len(staged) < 2 or any(s.given is None or s.columns != staged[0].columns for s in staged):
        return staged
    given = dict.fromkeys(row for one in staged for row in one.given or ())
    return [replace(staged[0], given=tuple(given), rows=len(given))]


def _is_possible(write: Write, state: State) -> bool:
    """Whether the facts are given, and the table is there, and stays, as some fact stays in it."""
    rows = state.rows.get(write.key)
    given = write.staged.given
    if rows is None or given is None or not is_each_once(write.known, [write.staged]):
        return False
    return not write.gone or rows > len(given)


def _run(execution: Execution, _: float) -> Applied:
    """Carry an update out that no rule has to do with."""
    prepared, told, request = execution.prepared, execution.told, execution.request
    store, state = execution.before.store, execution.before.state
    writes = _writes_of(execution)
    assert writes is not None
    if execution.publishes:
        with told.timed("publish"):
            written = write_directly(store, state, writes, request.positions, told, prepared.cache)
    else:
        with told.timed("compare"):
            written = _foreseen(store, state, writes, prepared.cache)
    for phase in ("reason", "compare"):
        told.seconds.setdefault(phase, 0.0)
    told.remarks += request.rules.remarks
    drop_temporary(store, (), renamed=False)
    if execution.publishes:
        read = in_rules(prepared)
        prepared.copies.follow(state, written.state, {}, lambda _: None, read, 0)
    done = CarriedOut(
        prepared.planned,
        written.state,
        written.differences,
        given=written.facts,
        is_published=execution.publishes,
    )
    return execution.applied(done, prepared, None)


def _writes_of(execution: Execution) -> list[Write] | None:
    """What an update is to write, if it can be written right away; else None."""
    if not execution.is_of_facts:
        return None
    state, prepared, request = execution.before.state, execution.prepared, execution.request
    return execution.once("writes", lambda: direct_writes(state, prepared, request))


DIRECTLY: Carries = Operator(
    "directly",
    lambda execution: _writes_of(execution) is not None,
    lambda _: Cost(STATEMENT, "no rule has to do with its facts"),
    _run,
)


@dataclass(frozen=True, slots=True)
class Written:
    """What was written: the state after it, the differences, and the facts by temporary table."""

    state: State
    differences: dict[str, Difference]
    facts: dict[str, Staged]


def write_directly(
    store: Store,
    old: State,
    writes: Sequence[Write],
    positions: Mapping[str, int],
    report: UpdateReport,
    cache: StatementCache,
) -> Written:
    """Write facts to the file, in one transaction, unless there is nothing to write.

    `positions` tell how far streams have come. The report gets what proves that all is written.
    """
    new = replace(old, positions={**old.positions, **positions})
    if not (writes or dictionary.waits(store) or new.positions != old.positions):
        return Written(old.again(), {}, {})
    given = _fed(old, writes, {write.table: write.staged for write in writes})
    found = prepare_feed(store, old.feed, given) if given else None
    before = store.journal.is_apart
    # No rule reads these tables, so what waits in the journal is rarely about them.
    store.journal.is_apart = before or not store.journal.facts
    try:
        with publishing(store, old, new, True) as (together, counts):
            dictionary.publish(together)
            waiting = None if counts else found
            at_once = waiting and len(writes) == 1 and is_one(writes[0].staged)
            facts = _carry_out(together, writes, cache, tells=not at_once)
            save(together, old, new)
            feed = old.feed
            if waiting and at_once:
                note_one = partial(_note_one, store, writes[0], facts)
                feed = write_fed_if_written(together, waiting, note_one)
            together.run()
            report.proof = None if counts else _proof(writes, facts)
            if not at_once:
                moved = _fed(old, writes, facts)
                waiting = waiting and entered(old.feed, moved)
                feed = write_fed(together, old, moved, cache, waiting)
                together.run()
    finally:
        store.journal.is_apart = before
    rows, differences = _moved(old, writes, facts)
    feed = feed if facts else old.feed
    state = replace(new, rows=rows, feed=feed, generation=old.generation + counts)
    hand_on(old, state, differences)
    is_published(store, state)
    store.journal.asked = store.journal.asked and not given
    return Written(state, differences, facts)


def _foreseen(store: Store, old: State, writes: Sequence[Write], cache: StatementCache) -> Written:
    """What would be written."""
    facts = {}
    for write in writes:
        key = ("foreseen", write.gone, shape(write.known, [write.staged]))
        text = cache.of(write.known.name).get(key, partial(_net_text, write))
        moved = tuple(store.rows(text, parameters_of([write.staged])))
        if moved:
            facts[write.table] = replace(write.staged, given=moved, rows=len(moved))
    rows, differences = _moved(old, writes, facts)
    return Written(replace(old, rows=rows), differences, facts)


def _net_text(write: Write) -> str:
    """The query for those facts of a write that are there, or are not there yet."""
    if write.gone:
        return render(net_deletes(write.known, [write.staged], []))
    return render(net_inserts(write.known, [write.staged], there=True))


def _fed(state: State, writes: Sequence[Write], facts: Mapping[str, Staged]) -> Fed:
    """What the change feed gets of facts, which are named by temporary tables."""
    return [
        (write.known, facts[write.table].given or (), not write.gone)
        for write in (writes if state.feed.since else ())
        if write.table in facts and state.feed.has(write.known.name)
    ]


def _proof(writes: Sequence[Write], facts: Mapping[str, Staged]) -> Write | None:
    """Facts that this change alone has brought: they tell whether it is in the file."""
    for write in writes:
        if write.table in facts and not write.gone:
            return replace(write, staged=facts[write.table])
    return None


def is_proven(store: Store, written: Write) -> bool:
    """Whether a fact that was not there before a change is there now."""
    assert written.staged.given
    one = replace(written.staged, given=written.staged.given[:1])
    return _is_there(store, written.known, one)


def _is_there(store: Store, known: Predicate, one: Staged) -> bool:
    """Whether one fact is in the table."""
    query = exp.select(exp.Count(this=exp.Star())).from_(explicit_table(known).as_("t"))
    return store.count(query.where(is_the_fact(known, one, "t")), parameters_of([one])) > 0


def _moved(
    state: State, writes: Sequence[Write], facts: Mapping[str, Staged]
) -> tuple[dict[tuple[str, str], int], dict[str, Difference]]:
    """The numbers of rows after a change, and the differences, by the facts that it has moved."""
    rows = dict(state.rows)
    differences: dict[str, Difference] = {}
    for write in writes:
        if write.table in facts:
            moved, name = facts[write.table].rows or 0, write.known.name
            rows[write.key] += -moved if write.gone else moved
            differences[name] = _with(differences.get(name), write, moved)
    return rows, differences


def _carry_out(
    together: Together, writes: Sequence[Write], cache: StatementCache, tells: bool
) -> dict[str, Staged]:
    """Write facts. Those that were not there yet, or were there, are known once all has run.

    If the one fact to be written `tells` nothing, the statement after it does.
    """
    facts: dict[str, Staged] = {}
    store = together.store
    for write in writes:
        key = ("directly", write.gone, shape(write.known, [write.staged]))
        text = cache.of(write.known.name).get(key, partial(_text, write))
        parameters = parameters_of([write.staged])
        if is_one(write.staged):
            name = WRITTEN if len(writes) == 1 else None
            check = partial(_note_one, store, write, facts) if tells else None
            together.add(text, parameters, check, name)
            continue
        together.run()
        moved = tuple(store.rows(text, parameters))
        require_as_known(store, write.key, len(moved) == len({*moved}))
        if moved:
            facts[write.table] = replace(write.staged, given=moved, rows=len(moved))
    return facts


def _note_one(store: Store, write: Write, facts: dict[str, Staged], count: int) -> None:
    """Note whether the one fact of a write was not there yet, or was there."""
    require_as_known(store, write.key, count <= 1)
    if count:
        facts[write.table] = write.staged


def _text(write: Write) -> str:
    columns = columns_of(Relation(write.known.columns, ()))
    table = explicit_table(write.known)
    statement: exp.Expr = (
        deletion(table, write.known, write.staged) if write.gone else _insertion(write, columns)
    )
    if not is_one(write.staged):
        alias = "t" if write.gone else None
        returned = columns_of(Relation(write.known.columns, ()), alias)
        statement.set("returning", exp.Returning(expressions=returned))
    return render(statement)


def _insertion(write: Write, columns: Sequence[exp.Column]) -> exp.Insert:
    query = net_inserts(write.known, [write.staged], there=True)
    names = [exp.to_identifier(column.name, quoted=True) for column in columns]
    return exp.insert(query, explicit_table(write.known), columns=names)


def _with(difference: Difference | None, write: Write, rows: int) -> Difference:
    """What a write does to an extension, in addition to what another one does."""
    nothing = Relation(write.known.columns, ())
    moved = replace(nothing, parts=(Part("temp", write.table, rows),))
    known = difference or Difference(0, 0, nothing, nothing)
    if write.gone:
        return replace(known, deleted_count=rows, deleted=moved)
    return replace(known, inserted_count=rows, inserted=moved)
