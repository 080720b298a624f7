"""Which stores of this process have a database open, and what one may know that is alone.

DuckDB lets one process at a time write a file. So if a file changes without a store's doing, it was
another store of the same process, and each such change counts up the generation in the file
(storage/save_catalog.py). To look at the generation before each change and to count it up takes two
statements, as many as a small change itself.

Rule: a store that is alone, and was already when it last compared its state with the file, knows
that its state is the file's. Reason: nobody else can have published since then. Stores that came
and went in between are noticed by the number of all that ever came.

Rule: while a store publishes without counting, no other store can come. Reason: it would read the
state from before, and could never tell that this has changed. So to come takes a lock, and so does
publishing without counting. Who came before the lock was taken is seen, and the change counts. Only
who comes waits for the lock, and only small changes are published without counting, so the wait is
short. Who leaves takes no lock: it changes nothing any more.

A fork never comes to the databases that it inherits (forks.py), so it never waits for their locks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, RLock, get_ident
from weakref import ref

from zodiac_sql.errors import BusyError


class Company:
    """The stores of this process that have one database open."""

    __slots__ = ("_here", "_lock", "_publisher", "came", "settling")

    def __init__(self) -> None:
        self.came = 0
        """How many have ever come."""
        self._here: tuple[ref[Presence], ...] = ()  # replaced, never modified: anyone may read it
        self._lock = RLock()  # an interruption can keep a thread in `closed` until its next call
        self._publisher: int | None = None
        self.settling = Lock()
        """Held by the one that settles the journal (storage/journal.py)."""

    def welcome(self, presence: Presence) -> None:
        """Note a store that opens the database, after `require_no_publisher`."""
        with self._lock:
            here = [other for other in self._here if other() is not None]
            self._here = (*here, ref(presence))
            self.came += 1

    def require_no_publisher(self, path: str) -> None:
        """Raise BusyError if this thread publishes: nobody may come before it has ended that."""
        if self._publisher == get_ident():
            raise BusyError(
                f"{path} cannot be opened now: this very thread is publishing a change of it. A "
                "tracer must not open what it traces."
            )

    def is_alone(self, presence: Presence) -> bool:
        """Whether no other store has the database open."""
        others = (other() for other in self._here)
        return all(o is None or o is presence or o.gone for o in others)

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Let nobody come inside the block."""
        with self._lock:  # it is free, or will be at once: who comes has nothing to wait for
            self._publisher = get_ident()
            try:
                yield
            finally:
                self._publisher = None


class Presence:
    """One of the stores that have a database open."""

    __slots__ = ("__weakref__", "_company", "_sure", "gone")

    def __init__(self, company: Company) -> None:
        self._company = company
        self._sure: int | None = None
        self.gone = False
        """Whether the store is closed."""
        company.welcome(self)

    def alone(self) -> int | None:
        """None if another store has the database open; else the number of all that ever came.

        Ask this before the state is read, or compared with the file, and then call `is_sure` with
        it.
        """
        came = self._company.came
        return came if self._company.is_alone(self) else None

    def is_sure(self, alone: int | None) -> None:
        """Note that the state was the file's after `alone` was asked for."""
        self._sure = alone

    def knows(self) -> bool:
        """Whether nobody else can have changed the file since the state was last the file's."""
        return self._sure is not None and self.alone() == self._sure

    @contextmanager
    def unnoticed(self, wanted: bool) -> Iterator[bool]:
        """Let nobody come inside the block, if `wanted`, and if nobody has come before.

        It yields whether that is so: then nobody else need notice what is published inside.
        """
        if not (wanted and self.knows()):
            yield False
            return
        with self._company.closed():
            yield self.knows()
