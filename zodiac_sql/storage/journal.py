"""The journal: small changes that are in the file as a whole, but not in its tables yet.

DuckDB plans each statement anew, so what a change of few facts costs is the number of tables that
it writes. When such changes follow each other, each writes one row of zodiac.journal instead, which
has all that it does, and many of them are brought to the tables together.

Rule: before any other statement is run, the journal is settled if facts wait there: its changes are
brought to the tables in one transaction, and it is empty again (`Store.journal`). Reason: whoever
asks must see them. Only the dictionary is asked by each change: it knows the symbols that wait by
itself.

Rule: whoever opens a file settles its journal first. Reason: a process that was killed may have
left changes there. So they are settled in one way only, from the rows in the file.

Where somebody asks after each change, or no rule reads its facts, these are written to their
tables, and only what the change adds to the change feed goes to the journal, in the same
transaction: one row for all predicates. It waits until somebody reads the feed, or the file is
closed.

Rule: a change is written to the journal only if no other store has the database open, and if it
need not count (storage/publish.py). Reason: another one would not see it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from zodiac_sql.database import dictionary
from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.log import prepare_log
from zodiac_sql.database.render import render
from zodiac_sql.database.statements import parameter
from zodiac_sql.database.store import Store
from zodiac_sql.database.together import Check, Together
from zodiac_sql.database.waiting import NOTE, NOTE_ENTRIES
from zodiac_sql.errors import EvaluationError, StoreError, UnsettledError
from zodiac_sql.language.syntax import Type
from zodiac_sql.names import DERIVED_SCHEMA, EXPLICIT_SCHEMA, RANK, feed_table

if TYPE_CHECKING:
    import pyarrow as pa

Row = tuple[Any, ...]

Key = tuple[str, str]
"""Schema and name of a table."""

Columns = tuple[tuple[str, str], ...]
"""The names and types of columns, as in language/syntax.py. A rank stands last."""

MOST_ENTRIES = 256
"""So many changes are settled together at most."""

MOST_ROWS = 50_000
"""And so many rows of tables."""

FEWEST_AS_ARROW = 500
"""So many rows or more are given to DuckDB as an Arrow table."""

_ENCODER = json.JSONEncoder(default=str)

_READ = "SELECT entry FROM zodiac.journal ORDER BY number"


@dataclass(frozen=True, slots=True)
class TableRows:
    """The rows that one change lets go out of a table, and then come in.

    Those that go out have no ranks. All that come in begin with the values of `begin`.
    """

    key: Key
    columns: Columns
    gone: Sequence[Row] = ()
    come: Sequence[Row] = ()
    begin: Row = ()


# --- writing --------------------------------------------------------------------------------------


def may_note(store: Store) -> bool:
    """Whether the next change may go to the journal.

    It may if a small change came just before, and nobody has asked anything since: who asks after
    each change would wait for it twice.
    """
    presence, waiting = store.presence, store.journal
    few_symbols = not store.symbols.in_table
    return presence is not None and not waiting.asked and few_symbols and presence.knows()


def note(store: Store, tables: Sequence[TableRows], positions: Mapping[str, int]) -> bool:
    """Write a change to the journal, with its symbols. Returns False if another store is there.

    `positions` are those of streams that are another now.
    """
    assert store.presence is not None
    make_room(store)
    prepare_log(store)
    with store.presence.unnoticed(True) as unnoticed:
        if not unnoticed:
            return False
        symbols = store.symbols.few
        entry = _text(tables, positions, symbols)
        # Before anything is there, because an interruption may come right after it. Then what
        # waits is settled first thing, and what is noted here is what the file has.
        store.transactions.unsure = True
        store.connection.instance.published.forget()
        store.journal.facts_wait = True
        _add_to_what_waits(store, tables, symbols)
        _write_and_commit(store, entry)
    return True


def note_entries(
    writes: Together,
    tables: Sequence[TableRows],
    statement: str = NOTE_ENTRIES,
    check: Check | None = None,
) -> None:
    """Let entries of the change feed go to the journal, inside the transaction of their change."""
    journal = writes.store.journal
    _add_to_what_waits(writes.store, tables, {})
    writes.add(statement, {"number": journal.number, "entry": _text(tables, {}, {})}, check)


def make_room(store: Store) -> None:
    """Settle the journal if it is full."""
    if store.journal.number >= MOST_ENTRIES or store.journal.rows >= MOST_ROWS:
        store.journal.settle()


def _add_to_what_waits(
    store: Store, tables: Sequence[TableRows], symbols: Mapping[str, int]
) -> None:
    store.journal.settles = partial(_settle, store)
    store.journal.add(sum(len(one.gone) + len(one.come) for one in tables), symbols)


def _write_and_commit(store: Store, entry: str) -> None:
    """Write an entry. DuckDB takes half as long for it as with BEGIN and COMMIT around it.

    What is there after a failure is not known, as after a COMMIT that fails.
    """
    store.connection.require_undamaged()
    store.watch.hold()
    before, store.journal.is_apart = store.journal.is_apart, True
    try:
        store.run(NOTE, [store.journal.number, entry])
    except BaseException:
        store.watch.ends()
        if not store.file.in_memory:
            store.connection.abandon()
        raise
    finally:
        store.journal.is_apart = before


def _text(
    tables: Sequence[TableRows], positions: Mapping[str, int], symbols: Mapping[str, int]
) -> str:
    """A change as JSON: columns are lists of values, moments are texts."""
    told = [
        [*one.key, one.columns, _columns(one.gone), one.begin, _columns(one.come)] for one in tables
    ]
    entry = {"tables": told, "positions": {**positions}, "symbols": symbols}
    return _ENCODER.encode(entry)


def _columns(rows: Sequence[Row]) -> list[list[object]]:
    return [list(column) for column in zip(*rows, strict=True)]


# --- settling -------------------------------------------------------------------------------------


def settle_what_is_left(store: Store) -> None:
    """Bring the changes to the tables that a process has left in the journal of a file.

    Raises UnsettledError if the file may not be written.
    """
    if not store.journal.was_left:
        return
    if store.file.read_only:
        raise UnsettledError(
            f"{store.file.path} was not closed by the last process that changed it, and its last "
            "changes are not in its tables yet. Open it once without read_only: that brings them "
            "there."
        )
    _settle(store)
    store.journal.was_left = False


def _settle(store: Store) -> None:
    """Bring all changes in the journal to the tables, in one transaction."""
    prepare_log(store)
    with store.connection.instance.company.settling:  # only one store can delete the rows
        with store.transaction():
            total = _Total()
            for (text,) in store.rows(_READ):
                _add(store, total, text)
            writes = Together(store)
            dictionary.add_to_file(writes, total.symbols)
            with ExitStack() as offered:
                for number, (key, table) in enumerate(total.tables.items()):
                    _write(writes, offered, key, table, number)
                for name, position in total.positions.items():
                    _move(writes, name, position)
                writes.add("DELETE FROM zodiac.journal")
                try:
                    writes.run()
                except (EvaluationError, OverflowError) as error:
                    raise _edited(store, error) from error
        store.journal.clear()


@dataclass(slots=True)
class _Table:
    """What several changes do to a table: facts go out of it, and rows come in."""

    columns: Columns
    gone: set[Row] = field(default_factory=set)
    come: dict[Row, Row] = field(default_factory=dict)
    """Rows by their facts, which are rows without their ranks."""

    @property
    def ranked(self) -> bool:
        return self.columns[-1][0] == RANK

    def add(self, gone: Iterable[Row], come: Iterable[Row]) -> None:
        """Let another change come after those that are there."""
        there, ranked = self.come, self.ranked
        self.gone.update(fact for fact in gone if there.pop(fact, None) is None)
        if ranked:
            there.update((row[:-1], row) for row in come)
            return
        for fact in come:
            if fact in self.gone:  # it stays
                self.gone.remove(fact)
            else:
                there[fact] = fact


@dataclass(slots=True)
class _Total:
    """What several changes do."""

    tables: dict[Key, _Table] = field(default_factory=dict)
    positions: dict[str, int] = field(default_factory=dict)
    symbols: dict[str, int] = field(default_factory=dict)


def _add(store: Store, total: _Total, text: str) -> None:
    """Add an entry. Raises StoreError if it cannot be one that we wrote."""
    try:
        told = json.loads(text)
        for schema, name, columns, gone, begin, come in told["tables"]:
            table = _table(total, schema, name, columns)
            rows = zip(*come, strict=True)
            table.add(zip(*gone, strict=True), ((*begin, *row) for row in rows) if begin else rows)
        total.positions |= {str(name): int(number) for name, number in told["positions"].items()}
        symbols = told.get("symbols", {})  # before migration 13 there were none
        total.symbols |= {str(name): int(number) for name, number in symbols.items()}
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise _edited(store, error) from error


def _edited(store: Store, error: Exception) -> StoreError:
    return StoreError(
        f"the journal of {store.file.path} was edited: {error!r} in an entry. Nothing was changed. "
        "Take its facts and rules from where they came from."
    )


def _table(total: _Total, schema: str, name: str, columns: Iterable[Sequence[str]]) -> _Table:
    """What is done to a table. Raises ValueError if no journal of ours has it."""
    if not _is_of_facts(schema, name):
        raise ValueError(f"{schema}.{name}")
    known = tuple((str(column), Type(type_).value) for column, type_ in columns)
    return total.tables.setdefault((schema, name), _Table(known))


def _is_of_facts(schema: str, name: str) -> bool:
    """Whether a table is one of facts, or of entries of the change feed."""
    if schema in (EXPLICIT_SCHEMA, DERIVED_SCHEMA):
        return True
    number = name.rpartition("_")[2]
    return schema == "zodiac" and number.isdecimal() and feed_table(int(number)) == name


def _write(writes: Together, offered: ExitStack, key: Key, table: _Table, number: int) -> None:
    """Let a table get what several changes do to it. It is the table with some number."""
    target = exp.table_(key[1], db=key[0], quoted=True)
    if table.gone:
        facts = table.columns[:-1] if table.ranked else table.columns
        same = [_column(name, "t").eq(_column(name, "g")) for name, _ in facts]
        where = exp.Where(this=exp.and_(*same))
        given, parameters = _given(writes.store, offered, facts, [*table.gone], f"gone_{number}")
        using = [given.subquery("g", copy=False)]
        deletion = exp.Delete(this=exp.alias_(target, "t", table=True), using=using, where=where)
        check = partial(_require_all, writes.store, key, len(table.gone))
        writes.add(render(deletion), parameters, check)
    if table.come:
        names = [exp.to_identifier(name, quoted=True) for name, _ in table.columns]
        rows = [*table.come.values()]
        given, parameters = _given(writes.store, offered, table.columns, rows, f"come_{number}")
        writes.add(render(exp.insert(given, target, columns=names)), parameters)


def _require_all(store: Store, key: Key, known: int, deleted: int) -> None:
    """Raise StoreError unless all facts that go out of a table were in it."""
    if deleted != known:
        raise StoreError(
            f"{key[0]}.{key[1]} in {store.file.path} lacks facts that the journal takes out of it: "
            "it was changed without zodiac_sql. Nothing was changed by this connection. Take "
            "its facts and rules from where they came from."
        )


def _column(name: str, alias: str) -> exp.Column:
    return exp.column(name, table=alias, quoted=True)


def _given(
    store: Store, offered: ExitStack, columns: Columns, rows: Sequence[Row], name: str
) -> tuple[exp.Select, dict[str, list[object]] | None]:
    """A query of rows that are given, and its parameters: a list for each column.

    DuckDB takes six times as long for long lists as for an Arrow table, which is `offered` to it.
    """
    lists = _columns(rows)
    if len(rows) < FEWEST_AS_ARROW:
        parameters = {f"{name}_{place}": column for place, column in enumerate(lists)}
        values: list[exp.Expr] = [
            exp.func("unnest", parameter(one), dialect="duckdb") for one in parameters
        ]
        return exp.select(*_typed(columns, values)), parameters
    there = f"zodiac$journal_{name}"
    offered.enter_context(store.offered(there, _arrow(store, columns, lists)))
    values = [_column(f"c{place}", "r") for place in range(len(columns))]
    table = exp.table_(there, alias="r", quoted=True)
    return exp.select(*_typed(columns, values)).from_(table), None


def _typed(columns: Columns, values: Sequence[exp.Expr]) -> list[exp.Expr]:
    return [
        exp.cast(value, SQL_TYPES[Type(type_)]).as_(name, quoted=True)
        for value, (name, type_) in zip(values, columns, strict=True)
    ]


def _arrow(store: Store, columns: Columns, lists: Sequence[Sequence[object]]) -> pa.Table:
    """An Arrow table of columns, of which moments are texts. Raises StoreError."""
    import pyarrow as pa

    types = {
        Type.SYMBOL: pa.int64(),
        Type.INT: pa.int64(),
        Type.FLOAT: pa.float64(),
        Type.BOOL: pa.bool_(),
    }
    try:
        arrays = [
            pa.array(values, types.get(Type(type_), pa.string()))
            for values, (_, type_) in zip(lists, columns, strict=True)
        ]
    except pa.ArrowException as error:
        raise _edited(store, error) from error
    return pa.table({f"c{place}": array for place, array in enumerate(arrays)})


def _move(writes: Together, name: str, position: int) -> None:
    """Let a stream have come to a position, unless a later change has brought it further."""
    asked = "SELECT name, position FROM zodiac.stream WHERE name = $1"
    known = dict(writes.store.rows(asked, [name]))
    if name not in known:
        writes.add("INSERT INTO zodiac.stream VALUES ($1, $2)", [name, position])
    elif known[name] < position:
        writes.add("UPDATE zodiac.stream SET position = $2 WHERE name = $1", [name, position])
