"""The SQLite database that holds the copies: a temporary file, which nobody else sees."""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from zodiac_sql.lookups.computed_values import make_functions
from zodiac_sql.lookups.group_values import make_aggregates
from zodiac_sql.lookups.values import Unknown, UnknownValueError

CACHE_KIB = 16 * 1024
"""The memory that SQLite may use for what is in the file."""

SHARE = 16
"""It is at most this part of the memory that DuckDB may use, so that small devices have less."""

_STRIDE = 10_000
"""After so many steps SQLite says how it gets on."""

_SETTINGS = (
    "PRAGMA journal_mode = MEMORY",
    "PRAGMA synchronous = OFF",
    "PRAGMA temp_store = FILE",
)

Parameters = Mapping[str, object] | Sequence[object]


class TooManyStepsError(Exception):
    """A change takes SQLite more steps than it may."""


class SideDatabase:
    """A connection to SQLite. It raises sqlite3.Error where the disk is full."""

    def __init__(self, memory_limit: int | None = None) -> None:
        """`memory_limit` is DuckDB's, in bytes."""
        # Python's own transactions are off. Threads take turns (database/guard.py).
        self._connection = sqlite3.connect(
            "", isolation_level=None, check_same_thread=False, cached_statements=2_000
        )
        self._unknown = Unknown()
        make_functions(self._connection, self._unknown)
        make_aggregates(self._connection, self._unknown)
        self._steps = 0
        """How many steps a change has taken."""
        self._most_steps = 0
        self._latest: object | None = None
        """What stands for the transaction that has begun last."""
        weakref.finalize(self, self._connection.close)  # closing twice does no harm
        limit = CACHE_KIB * 1024 * SHARE if memory_limit is None else memory_limit
        cache = min(CACHE_KIB, limit // SHARE // 1024)
        for setting in (f"PRAGMA cache_size = -{cache}", *_SETTINGS):
            self._connection.execute(setting)

    def run(self, text: str, parameters: Parameters = ()) -> int:
        """Run a statement. Returns how many rows it has written. Raises UnknownValueError."""
        rows = self._connection.execute(text, parameters).rowcount
        if self._unknown.asked:
            self._unknown.asked = False
            raise UnknownValueError
        return rows

    def put(self, text: str, rows: Iterable[Sequence[object]]) -> None:
        """Run a statement for each of some rows."""
        self._connection.executemany(text, rows)

    def fetch(self, text: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """Run a query."""
        return self._connection.execute(text, parameters).fetchall()

    @contextmanager
    def transaction(self, most_steps: int | None = None) -> Iterator[None]:
        """All statements inside take effect together, or none does.

        If it is limited, it raises TooManyStepsError before it takes more.
        """
        self._undo()  # an interruption may have come as the last one ended
        mine = self._latest = object()
        self._unknown.asked = self._unknown.interrupted = self._unknown.refused = False
        self.run("BEGIN")
        self._steps = 0
        if most_steps is not None:
            self._most_steps = most_steps
            self._connection.set_progress_handler(_counter(weakref.ref(self)), _STRIDE)
        try:
            yield
            self._connection.set_progress_handler(None, 0)
            self.run("COMMIT")
        except BaseException as error:
            if self._latest is mine:  # after an interruption, another one may have begun
                self._connection.set_progress_handler(None, 0)
                self._undo()
            stopped = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT
            if stopped and self._steps > self._most_steps:
                raise TooManyStepsError from error
            # Python was interrupted while SQLite said how it gets on, or while it computed a value
            # for SQLite, which hides the error.
            if stopped or self._unknown.interrupted or self._was_interrupted(error):
                raise KeyboardInterrupt from error
            raise

    def _was_interrupted(self, error: BaseException) -> bool:
        """Whether an interruption came where Python begins to compute a value for SQLite, before
        anything can note it: nothing else fails there.
        """
        is_ours = isinstance(error, sqlite3.OperationalError) and "user-defined" in str(error)
        return is_ours and not self._unknown.refused

    def _undo(self) -> None:
        if self._connection.in_transaction:  # SQLite itself may have ended it
            self._connection.execute("ROLLBACK")

    def step(self) -> bool:
        """Count steps. Returns whether SQLite is to stop."""
        self._steps += _STRIDE
        return self._steps > self._most_steps

    def close(self) -> None:
        """Close the connection. The file is gone then."""
        self._connection.close()


def _counter(database: weakref.ref[SideDatabase]) -> Callable[[], int]:
    """What SQLite calls as it goes. It does not keep the database alive."""

    def count() -> int:
        here = database()
        return int(here is not None and here.step())

    return count
