"""Lets the threads that change one database wait for each other.

Two knowledge bases of a process that change one file at the same time each compute their change for
a state, and whose change is published second is refused: what it was computed from is gone. That is
right where nobody expects company. While a server (serve/) has a knowledge base, others change the
file all the time, so then each change waits for its turn instead: first come, first served.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock, get_ident


class Turns:
    """The turns of one database. A thread that has the turn may take it again inside."""

    __slots__ = ("_depth", "_lock", "_thread", "_waiting")

    def __init__(self) -> None:
        self._lock = Lock()
        self._thread: int | None = None
        self._depth = 0
        self._waiting: deque[tuple[int, Event]] = deque()

    @property
    def waiting(self) -> int:
        """How many threads wait for their turn."""
        return len(self._waiting)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait until no other thread has the turn, and have it inside the block."""
        self._take()
        try:
            yield
        finally:
            with self._lock:
                self._pass_on()

    def _take(self) -> None:
        me, mine = get_ident(), Event()
        with self._lock:
            if self._thread in (None, me):
                self._thread = me
                self._depth += 1
                return
            self._waiting.append((me, mine))
        try:
            mine.wait()
        except BaseException:  # interrupted: the turn may have come just now
            with self._lock:
                if (me, mine) in self._waiting:
                    self._waiting.remove((me, mine))
                else:
                    self._pass_on()
            raise

    def _pass_on(self) -> None:
        """End one block. After the last one, the thread that has waited longest has the turn."""
        self._depth -= 1
        if self._depth:
            return
        if not self._waiting:
            self._thread = None
            return
        self._thread, event = self._waiting.popleft()
        self._depth = 1
        event.set()
