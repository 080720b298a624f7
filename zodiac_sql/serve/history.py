"""What a server has seen of changes: the last ones, and figures since it began."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from zodiac_sql.errors import ZodiacError

if TYPE_CHECKING:
    from zodiac_sql.change.change import Change

KEPT = 200
"""So many changes are remembered."""


@dataclass(frozen=True, slots=True)
class SeenChange:
    """A change that was published while the server ran."""

    at: float
    """Seconds since 1970."""
    inserted: dict[str, int]
    deleted: dict[str, int]
    seconds: float
    violations: int
    updates: int
    """How many updates of a stream it applied."""
    lag: float | None
    """Of a stream: how long ago, in seconds, its first update had arrived when it was published."""
    waiting: int
    """Of a stream: how many updates waited behind it."""


@dataclass(frozen=True, slots=True)
class Working:
    """A change, or the preview of one, that is being computed."""

    since: float
    """Seconds since 1970."""
    hypernode: str
    """The one that is evaluated; empty before the first."""
    done: int
    """How many are done, of `total`."""
    total: int


@dataclass(slots=True)
class Totals:
    """Sums since the server began."""

    changes: int = 0
    updates: int = 0
    inserted: int = 0
    deleted: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class History:
    """Hears of changes, in the threads that make them."""

    totals: Totals = field(default_factory=Totals)
    working: Working | None = None
    """What is being computed."""
    _last: deque[SeenChange] = field(default_factory=lambda: deque(maxlen=KEPT))
    _lock: Lock = field(default_factory=Lock)

    def hears(self, change: Change) -> None:
        """Note a change."""
        seen = _seen(change)
        with self._lock:
            self._last.append(seen)
            totals = self.totals
            totals.changes += 1
            totals.updates += seen.updates
            totals.inserted += sum(seen.inserted.values())
            totals.deleted += sum(seen.deleted.values())
            totals.seconds += seen.seconds

    def sees(self, at: tuple[str, int, int] | None) -> None:
        """Note what is being computed: a hypernode, how many are done, how many there are."""
        now = self.working
        self.working = None if at is None else Working(now.since if now else time.time(), *at)

    def last(self, count: int = KEPT) -> Sequence[SeenChange]:
        """The last changes, the latest last."""
        with self._lock:
            return tuple(self._last)[-count:]


def _seen(change: Change) -> SeenChange:
    stream = change.stats.stream
    deleted: dict[str, int] = {}
    with suppress(ZodiacError):  # another connection has changed the file before it was asked for
        deleted = dict(change.deleted)
    return SeenChange(
        time.time(),
        dict(change.inserted),
        deleted,
        change.seconds,
        len(change.violations),
        len(change.updates),
        stream.lag if stream else None,
        stream.waiting if stream else 0,
    )
