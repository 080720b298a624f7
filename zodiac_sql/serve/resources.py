"""What a server asks and changes: some readers, and one knowledge base beside the one it serves.

Each belongs to the request that has taken it. They share the database with the knowledge base of
the program, which goes on as before: its changes and those of the server take turns
(database/turns.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock, Semaphore
from typing import TYPE_CHECKING

from zodiac_sql.database.instance import FileInstance, Served
from zodiac_sql.database.limits import Limits
from zodiac_sql.database.other_connections import connect_beside
from zodiac_sql.database.store import Store
from zodiac_sql.database.watch import Watch
from zodiac_sql.questions import Questions
from zodiac_sql.reader import Reader, ReadingSession
from zodiac_sql.session import Session

if TYPE_CHECKING:
    from zodiac_sql.knowledge_base import KnowledgeBase

NEVER = 1e12
"""A limit in seconds that is never reached, but with which a request can be cancelled."""


class Cancelling:
    """Ends the work of a request whose client has gone away."""

    def __init__(self) -> None:
        self.gone = Event()
        self._watch: Watch | None = None

    @contextmanager
    def watching(self, watch: Watch) -> Iterator[None]:
        """Inside the block, calls that this watch belongs to are work of the request."""
        self._watch = watch
        try:
            yield
        finally:
            self._watch = None

    def cancel(self) -> None:
        """End what is under way, as if its time were up. Call it until the request has ended.

        A change that is being written goes on.
        """
        self.gone.set()
        watch = self._watch
        bounds = None if watch is None else watch.bounds
        if watch is not None and bounds is not None and not bounds.over:
            bounds.cancelled = True
            watch.strike(watch.number)  # it can be lost


class Resources:
    """The readers of a server, and its own knowledge base."""

    def __init__(self, served: KnowledgeBase, readers: int) -> None:
        self._session = served._session
        self._settings, self._kind = served._updates._settings, type(served)
        self._mark: Served | None = None
        self._free: list[Reader] = []
        self._lock = Lock()
        self._may_read = Semaphore(readers)
        self._changing: KnowledgeBase | None = None
        self._closed = False

    @property
    def _instance(self) -> FileInstance:
        return self._session.held.connection.instance

    @property
    def waiting(self) -> int:
        """How many changes wait for their turn."""
        return self._instance.turns.waiting

    def serves(self, mark: Served) -> None:
        """Let changes of this process take turns, and tell a server of them."""
        self._mark = mark
        self._sign()

    def _sign(self) -> None:
        """Note that the database is served. After damage, it is opened as another instance."""
        mark, instance = self._mark, self._instance
        if mark is not None and mark not in instance.served and not self._closed:
            instance.served = (*instance.served, mark)

    @contextmanager
    def reading(self, limits: Limits, cancelling: Cancelling) -> Iterator[Reader]:
        """A reader for one request. It waits until one is free."""
        with self._may_read:
            self._sign()
            with self._lock:
                reader = self._free.pop() if self._free else None
            if reader is None:
                reader = Reader(ReadingSession(self._session))
            try:
                with _taken(reader, limits, cancelling):
                    yield reader
            finally:
                self._put_back(reader)

    def _put_back(self, reader: Reader) -> None:
        damaged = self._instance.damaged
        with self._lock:
            if not self._closed and not damaged:
                self._free.append(reader)
                return
        _close(reader)

    @contextmanager
    def changing(self, limits: Limits, cancelling: Cancelling) -> Iterator[KnowledgeBase]:
        """The knowledge base that changes what is served, for one request, in its turn."""
        self._sign()
        with self._instance.turns.turn():
            if self._changing is None:
                self._changing = self._made()
            with _taken(self._changing, limits, cancelling):
                yield self._changing

    def _made(self) -> KnowledgeBase:
        """A knowledge base beside the one that is served, with its functions."""
        session = Session(self._beside)
        session.functions, session.times = self._session.functions, self._session.times
        session.current()  # a database in memory is not empty here
        return self._kind(session, self._settings)

    def _beside(self) -> Store:
        return connect_beside(self._session.held)

    def renew(self) -> None:
        """Close what is open, because the database is damaged. Requests close what they have."""
        with self._instance.turns.turn():
            self._close_all()

    def close(self) -> None:
        """Close everything. What requests have taken, they close themselves."""
        self._closed = True
        instance = self._instance
        instance.served = tuple(one for one in instance.served if one is not self._mark)
        self.renew()

    def _close_all(self) -> None:
        with self._lock:
            closing: list[Questions] = [*self._free]
            if self._changing is not None:
                closing.append(self._changing)
            self._free, self._changing = [], None
        for one in closing:
            _close(one)


@contextmanager
def _taken(asked: Questions, limits: Limits, cancelling: Cancelling) -> Iterator[None]:
    """Let this thread be the user of something that has been opened, within limits."""
    with asked._guard.borrowed():
        watch = asked._session.held.watch
        watch.usual = limits if limits.timeout else limits.with_({"timeout": NEVER})
        with cancelling.watching(watch):
            yield


def _close(asked: Questions) -> None:
    with asked._guard.borrowed():
        asked.close()
