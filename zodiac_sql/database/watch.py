"""What can interrupt a statement from outside: a timer when time is up, and Ctrl-C.

DuckDB looks for Ctrl-C between its tasks only, and a join that grows can keep one task busy for
minutes; it knows no timeout. So another thread calls `interrupt`. An interruption that comes just
before DuckDB begins a statement is lost, so it is repeated, but only while that very statement
runs: what is done after it, such as a ROLLBACK, must not be struck.

A watch belongs to an open knowledge base and its helper connections (other_connections.py), so at
any time one statement runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from typing import Protocol

import duckdb

from zodiac_sql.database import signals
from zodiac_sql.database.limits import Bounds, Growth, Limiting, Limits

PAUSE = 0.02
"""Seconds from one interruption of a statement to the next."""


class Interruptible(Protocol):
    """What is needed of a connection."""

    def interrupt(self) -> None: ...


class Watch:
    """Knows which statement runs, and what limits the call that it belongs to."""

    __slots__ = (
        "__weakref__", "_lock", "_number", "_running", "_timer", "bounds", "listener", "struck",
        "usual",
    )  # fmt: skip

    def __init__(self) -> None:
        self.usual = Limits()
        """The limits of calls that have none of their own."""
        self.bounds: Bounds | None = None
        """The limits of the call that is in progress; None if it has none."""
        self.listener: Callable[[int, int | None], None] | None = None
        """Whom `tell` tells how far a large hypernode has come; None if nobody wants to know."""
        self.struck = False
        """Whether the statement that runs was interrupted. DuckDB sees that only between calls of
        Python functions for many rows, so these look here, too (python_functions.py)."""
        self._lock = Lock()
        self._running: Interruptible | None = None
        self._number = 0
        self._timer: _Timer | None = None

    # Statements

    def begins(self, connection: Interruptible) -> None:
        """Note that a statement begins. Raises LimitError if time is up already."""
        if self.bounds is not None:
            self.bounds.check_time()
        signals.begins(self)
        self._number += 1
        self.struck = False
        self._running = connection

    def ends(self) -> None:
        """Note that no statement runs: from now on, nothing is interrupted."""
        with self._lock:
            self._running = None

    @property
    def number(self) -> int:
        """The number of the statement that runs, or ran last."""
        return self._number

    def strike(self, number: int) -> bool:
        """Interrupt a statement. Returns whether it was still running."""
        with self._lock:
            running = self._running
            if running is None or self._number != number:
                return False
            self.struck = True
            try:
                running.interrupt()
            except duckdb.ConnectionException:  # it has been closed: nothing runs there
                return False
            return True

    # Calls

    def enters(self) -> None:
        """A call begins in this thread: listen for Ctrl-C, and for the end of its time."""
        signals.listen(self)
        if self.bounds is not None and (deadline := self.bounds.deadline) is not None:
            self._timer = _Timer(self, self.bounds, deadline)
            self._timer.start()

    def leaves(self) -> None:
        """The call has ended."""
        self.ends()
        signals.hush(self)
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.end()

    # Progress

    @contextmanager
    def telling(self, listener: Callable[[int, int | None], None]) -> Iterator[None]:
        """Inside the block, a listener hears how far each hypernode has come."""
        self.listener = listener
        try:
            yield
        finally:
            self.listener = None

    def tell(self, done: int, total: int | None = None) -> None:
        """Tell a listener that so many parts of a total are done; without one, so many facts."""
        if self.listener is not None:
            self.listener(done, total)

    # Limits

    @contextmanager
    def limited(self, given: Limiting, changes: bool) -> Iterator[None]:
        """Inside the block, limits are in force: those given, else the usual ones."""
        limits = self.usual.with_(given)
        before = self.bounds
        self.bounds = Bounds(limits, changes) if limits else None
        try:
            yield
        finally:
            self.bounds = before

    def in_time(self, rows: object) -> object:
        """Rows, of which an iterator ends with LimitError when time is up: it may never end."""
        bounds = self.bounds
        if bounds is None or bounds.deadline is None or not isinstance(rows, Iterator):
            return rows
        return rows if hasattr(rows, "__arrow_c_stream__") else _each_in_time(rows, bounds)

    def hold(self) -> None:
        """End the limits, because a change is being written. Raises LimitError if time is up."""
        if self.bounds is not None:
            if self.bounds.reached is not None:  # a step has passed it over
                raise self.bounds.reached
            self.bounds.check_time()
            self.bounds.over = True

    @property
    def counts(self) -> bool:
        """Whether rows or iterations are limited, so that they must be counted on the way."""
        bounds = self.bounds
        if bounds is None or bounds.over:
            return False
        return bounds.limits.max_rows is not None or bounds.limits.max_iterations is not None

    @property
    def most_rows(self) -> int | None:
        """The most rows that a statement may find; None if there is no limit."""
        return None if self.bounds is None else self.bounds.most_rows

    @contextmanager
    def growing(self, growth: Growth) -> Iterator[None]:
        """Inside the block, what grows are the rules of a hypernode."""
        bounds = self.bounds
        if bounds is None:
            yield
            return
        bounds.growth = growth
        yield
        bounds.growth = None

    def begins_anew(self) -> None:
        """Forget what the rules of a hypernode have derived: they are evaluated from scratch."""
        if self.bounds is not None and self.bounds.growth is not None:
            self.bounds.growth.begins_anew()


def _each_in_time(rows: Iterator[object], bounds: Bounds) -> Iterator[object]:
    for row in rows:
        bounds.check_time()
        yield row


class _Timer(Thread):
    """Interrupts the statements of a call when its time is up."""

    def __init__(self, watch: Watch, bounds: Bounds, deadline: float) -> None:
        super().__init__(name="zodiac-timeout", daemon=True)
        self._watch, self._bounds, self._deadline = watch, bounds, deadline
        self._ended = Event()

    def run(self) -> None:
        pause = max(0.0, self._deadline - time.monotonic())
        while not self._ended.wait(pause):
            if self._bounds.over:
                return
            self._watch.strike(self._watch.number)
            pause = PAUSE

    def end(self) -> None:
        """Let the thread end, and wait for it."""
        self._ended.set()
        if self.ident is not None:
            self.join()
