"""The one door to DuckDB: every statement that is run, and every transaction.

Nothing outside this room opens a connection, and each statement passes `Store.run`. So a tracer
sees whatever happens to a database file, and every DuckDB error becomes one that a person can act
on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from zodiac_sql.database.as_left import note_left
from zodiac_sql.database.company import Presence
from zodiac_sql.database.connection import Connection, Parameters
from zodiac_sql.database.database_file import DatabaseFile
from zodiac_sql.database.duckdb_errors import explaining
from zodiac_sql.database.guard import Guard
from zodiac_sql.database.known_symbols import KNOWN_SYMBOLS, KNOWN_VALUES, KnownSymbols
from zodiac_sql.database.log import Log
from zodiac_sql.database.one_thread import threads_for
from zodiac_sql.database.render import render
from zodiac_sql.database.temporary_tables import TemporaryTables
from zodiac_sql.database.transactions import Phase, Transaction, Transactions
from zodiac_sql.database.waiting import Waiting
from zodiac_sql.database.watch import Watch
from zodiac_sql.errors import StoreError

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
    from sqlglot import exp

_Result = TypeVar("_Result")


class Store:
    """An open database.

    In `connection.duckdb`, which is DuckDB's own, only the files of this room run anything.
    """

    def __init__(self, connection: Connection, file: DatabaseFile) -> None:
        self.connection = connection
        self.file = file
        self.presence: Presence | None = None
        """Its place among the stores that have the database open, unless it is a helper of one."""
        self.guard = Guard(file.path, connection.watch)
        self.transactions = Transactions()
        self.log = Log()
        self.journal = Waiting()
        self.symbols = KnownSymbols()
        self.temporary = TemporaryTables()
        self.users_sql: Store | None = None
        """The connection for SQL that users write, once it is needed (other_connections.py)."""
        self.is_aside = False
        """Whether it has served as a connection aside, and has the tables that one leaves."""

    @property
    def watch(self) -> Watch:
        """What limits the call in progress, and can interrupt it."""
        return self.connection.watch

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
        with threads_for(self.connection, text):
            return self._run(self.connection.rows, text, parameters, as_written)

    def _run(
        self,
        ask: Callable[[str, Parameters], _Result],
        text: str,
        parameters: Parameters,
        as_written: bool = False,
    ) -> _Result:
        self.journal.comes()
        if self.symbols.few and (KNOWN_SYMBOLS in text or KNOWN_VALUES in text):
            self.symbols.enter_table(self.run)
        return self.connection.run(ask, text, parameters, as_written)

    def count(
        self,
        statement: str | exp.Expr,
        parameters: Parameters = None,
        as_written: bool = False,
    ) -> int:
        """Run a statement whose answer is one number: a count, or how many rows it wrote.

        `temporary` is told the number, because the rows may be in a temporary table.
        """
        text = _text(statement)
        with threads_for(self.connection, text):
            result = self.run(text, parameters, as_written)
            with explaining(self.connection):
                row = result.fetchone()
        number = int(row[0]) if row else 0
        self.temporary.written(number)
        return number

    def rows(
        self, statement: str | exp.Expr, parameters: Parameters = None
    ) -> list[tuple[Any, ...]]:
        """Run a statement and fetch all its rows: for catalog-sized answers."""
        text = _text(statement)
        with threads_for(self.connection, text):
            result = self.run(text, parameters)
            with explaining(self.connection):
                return result.fetchall()

    def arrow(self, statement: str | exp.Expr, parameters: Parameters = None) -> pa.Table:
        """Run a statement and fetch its answer as an Arrow table."""
        text = _text(statement)
        with threads_for(self.connection, text):
            return self._run(self.connection.table, text, parameters)

    def batches(
        self, statement: str | exp.Expr, rows: int, parameters: Parameters = None
    ) -> pa.RecordBatchReader:
        """Run a statement, and stream its answer. The next statement ends the stream."""
        stream = partial(self.connection.stream, rows)
        return self._run(stream, _text(statement), parameters)

    @contextmanager
    def transaction(self, read_only: bool = False) -> Iterator[None]:
        """All statements inside take effect together, or none does."""
        self.connection.require_undamaged()
        mine = Transaction()
        try:  # begins before the statement, because an interruption may come right after it
            self.transactions.end(self.connection)
            self.transactions.current = mine
            self.run("BEGIN TRANSACTION READ ONLY" if read_only else "BEGIN TRANSACTION")
            yield
            if not read_only:
                self.watch.hold()
            mine.phase = Phase.COMMITTING
            self.run("COMMIT")
            self.transactions.current = None
        except BaseException:
            if self.transactions.current is mine:
                self.watch.ends()
                self.transactions.end(self.connection)
            if mine.phase is Phase.COMMITTING and not self.file.in_memory:
                self.connection.abandon()
            raise

    @contextmanager
    def offered(self, name: str, data: object) -> Iterator[None]:
        """Let statements inside read an Arrow table or stream, data frame or relation by name."""
        self.connection.give_up_rows()
        self.connection.duckdb.register(name, data)
        try:
            yield
        finally:
            self.connection.give_up_rows()
            self.connection.duckdb.unregister(name)

    def look_in(self, *schemas: str) -> None:
        """Look names up first among DuckDB's own, then in these schemas of the file, never in main.

        In main anyone may have put a macro with the name of a function that we use, so what is in
        main is read by its full name. (So a bare CHECKPOINT would mean DuckDB's own database.)
        """
        file = self.file.name.replace('"', '""')
        path = ",".join(["system.main", *(f'"{file}".{schema}' for schema in schemas)])
        # This is text, because a tree would need sqlglot, which is imported only for a change.
        self.run("SET search_path = '{}'".format(path.replace("'", "''")))

    def statement_kinds(self, text: str) -> list[str]:
        """The kind of each statement in a text that a user gave: SELECT, INSERT, ..."""
        with explaining(self.connection):
            text.encode()  # DuckDB would treat a text that cannot be encoded as none
            return [s.type.name for s in self.connection.duckdb.extract_statements(text)]

    def take_place_of(self, closed: Store) -> None:
        """Go on for a store of the same file, with the call that is in progress there."""
        self.guard = closed.guard
        self.connection.watch = closed.connection.watch
        self.connection.tracer = closed.connection.tracer

    def close(self) -> None:
        if self.users_sql is not None:
            self.users_sql.close()
        if not self.connection.damaged:
            with suppress(StoreError):  # then who opens the file settles it
                self.journal.settle()
        if self.log.unsettled and not self.file.read_only:
            with suppress(StoreError):  # then the file cannot be written either
                self.log.settle(self.connection)
        if self.presence is None:
            self.connection.duckdb.close()
        else:
            with self.connection.instance.changing_hands:
                self.connection.duckdb.close()
                self.presence.gone = True
                if self.file.macros is not None and self.presence.alone() is not None:
                    note_left(self.file.real, self.file.identity, self.file.macros)
        self.connection.closed()

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
