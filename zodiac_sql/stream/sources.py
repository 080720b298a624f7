"""Where updates come from, and which have arrived, i.e. can be taken without waiting."""

from __future__ import annotations

import stat
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Protocol

from zodiac_sql.errors import DataError
from zodiac_sql.paths import impossible
from zodiac_sql.stream.channel import Channel, UpdateQueue
from zodiac_sql.stream.updates import Item

AHEAD = 100
"""How many updates are read ahead from a source that may block, if no `queue` is given."""


class UpdateSource(Protocol):
    """Gives updates in their order."""

    def next(self) -> Item | None:
        """Wait for the next update and take it; None at the end. Raises the source's errors."""

    def wait(self, seconds: float) -> bool:
        """Wait at most so long until `next` would not wait. Returns whether it would not."""

    def ahead(self) -> Item | None:
        """The next update if it has arrived, without taking it. Raises nothing."""

    def put_back(self, items: Iterable[Item]) -> None:
        """Put updates back, so that they are the next ones again."""

    def waiting(self) -> int:
        """How many updates have arrived and are not taken yet."""


class Asked:
    """An iterator that is asked for an update only when it is needed; none arrives earlier."""

    def __init__(self, items: Iterator[Item]) -> None:
        self._items = items
        self._here: deque[Item] = deque()

    def wait(self, seconds: float) -> bool:
        return True

    def next(self) -> Item | None:
        return self._here.popleft() if self._here else next(self._items, None)

    def ahead(self) -> Item | None:
        return self._here[0] if self._here else None

    def put_back(self, items: Iterable[Item]) -> None:
        self._here.extendleft(reversed(list(items)))

    def waiting(self) -> int:
        return len(self._here)


class AtRest(Asked):
    """A file or sequence of `total` updates: all of them had arrived when the stream began."""

    def __init__(self, items: Iterator[Item], total: Callable[[], int]) -> None:
        super().__init__(items)
        self._total = total
        self._read = 0
        self._begun = time.perf_counter()
        self._error: BaseException | None = None

    def next(self) -> Item | None:
        if self.ahead() is None and self._error is not None:
            raise self._error
        return super().next()

    def ahead(self) -> Item | None:
        if not self._here and self._error is None:
            try:
                item = next(self._items, None)
            except Exception as error:  # noqa: BLE001 (`next` raises it after the earlier updates)
                self._error = error
            else:
                if item is not None:
                    item.arrived = self._begun
                    self._read += 1
                    self._here.append(item)
        return super().ahead()

    def waiting(self) -> int:
        return max(0, self._total() - self._read) + len(self._here)


@contextmanager
def opened(updates: object, queue: int | None, ticks: bool = False) -> Iterator[UpdateSource]:
    """Open the source of some updates, and close it at the end. Raises DataError if it is none.

    With `ticks`, what is not at rest is read ahead, so that nobody waits for it when time is up.
    """
    if isinstance(updates, UpdateQueue):
        yield updates.channel
    elif queue is not None or _must_be_waited_for(updates) or (ticks and not _is_at_rest(updates)):
        channel = Channel(queue or AHEAD)
        # The thread is a daemon, because nothing can wake it while it waits for a terminal or pipe.
        reader = threading.Thread(
            target=_read_ahead, args=(_items(updates), channel), name="zodiac-stream", daemon=True
        )
        reader.start()
        try:
            yield channel
        finally:
            channel.end()  # wakes the reader
    elif isinstance(updates, str | Path):
        with closing(_lines_of(updates)) as items:
            yield AtRest(items, _constant(_count(updates)))
    elif isinstance(updates, Sequence):
        yield AtRest(_items(updates), lambda: len(updates))
    else:
        yield Asked(_items(updates))


def require_source(updates: object, queue: int | None) -> None:
    """Raise DataError or ValueError if `updates` is not a source of updates."""
    if isinstance(updates, UpdateQueue):
        if queue is not None:
            raise ValueError("an UpdateQueue has a size of its own: leave `queue` out")
    elif isinstance(updates, str | Path):
        if said := impossible(updates):
            raise DataError(f"{updates} {said}.")
        if not Path(updates).exists():
            raise DataError(f"{updates}: there is no such file.")
        if Path(updates).is_dir():
            raise DataError(f"{updates} is not a file of JSON lines, but a directory.")
    elif isinstance(updates, Mapping | bytes) or not (
        isinstance(updates, Iterable) or hasattr(updates, "__aiter__")
    ):
        raise DataError(
            f"a {type(updates).__name__} is not a stream of updates. That is an iterable of "
            "updates, asynchronous or not, a file of JSON lines, or an UpdateQueue."
        )


def _constant(number: int) -> Callable[[], int]:
    return lambda: number


def _is_at_rest(updates: object) -> bool:
    """Whether all updates are there already."""
    return isinstance(updates, str | Path | Sequence)


def _must_be_waited_for(updates: object) -> bool:
    """Whether lines come from a terminal, a pipe, or a file that the caller has opened."""
    if isinstance(updates, str | Path):
        return not stat.S_ISREG(Path(updates).stat().st_mode)
    return hasattr(updates, "readline")


def _read_ahead(items: Iterator[Item], channel: Channel) -> None:
    """Put items into a channel until the channel or the items end."""
    try:
        while channel.room():
            item = next(items, None)
            if item is None or not channel.put(item):
                break
    except BaseException as error:  # noqa: BLE001 (raised by `next`)
        channel.end(error)
    else:
        channel.end()


# --- items ----------------------------------------------------------------------------------------


def _items(updates: Any) -> Iterator[Item]:
    if isinstance(updates, str | Path):
        return _lines_of(updates)
    if hasattr(updates, "readline"):
        return _lines(updates, str(getattr(updates, "name", "<text>")))
    return map(Item, updates)


def _lines_of(path: str | Path) -> Generator[Item, None, None]:
    """The lines of a file, as bytes, so that a line that is not UTF-8 is refused alone."""
    with open(path, "rb") as file:
        yield from _lines(file, str(path))


def _lines(file: Iterable[str | bytes], name: str) -> Iterator[Item]:
    for number, line in enumerate(file, 1):
        if not _is_blank(line):
            yield Item(line, f"{name}:{number}")


def _count(path: str | Path) -> int:
    """How many lines of a file are not blank."""
    with open(path, "rb") as file:
        return sum(not _is_blank(line) for line in file)


def _is_blank(line: str | bytes) -> bool:
    """Whether a line is no update: it has nothing but spaces, and perhaps a byte order mark."""
    rest = line.strip()
    return not rest or rest in ("\ufeff", b"\xef\xbb\xbf")
