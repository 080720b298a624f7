"""A bounded queue between threads: a thread that puts into it waits while it is full."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from queue import Full
from threading import Condition

from zodiac_sql.database.forks import require_not_forked
from zodiac_sql.stream.updates import Item


class Channel:
    """A queue of updates from one thread to another; updates in it have arrived.

    `on_move` is called, in either thread, when something was put or taken, or the channel ended.
    """

    def __init__(self, size: int, on_move: Callable[[], object] | None = None) -> None:
        if size < 1:
            raise ValueError(f"the size of a queue is at least 1; not {size}")
        self.size = size
        self._items: deque[Item] = deque()
        self._moved = Condition()
        self._on_move = on_move
        self._ended = False
        self._error: BaseException | None = None

    # For the thread that puts

    def room(self, timeout: float | None = None) -> bool:
        """Wait for room. Returns False if the channel has ended. Raises queue.Full."""
        with self._moved:
            self._wait_for_room(timeout)
            return not self._ended

    def put(self, item: Item, timeout: float | None = None) -> bool:
        """Wait for room, and put. Returns False if the channel has ended. Raises queue.Full."""
        with self._moved:
            self._wait_for_room(timeout)
            if self._ended:
                return False
            self._items.append(item)
            self._tell()
            return True

    def end(self, error: BaseException | None = None) -> None:
        """End the channel. Items in it can still be taken; then the error, if given, is raised.

        Threads that wait are woken.
        """
        with self._moved:
            if not self._ended:
                self._ended, self._error = True, error
            self._tell()

    @property
    def full(self) -> bool:
        return len(self._items) >= self.size

    # For the thread that takes

    @property
    def ready(self) -> bool:
        """Whether `next` would not wait."""
        return bool(self._items or self._ended)

    def wait(self, seconds: float) -> bool:
        with self._moved:
            return self._moved.wait_for(lambda: self.ready, seconds)

    def next(self) -> Item | None:
        with self._moved:
            self._moved.wait_for(lambda: self.ready)
            if self._items:
                item = self._items.popleft()
                self._tell()
                return item
            if self._error is not None:
                raise self._error
            return None

    def ahead(self) -> Item | None:
        with self._moved:
            return self._items[0] if self._items else None

    def put_back(self, items: Iterable[Item]) -> None:
        with self._moved:
            self._items.extendleft(reversed(list(items)))

    def waiting(self) -> int:
        return len(self._items)

    # For both threads, with the lock held

    def _wait_for_room(self, timeout: float | None) -> None:
        if not self._moved.wait_for(lambda: self._ended or not self.full, timeout):
            raise Full

    def _tell(self) -> None:
        self._moved.notify_all()
        if self._on_move is not None:
            self._on_move()


class UpdateQueue:
    """Updates from other threads for `KnowledgeBase.stream`, at most `size` at a time.

    The stream goes on until the queue is closed. If the stream ends earlier, because its loop was
    left or an update was refused, updates that were not applied are still in the queue.
    """

    def __init__(self, size: int = 100) -> None:
        self.channel = Channel(size)
        """The channel that the stream reads."""
        self._process = os.getpid()

    def put(self, update: Mapping[str, object], timeout: float | None = None) -> None:
        """Put an update (see `StreamUpdate`) in, from any thread; wait while the queue is full.

        Raises queue.Full after `timeout` seconds, ValueError once the queue is closed, and
        BusyError in a fork of the process, because its updates would never arrive.
        """
        require_not_forked(self._process, "UpdateQueue")
        if not self.channel.put(Item(update), timeout):
            raise ValueError("the UpdateQueue is closed: nothing can be put into it any more")

    def close(self) -> None:
        """End the stream after the updates that are in the queue."""
        self.channel.end()

    def __len__(self) -> int:
        """How many updates are in the queue."""
        return self.channel.waiting()
