"""What windows keep, in plain Python: our own reading of what README.md says of them."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

Row = tuple[Any, ...]


@dataclass(frozen=True)
class ModelWindow:
    """A window of a predicate: the place of the time, and what it keeps. Seconds are exact."""

    text: str
    place: int
    lifetime: Fraction | None = None
    count: int | None = None
    groups: tuple[int, ...] = ()
    events: bool = False
    late: Fraction = Fraction(0)


def seconds(value: object) -> Fraction | None:
    """A time as seconds since 1970, to the microsecond below; None for NaN."""
    if isinstance(value, datetime.datetime):
        value = value if value.tzinfo else value.replace(tzinfo=datetime.UTC)
        delta = value - datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
        return delta.days * 86400 + delta.seconds + Fraction(delta.microseconds, 10**6)
    if isinstance(value, datetime.date):
        return Fraction((value - datetime.date(1970, 1, 1)).days * 86400)
    assert isinstance(value, int | float | Decimal)
    return None if math.isnan(value) else Fraction(value)


@dataclass
class WindowModel:
    """The explicit facts of a predicate with windows, as changes come."""

    windows: list[ModelWindow] = field(default_factory=list)
    facts: set[Row] = field(default_factory=set)
    clock: Fraction | None = None
    seen: dict[int, Fraction] = field(default_factory=dict)
    """The latest event by the place of its time, since a window asks for it."""

    def change(
        self,
        inserts: Iterable[Row] = (),
        deletes: Iterable[Row] = (),
        now: object = None,
        windows: Sequence[ModelWindow] | None = None,
    ) -> None:
        """One update of all that it says."""
        inserts = set(inserts)
        if windows is not None:
            for window in windows:
                if window.events and window not in self.windows:
                    self._see(window.place, self.facts)
            self.windows = list(windows)
        if now is not None:
            self.clock = seconds(now)
        for window in self.windows:
            if window.events:
                self._see(window.place, inserts)
        facts = (self.facts - set(deletes)) | inserts
        for window in self.windows:
            if window.lifetime is not None:
                facts = {row for row in facts if self._is_young(window, row)}
        out = {
            row for w in self.windows if w.count is not None
            for row in facts if self._is_outnumbered(w, row, facts)
        }  # fmt: skip
        self.facts = facts - out

    def _see(self, place: int, rows: Iterable[Row]) -> None:
        times = [time for row in rows if (time := seconds(row[place])) is not None]
        if times:
            latest = Fraction(math.floor(max(times) * 10**6), 10**6)
            self.seen[place] = max(self.seen.get(place, latest), latest)

    def _is_young(self, window: ModelWindow, row: Row) -> bool:
        now = self.seen.get(window.place) if window.events else self.clock
        time = seconds(row[window.place])
        assert window.lifetime is not None
        if now is None or time is None:
            return True
        return time > now - (window.late if window.events else 0) - window.lifetime

    @staticmethod
    def _is_outnumbered(window: ModelWindow, row: Row, facts: set[Row]) -> bool:
        group = [row[place] for place in window.groups]
        mine = seconds(row[window.place])
        assert mine is not None and window.count is not None
        others = [
            time for other in facts if [other[place] for place in window.groups] == group
            if (time := seconds(other[window.place])) is not None and time > mine
        ]  # fmt: skip
        return len(others) >= window.count
