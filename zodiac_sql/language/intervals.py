"""The intervals of time_bucket, as rules write them: a whole number and a unit, "15 minutes"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_MICROSECONDS: Mapping[str, int] = {
    "second": 1_000_000, "minute": 60_000_000, "hour": 3_600_000_000,
    "day": 86_400_000_000, "week": 604_800_000_000,
}  # fmt: skip
_MONTHS: Mapping[str, int] = {"month": 1, "year": 12}
_SHORT: Mapping[str, str] = {
    **dict.fromkeys(("s", "sec", "secs"), "second"), **dict.fromkeys(("min", "mins"), "minute"),
    **dict.fromkeys(("h", "hr", "hrs"), "hour"),
}  # fmt: skip
"""What DuckDB reads, too. An m may be a minute or a month, and is neither."""

_WRITTEN = re.compile(r"([1-9][0-9]{0,9}) ([a-z]+)")

MOST_YEARS = 100
"""No interval is longer."""

_DAY = _MICROSECONDS["day"]


@dataclass(frozen=True, slots=True)
class Interval:
    """The length of a bucket: a number of months, or else of microseconds."""

    months: int
    microseconds: int


def interval_of(text: str) -> Interval:
    """The interval that a text writes. Raises ValueError if it writes none."""
    found = _WRITTEN.fullmatch(text)
    if found is None:
        raise ValueError(text)
    count, unit = int(found[1]), _SHORT.get(found[2], found[2].removesuffix("s"))
    if unit not in {*_MICROSECONDS, *_MONTHS}:
        raise ValueError(text)
    interval = Interval(count * _MONTHS.get(unit, 0), count * _MICROSECONDS.get(unit, 0))
    if interval.months > 12 * MOST_YEARS or interval.microseconds > MOST_YEARS * 365 * _DAY:
        raise ValueError(text)
    return interval
