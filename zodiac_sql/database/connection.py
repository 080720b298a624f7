"""A connection to DuckDB: it runs statements, explains their errors, and can be interrupted."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import duckdb

from zodiac_sql.database import forks
from zodiac_sql.database.duckdb_errors import explained, explaining
from zodiac_sql.database.instance import FileInstance
from zodiac_sql.database.optimizers import Off, Optimizers
from zodiac_sql.database.parsed import SHARED
from zodiac_sql.database.settings import NOT_PLANNED, Settings
from zodiac_sql.database.streamed_answer import StreamedAnswer
from zodiac_sql.database.watch import Watch
from zodiac_sql.errors import StoreError

if TYPE_CHECKING:
    import pyarrow as pa

LOGGER = logging.getLogger("zodiac_sql.sql")
"""It says each statement and its time, but no parameters: they are what users keep."""

Parameters = Sequence[object] | Mapping[str, object] | None
Tracer = Callable[[str, Parameters], None]
_Result = TypeVar("_Result")


def connect_duckdb(
    path: str = ":memory:", read_only: bool = False, config: Settings | None = None
) -> duckdb.DuckDBPyConnection:
    """Connect to DuckDB, without its own progress bar.

    In a process without a script, it would write that to stdout, amid the output of the program.
    """
    connection = duckdb.connect(path, read_only=read_only, config=config or {})
    connection.execute("SET enable_progress_bar = false")
    return connection


@dataclass(frozen=True, slots=True)
class Opened:
    """What DuckDB was told when it opened a database. It takes the same once more in a process."""

    address: str
    """The path. Each database in memory has a name of its own."""
    config: Settings


def connected(opened: Opened, path: str, read_only: bool, instance: FileInstance) -> Connection:
    """A connection to a database, which errors call `path`."""
    try:
        raw = connect_duckdb(opened.address, read_only, opened.config)
    except duckdb.Error as error:
        raise explained(error, path) from error
    return Connection(raw, path, instance)


class Connection:
    """What runs statements. `path` is what errors call the file."""

    __slots__ = (
        "_optimizers", "_streamed", "clock", "duckdb", "instance", "path", "tracer", "watch",
    )  # fmt: skip

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        path: str,
        instance: FileInstance | None = None,
        watch: Watch | None = None,
    ) -> None:
        self.duckdb = connection
        self.path = path
        self.instance = instance or FileInstance()
        forks.opened(connection, path)
        self.watch = watch or Watch()
        """What limits the call in progress, and can interrupt it."""
        self.clock: int | None = None
        """What now() is, in microseconds since 1970 (clock.py)."""
        self.tracer: Tracer | None = None
        """If set, it sees every statement and its parameters first."""
        self._optimizers = Optimizers()
        self._streamed = StreamedAnswer()

    def another(self) -> Connection:
        """A second connection to the same database, in the same call."""
        return Connection(self.duckdb.cursor(), self.path, self.instance, self.watch)

    # Statements

    def run(
        self,
        ask: Callable[[str, Parameters], _Result],
        text: str,
        parameters: Parameters,
        as_written: bool,
    ) -> _Result:
        """Run a statement by one of the three ways below."""
        if self.tracer:
            self.tracer(text, parameters)
        self._streamed.end()
        began = time.perf_counter()
        with explaining(self):
            self._optimizers.let(self.duckdb, Off.SIDES if as_written else Off.WRONG)
            try:
                return ask(text, parameters)
            except duckdb.InternalException as error:
                if not any(said in str(error) for said in NOT_PLANNED):
                    raise
                return self._optimizers.without_losing(self.duckdb, lambda: ask(text, parameters))
            finally:
                if LOGGER.isEnabledFor(logging.DEBUG):
                    took = 1000 * (time.perf_counter() - began)
                    LOGGER.debug("%s: %.1f ms: %s", self.path, took, " ".join(text.split()))

    def rows(self, text: str, parameters: Parameters) -> duckdb.DuckDBPyConnection:
        """The answer as rows, which nobody has fetched yet."""
        *before, last = SHARED.of(self.duckdb, text)
        for statement in before:
            self.duckdb.execute(statement)
        return self.duckdb.execute(last, parameters)

    def table(self, text: str, parameters: Parameters) -> pa.Table:
        """The answer as an Arrow table."""
        return self._asked(text, parameters).to_arrow_table()

    def stream(self, rows: int, text: str, parameters: Parameters) -> pa.RecordBatchReader:
        """The answer as a stream of batches of so many rows. The next statement ends it."""
        reader = self._asked(text, parameters).to_arrow_reader(rows)
        self._streamed.begins(reader)
        return reader

    def _asked(self, text: str, parameters: Parameters) -> duckdb.DuckDBPyRelation:
        """The answer of a statement as a relation: Arrow then gets its rows without a copy."""
        self.give_up_rows()
        return self.duckdb.sql(text, params=parameters)

    def give_up_rows(self) -> None:
        """Give up all rows that nobody has fetched: DuckDB would refuse what comes next."""
        self._streamed.end()
        self.duckdb.abort()

    # Failures

    @property
    def damaged(self) -> bool:
        """Whether all connections must be closed, and the file opened again."""
        return self.instance.damaged

    def require_undamaged(self) -> None:
        """Raise StoreError if a failed COMMIT has left something in memory."""
        if self.damaged:
            raise StoreError(f"writing {self.path} has failed: it must be opened again first")

    def roll_back(self) -> None:
        """Roll back the transaction that is open, or may be open. No watch is told."""
        self.watch.ends()  # the last statement may have been kept from saying so
        for _ in range(2):  # a ROLLBACK that is interrupted leaves the transaction open
            with suppress(duckdb.Error):  # no other is open: a COMMIT that fails has ended it
                self._streamed.end()
                self.duckdb.rollback()

    def abandon(self) -> None:
        """Keep what a failed COMMIT leaves in memory from being written to the file.

        DuckDB would write it as a checkpoint when the connection is closed. (After a fatal error it
        does not, and takes no more statements.)
        """
        self.instance.damaged = True
        with suppress(duckdb.Error):
            self.duckdb.execute("PRAGMA disable_checkpoint_on_shutdown")

    def closed(self) -> None:
        """Note that DuckDB's connection is closed: this is not the instance of others any more."""
        forks.closed(self.duckdb)
        self.instance = FileInstance(self.damaged)
