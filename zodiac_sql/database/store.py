"""The one door to DuckDB: every statement that is run, and every transaction.

Nothing outside this room opens a connection, and each statement passes `Store.run`. So a tracer
sees whatever happens to a database file, and every DuckDB error becomes one that a person can act
on.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar
from weakref import ref

import duckdb

from zodiac_sql.database import forks
from zodiac_sql.database.as_left import Identity, note_left
from zodiac_sql.database.check_file import Listed
from zodiac_sql.database.company import Presence
from zodiac_sql.database.duckdb_errors import explaining
from zodiac_sql.database.guard import Guard
from zodiac_sql.database.instance import Instance
from zodiac_sql.database.log import abandon, require_undamaged, settle_log
from zodiac_sql.database.one_thread import threads_for
from zodiac_sql.database.parsed import Parsed
from zodiac_sql.database.remembered import Remembered
from zodiac_sql.database.render import render
from zodiac_sql.database.settings import (
    LOSING_OPTIMIZERS,
    NOT_PLANNED,
    SIDES_OPTIMIZER,
    WRONG_OPTIMIZER,
    Settings,
)
from zodiac_sql.database.temporary_rows import TemporaryRows
from zodiac_sql.database.waiting import Waiting
from zodiac_sql.database.watch import Watch
from zodiac_sql.errors import StoreError
from zodiac_sql.names import DERIVED_SCHEMA, EXPLICIT_SCHEMA, NODE_SCHEMA

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

Parameters = Sequence[object] | Mapping[str, object] | None
Tracer = Callable[[str, Parameters], None]
_Result = TypeVar("_Result")

KNOWN_SYMBOLS = "zodiac$known_symbol"
"""Temporary view of every symbol, published and new (dictionary.py)."""

_INTO_TABLE = (
    'INSERT INTO temp."zodiac$new_symbol" SELECT id, zodiac.kind(text), text'
    " FROM (SELECT unnest($1) AS id, unnest($2) AS text) AS t"
)

SCHEMAS = ("zodiac", EXPLICIT_SCHEMA, DERIVED_SCHEMA, NODE_SCHEMA)
"""Our schemas in a database file."""


def connect_duckdb(
    path: str = ":memory:", read_only: bool = False, config: Settings | None = None
) -> duckdb.DuckDBPyConnection:
    """Connect to DuckDB, without its own progress bar.

    In a process without a script, it would write that to stdout, amid the output of the program.
    """
    connection = duckdb.connect(path, read_only=read_only, config=config or {})
    connection.execute("SET enable_progress_bar = false")
    return connection


class Store:
    """An open database. `tracer`, if set, sees every statement and its parameters first.

    `connection`, `instance`, `settings` and `reader` are for the files of this room only.
    """

    _streamed: ref[pa.RecordBatchReader] | None = None
    _as_written: bool | None = False
    """Whether statements run as they are written; None if that is not known."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        path: str,
        read_only: bool,
        settings: Settings | None = None,
        instance: Instance | None = None,
        watch: Watch | None = None,
    ) -> None:
        self.connection = connection
        self.instance = instance or Instance()
        forks.opened(connection, path)
        self.settings = settings or {}
        self.presence: Presence | None = None
        """Its place among the stores that have the database open, unless it is a helper of one."""
        self.path = path
        self.file = Path(path).resolve()
        """The same, wherever the working directory moves, and without links, as DuckDB has it."""
        self.read_only = read_only
        self.missing_log: str | None = None  # what to tell people if it is lost (log.py)
        self.log_unsettled = False
        """Whether the log must still say that it is there, because what prepares it has failed."""
        self.database = ""
        """DuckDB's name for the file."""
        self.guard = Guard(path, watch)
        self.watch = self.guard.watch
        """What limits the call in progress, and can interrupt it."""
        self.tracer: Tracer | None = None
        self.symbols_wait = False
        """Whether the dictionary's table holds symbols that are not published (dictionary.py)."""
        self.waiting_symbols: dict[str, int] = {}
        """A few more, which are in no table yet, and their ids."""
        self.last_symbol: int | None = None
        """The last id in the file, if known."""
        self.unsure = False
        """Whether a change may be in the file that the session does not know of. It is set before
        a COMMIT, because an interruption may come after it, and before the new state is noted."""
        self.remembered = Remembered()
        self.journal = Waiting()  # see waiting.py
        self.temporary_rows = TemporaryRows()  # how large the temporary tables can be
        self.open_transaction: object | None = None
        """What stands for the transaction that is open."""
        self._names = itertools.count(1)
        self._texts: dict[Hashable, str] = {}
        self._parsed = Parsed()
        self.reader: Store | None = None
        """The connection for SQL that users write, once it is needed (other_connections.py)."""
        self.identity: Identity | None = None  # see as_left.py
        self.macros: tuple[Listed, ...] | None = None
        """The macros in a file that is as we make it; those that are ours may be left out."""

    def look_in(self, *schemas: str) -> None:
        """Look names up first among DuckDB's own, then in these schemas of the file, never in main.

        In main anyone may have put a macro with the name of a function that we use, so what is in
        main is read by its full name. (So a bare CHECKPOINT would mean DuckDB's own database.)
        """
        file = self.database.replace('"', '""')
        path = ",".join(["system.main", *(f'"{file}".{schema}' for schema in schemas)])
        # This is text, because a tree would need sqlglot, which is imported only for a change.
        self.run("SET search_path = '{}'".format(path.replace("'", "''")))

    def fresh(self, stem: str) -> str:
        """A name for a temporary table that no other has since `start_names`."""
        return f"zodiac_{stem}_{next(self._names)}"

    def start_names(self) -> None:
        """Begin a change. It uses the same names again, so that texts of statements can be kept."""
        self.symbols_wait = False
        self._names = itertools.count(1)

    def cached(self, key: Hashable, make: Callable[[], exp.Expr]) -> str:
        """The text of a tree that is made when its key is first asked for.

        This is for statements that depend on no program. Those that depend on one are in the
        program's cache (statement_cache.py).
        """
        if key not in self._texts:
            self._texts[key] = render(make())
        return self._texts[key]

    @property
    def in_memory(self) -> bool:
        return self.path == ":memory:"

    @property
    def damaged(self) -> bool:
        """Whether this store must be closed, and the file opened again."""
        return self.instance.damaged

    def run(
        self,
        statement: str | exp.Expr,
        parameters: Parameters = None,
        as_written: bool = False,
    ) -> duckdb.DuckDBPyConnection:
        """Run one statement. Only constants of this package are text; all others are trees.

        Changes that wait in the journal come first. Joins of a statement that runs `as_written` go
        through what is on their left, and look it up in what is on their right: DuckDB keeps that
        for all rounds of a recursion. By its own estimates, it often begins with what is large, and
        reads all of it in each round (measured: 5.5 s of CPU, not 0.13, for 15,000 rounds).
        """
        text = _text(statement)
        with threads_for(self, text):
            return self._run(self._executed, text, parameters, as_written)

    def _executed(self, text: str, parameters: Parameters) -> duckdb.DuckDBPyConnection:
        statement = self._parsed.of(self.connection, text)
        return self.connection.execute(statement, parameters)

    def _plan_joins(self, as_written: bool) -> None:
        """Let DuckDB choose the sides of joins, or leave them as they are written."""
        self._as_written = None  # an interruption may come before this is known
        without = (WRONG_OPTIMIZER, *([SIDES_OPTIMIZER] if as_written else []))
        self.connection.execute(f"SET disabled_optimizers = '{','.join(without)}'")
        self._as_written = as_written

    def _run(
        self,
        execute: Callable[[str, Parameters], _Result],
        text: str,
        parameters: Parameters,
        as_written: bool = False,
    ) -> _Result:
        self.journal.comes()
        if self.waiting_symbols and KNOWN_SYMBOLS in text:
            self._settle_symbols()
        if self.tracer:
            self.tracer(text, parameters)
        self._end_answer()
        with explaining(self):
            if self._as_written is not as_written:
                self._plan_joins(as_written)
            try:
                return execute(text, parameters)
            except duckdb.InternalException as error:
                if not any(said in str(error) for said in NOT_PLANNED):
                    raise
                return self._replanned(execute, text, parameters)

    def _end_answer(self) -> None:
        """Give up an answer that is still streamed: DuckDB refuses other statements meanwhile."""
        if self._streamed is not None:
            reader, self._streamed = self._streamed(), None
            if reader is not None:
                reader.close()

    def _settle_symbols(self) -> None:
        """Put the symbols that wait in memory into the dictionary's table."""
        self.symbols_wait = True  # an interruption may come right after it
        self.run(_INTO_TABLE, ids_and_texts(self.waiting_symbols))
        self.waiting_symbols.clear()

    def _replanned(
        self, execute: Callable[[str, Parameters], _Result], text: str, parameters: Parameters
    ) -> _Result:
        """Run a statement that DuckDB cannot plan: it loses columns of some cyclic joins."""
        without = ",".join((WRONG_OPTIMIZER, *LOSING_OPTIMIZERS))
        self._as_written = None
        self.connection.execute(f"SET disabled_optimizers = '{without}'")
        try:
            return execute(text, parameters)
        finally:
            self._plan_joins(as_written=False)

    def count(
        self,
        statement: str | exp.Expr,
        parameters: Parameters = None,
        as_written: bool = False,
    ) -> int:
        """Run a statement whose answer is one number: a count, or how many rows it wrote.

        `temporary_rows` is told the number, because the rows may be in a temporary table.
        """
        text = _text(statement)
        with threads_for(self, text):
            result = self.run(text, parameters, as_written)
            with explaining(self):
                row = result.fetchone()
        number = int(row[0]) if row else 0
        self.temporary_rows.written(number)
        return number

    def rows(
        self, statement: str | exp.Expr, parameters: Parameters = None
    ) -> list[tuple[Any, ...]]:
        """Run a statement and fetch all its rows: for catalog-sized answers."""
        text = _text(statement)
        with threads_for(self, text):
            result = self.run(text, parameters)
            with explaining(self):
                return result.fetchall()

    def arrow(self, statement: str | exp.Expr, parameters: Parameters = None) -> pa.Table:
        """Run a statement and fetch its answer as an Arrow table."""
        text = _text(statement)
        with threads_for(self, text):
            return self._run(self._fetched, text, parameters)

    def batches(
        self, statement: str | exp.Expr, rows: int, parameters: Parameters = None
    ) -> pa.RecordBatchReader:
        """Run a statement, and stream its answer. The next statement ends the stream."""

        def streamed(text: str, parameters: Parameters) -> pa.RecordBatchReader:
            return self._asked(text, parameters).to_arrow_reader(rows)

        reader = self._run(streamed, _text(statement), parameters)
        self._streamed = ref(reader)
        return reader

    def _fetched(self, text: str, parameters: Parameters) -> pa.Table:
        return self._asked(text, parameters).to_arrow_table()

    def _asked(self, text: str, parameters: Parameters) -> duckdb.DuckDBPyRelation:
        """The answer of a statement as a relation: Arrow then gets its rows without a copy."""
        self._give_up_rows()
        return self.connection.sql(text, params=parameters)

    @contextmanager
    def transaction(self, read_only: bool = False) -> Iterator[None]:
        """All statements inside take effect together, or none does."""
        require_undamaged(self)
        committing, mine = False, object()
        try:  # begins before the statement, because an interruption may come right after it
            end_transaction(self)
            self.open_transaction = mine
            self.run("BEGIN TRANSACTION READ ONLY" if read_only else "BEGIN TRANSACTION")
            yield
            if not read_only:
                self.watch.hold()
            committing = True
            self.run("COMMIT")
            self.open_transaction = None
        except BaseException:
            if self.open_transaction is mine:
                self.watch.ends()
                end_transaction(self)
            if committing and not self.in_memory:
                abandon(self)
            raise

    @contextmanager
    def offered(self, name: str, data: object) -> Iterator[None]:
        """Let statements inside read an Arrow table or stream, data frame or relation by name."""
        self._give_up_rows()
        self.connection.register(name, data)
        try:
            yield
        finally:
            self._give_up_rows()
            self.connection.unregister(name)

    def _give_up_rows(self) -> None:
        """Give up all rows that nobody has fetched: DuckDB would refuse what comes next."""
        self._end_answer()
        self.connection.abort()

    def statement_kinds(self, text: str) -> list[str]:
        """The kind of each statement in a text that a user gave: SELECT, INSERT, ..."""
        with explaining(self):
            text.encode()  # DuckDB would treat a text that cannot be encoded as none
            return [s.type.name for s in self.connection.extract_statements(text)]

    def close(self) -> None:
        if self.reader is not None:
            self.reader.close()
        if not self.damaged:
            with suppress(StoreError):  # then who opens the file settles it
                self.journal.settle()
        if self.log_unsettled and not self.read_only:
            with suppress(StoreError):  # then the file cannot be written either
                settle_log(self)
        if self.presence is None:
            self.connection.close()
        else:
            with self.instance.changing_hands:
                self.connection.close()
                self.presence.gone = True
                if self.macros is not None and self.presence.alone() is not None:
                    note_left(self.file, self.identity, self.macros)
        forks.closed(self.connection)
        self.instance = Instance(self.damaged)  # no longer the instance that others may use

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _text(statement: str | exp.Expr) -> str:
    return statement if isinstance(statement, str) else render(statement)


def rows_apart(
    store: Store, statement: str, parameters: Parameters = None
) -> list[tuple[Any, ...]]:
    """As `Store.rows`, where changes that wait in the journal do not matter: they go on waiting."""
    before, store.journal.is_apart = store.journal.is_apart, True
    try:
        return store.rows(statement, parameters)
    finally:
        store.journal.is_apart = before


def ids_and_texts(symbols: Mapping[str, int]) -> list[list[object]]:
    """The ids and the texts of symbols, as parameters of a statement."""
    return [[*symbols.values()], [*symbols]]


def end_transaction(store: Store) -> None:
    """Roll back a transaction that is still open, if there is one.

    An interruption can come in Python's own code between a block and its context manager. That ends
    only when nothing refers to the interruption any more. So what clears up after one ends the
    transaction first.
    """
    if store.open_transaction is not None:
        store.watch.ends()  # the last statement may have been kept from saying so
        for _ in range(2):  # a ROLLBACK that is interrupted leaves the transaction open
            with suppress(duckdb.Error):  # no other is open: a COMMIT that fails has ended it
                store._end_answer()
                store.connection.rollback()
        store.open_transaction = None
