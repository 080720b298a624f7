"""The SQLite database that holds the copies: a temporary file, which nobody else sees."""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

CACHE_KIB = 16 * 1024
"""The memory that SQLite may use for what is in the file."""

MOST_STEPS = 1_000
"""A change that takes SQLite more than so many thousands of steps, some 30 ms, is no small one."""

_SETTINGS = (
    f"PRAGMA cache_size = -{CACHE_KIB}",
    "PRAGMA journal_mode = MEMORY",
    "PRAGMA synchronous = OFF",
    "PRAGMA temp_store = MEMORY",
)

Parameters = Mapping[str, object] | Sequence[object]


class TooManyStepsError(Exception):
    """A change takes SQLite more than MOST_STEPS."""


class SideDatabase:
    """A connection to SQLite. It raises sqlite3.Error where the disk is full."""

    def __init__(self) -> None:
        # Python's own transactions are off. Threads take turns (database/guard.py).
        self._connection = sqlite3.connect(
            "", isolation_level=None, check_same_thread=False, cached_statements=2_000
        )
        self._steps: int | None = None
        """How many thousands of steps a change has taken; None while nobody counts."""
        weakref.finalize(self, self._connection.close)  # closing twice does no harm
        for setting in _SETTINGS:
            self._connection.execute(setting)
        self._connection.set_progress_handler(_counter(weakref.ref(self)), 1_000)

    def run(self, text: str, parameters: Parameters = ()) -> int:
        """Run a statement. Returns how many rows it has written."""
        return self._connection.execute(text, parameters).rowcount

    def put(self, text: str, rows: Iterable[Sequence[object]]) -> None:
        """Run a statement for each of some rows."""
        self._connection.executemany(text, rows)

    def fetch(self, text: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """Run a query."""
        return self._connection.execute(text, parameters).fetchall()

    @contextmanager
    def transaction(self, limited: bool = False) -> Iterator[None]:
        """All statements inside take effect together, or none does.

        If it is limited, it raises TooManyStepsError before it takes too many.
        """
        self._undo()  # an interruption may have come as the last one ended
        self.run("BEGIN")
        self._steps = 0 if limited else None
        try:
            yield
            self._steps = None
            self.run("COMMIT")
        except BaseException as error:
            steps, self._steps = self._steps, None
            self._undo()
            if isinstance(error, sqlite3.OperationalError) and (steps or 0) > MOST_STEPS:
                raise TooManyStepsError from error
            raise

    def _undo(self) -> None:
        if self._connection.in_transaction:  # SQLite itself may have ended it
            self._connection.execute("ROLLBACK")

    def step(self) -> bool:
        """Count a thousand steps. Returns whether they are too many."""
        if self._steps is None:
            return False
        self._steps += 1
        return self._steps > MOST_STEPS

    def close(self) -> None:
        """Close the connection. The file is gone then."""
        self._connection.close()


def _counter(database: weakref.ref[SideDatabase]) -> Callable[[], int]:
    """What SQLite calls as it goes. It does not keep the database alive."""

    def count() -> int:
        here = database()
        return int(here is not None and here.step())

    return count
