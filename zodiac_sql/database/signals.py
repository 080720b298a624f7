"""Ctrl-C while a statement runs in the main thread.

Python's own handler runs only when DuckDB returns. But Python can write a byte to a socket at the
moment of a signal (`signal.set_wakeup_fd`): a thread waits for it, and interrupts the statement.
Then Python's handler runs, and raises KeyboardInterrupt.

Rule: the socket is in place only during a call, and only if the handler of Ctrl-C is one that
raises. Reason: whoever has another handler may want to go on. Bytes for whoever had a socket before
us, such as an event loop, are passed on.

The thread starts with the first call in the main thread, and ends when no knowledge base is open.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol
from weakref import WeakSet

PAUSE = 0.02
"""Seconds from one interruption of a statement to the next."""

RAISING: set[Callable[..., Any]] = {signal.default_int_handler}
"""The handlers of Ctrl-C that raise KeyboardInterrupt."""


class Watched(Protocol):
    """What is needed of a watch (watch.py)."""

    @property
    def number(self) -> int: ...

    def strike(self, number: int) -> bool: ...


def listen(watch: Watched) -> None:
    """A call begins: interrupt its statements at Ctrl-C, if this is the main thread."""
    if threading.get_ident() != threading.main_thread().ident:
        return
    if signal.getsignal(signal.SIGINT) not in RAISING:
        return
    global _ears
    if _ears is None or _ears.process != os.getpid():
        _ears = _Ears()
    _ears.watches.add(watch)
    _ears.watch = watch
    before = signal.set_wakeup_fd(_ears.written.fileno(), warn_on_full_buffer=False)
    if before != _ears.written.fileno():
        _ears.before = before


def begins(watch: Watched) -> None:
    """A statement begins: a Ctrl-C that came before it must not strike it.

    Python's own handler has raised KeyboardInterrupt for that one, or does so before DuckDB begins.
    What runs now may be what puts all in order after it, or belong to another call.
    """
    if _ears is not None and _ears.watch is watch:
        _ears.take()


def hush(watch: Watched) -> None:
    """The call has ended."""
    ears = _ears
    if ears is None or ears.watch is not watch:
        return
    if threading.get_ident() != threading.main_thread().ident:
        return
    ears.watch = None
    ears.leave()


def forget(watch: Watched) -> None:
    """A knowledge base is closed. With the last one, the thread ends."""
    global _ears
    ears = _ears
    if ears is None or ears.process != os.getpid():
        return
    ears.watches.discard(watch)
    is_main = threading.get_ident() == threading.main_thread().ident
    if is_main and not ears.watches and ears.watch is None:
        ears.leave()  # an interruption may have kept `hush` from it
        _ears = None
        ears.close()


@dataclass(slots=True)
class _Ears:
    """The socket that signals are written to, and the thread that waits for them."""

    process: int = field(default_factory=os.getpid)
    watch: Watched | None = None
    """That of the call in progress."""
    watches: WeakSet[Watched] = field(default_factory=WeakSet)
    """Those of open knowledge bases."""
    before: int = -1
    """The socket that was in place before ours, or -1."""
    written: socket.socket = field(init=False)
    read: socket.socket = field(init=False)
    thread: threading.Thread = field(init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.read, self.written = socket.socketpair()
        self.read.setblocking(False)
        self.written.setblocking(False)
        self.thread = threading.Thread(target=self._wait, name="zodiac-interrupts", daemon=True)
        self.thread.start()

    def _wait(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self.read, selectors.EVENT_READ)
            while selector.select():
                signals, watch, number = self.take()
                if signals == b"":
                    return
                if signals and watch is not None and signal.SIGINT in signals:
                    while watch.strike(number):
                        time.sleep(PAUSE)

    def take(self) -> tuple[bytes | None, Watched | None, int]:
        """The signals that have come, and the statement that ran, or ran last, by then.

        They are None if there are none, and empty when the socket has been closed.
        """
        with self._lock:  # else a statement could begin between the two
            try:
                signals = self.read.recv(64)
            except BlockingIOError:
                return None, None, 0
            if signals and self.before != -1:
                with suppress(OSError):
                    os.write(self.before, signals)
            watch = self.watch
            return signals, watch, watch.number if watch is not None else 0

    def leave(self) -> None:
        """Put the socket in place that was there before."""
        now = signal.set_wakeup_fd(self.before)
        if now != self.written.fileno():  # somebody else has put one there meanwhile
            signal.set_wakeup_fd(now)

    def close(self) -> None:
        self.written.close()
        self.thread.join()
        self.read.close()


_ears: _Ears | None = None
