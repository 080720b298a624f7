"""Which of DuckDB's optimizers are off on a connection."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, TypeVar

from zodiac_sql.database.settings import LOSING_OPTIMIZERS, SIDES_OPTIMIZER, WRONG_OPTIMIZER

if TYPE_CHECKING:
    import duckdb

_Result = TypeVar("_Result")


class Off(Enum):
    """The optimizers that are off for the next statement."""

    WRONG = (WRONG_OPTIMIZER,)
    """DuckDB chooses the sides of joins."""
    SIDES = (WRONG_OPTIMIZER, SIDES_OPTIMIZER)
    """Joins run as they are written."""
    LOSING = (WRONG_OPTIMIZER, *LOSING_OPTIMIZERS)
    """Columns of cyclic joins are not lost."""
    UNKNOWN = ()
    """An interruption may come before DuckDB has done what it was asked."""


class Optimizers:
    """What was last switched off, so that most statements need not do it."""

    __slots__ = ("_off",)

    def __init__(self) -> None:
        self._off = Off.WRONG  # so they are in all connections of a file (open_store.py)

    def let(self, connection: duckdb.DuckDBPyConnection, off: Off) -> None:
        """Let these be off, if they are not yet."""
        if self._off is not off:
            self._off = Off.UNKNOWN
            connection.execute(f"SET disabled_optimizers = '{','.join(off.value)}'")
            self._off = off

    def without_losing(
        self, connection: duckdb.DuckDBPyConnection, run: Callable[[], _Result]
    ) -> _Result:
        """Run a statement that DuckDB cannot plan: it loses columns of some cyclic joins."""
        self.let(connection, Off.LOSING)
        try:
            return run()
        finally:
            self.let(connection, Off.WRONG)
