"""The transaction that is open, and whether a change may be in the file that nobody has noted.

A transaction is open, then it is committing, then it has ended. An interruption can come anywhere:

while it is open         it is rolled back.
while it is committing   it may be in the file, or not. What DuckDB has in memory is not to be
                         trusted any more: the file is opened again (`Connection.abandon`).
when it has ended        it is in the file, but the session may not have noted the state after it.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zodiac_sql.database.connection import Connection


class Phase(Enum):
    """How far a transaction has come."""

    OPEN = "open"
    COMMITTING = "committing"


class Transaction:
    """One transaction. A block that ends late must not end the transaction of another one."""

    __slots__ = ("phase",)

    def __init__(self) -> None:
        self.phase = Phase.OPEN


class Transactions:
    """Those of a connection."""

    __slots__ = ("current", "unsure")

    def __init__(self) -> None:
        self.current: Transaction | None = None
        """The one that has not ended."""
        self.unsure = False
        """Whether a change may be in the file that the session does not know of. It is set before
        a COMMIT, because an interruption may come after it, and before the new state is noted."""

    def end(self, connection: Connection) -> None:
        """Roll back a transaction that is still open, if there is one.

        An interruption can come in Python's own code between a block and its context manager. That
        ends only when nothing refers to the interruption any more. So what clears up after one ends
        the transaction first.
        """
        if self.current is not None:
            connection.roll_back()
            self.current = None
