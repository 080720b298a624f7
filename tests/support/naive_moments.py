"""Days, buckets and texts of moments in plain Python, for the naive engine.

Its own reading of the language's page: a timestamp with a zone beside it is an instant in UTC.
"""

from __future__ import annotations

import datetime
import re
from zoneinfo import ZoneInfo

from support.naive_values import NoValue

UTC = datetime.UTC
MONDAY, JANUARY = datetime.datetime(2000, 1, 3), datetime.date(2000, 1, 1)


def shown(moment: datetime.date, zone: str | None) -> datetime.datetime:
    """What a clock in a zone shows; a day is the moment when it begins."""
    if not isinstance(moment, datetime.datetime):
        return datetime.datetime.combine(moment, datetime.time())
    if zone is None:
        return moment
    try:
        return moment.replace(tzinfo=UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    except (OverflowError, ValueError):
        raise NoValue from None


def _instant(clock: datetime.datetime, zone: str | None) -> datetime.datetime:
    if zone is None:
        return clock
    return clock.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC).replace(tzinfo=None)


def day_of(moment: datetime.date, zone: str | None = None) -> datetime.date:
    return shown(moment, zone).date()


def days_between(first: datetime.date, second: datetime.date) -> int:
    """How often a new day begins between the two."""
    return day_of(second).toordinal() - day_of(first).toordinal()


UNITS = {"second": 1, "minute": 60, "hour": 3600}
SHORT = {
    "s": "second", "sec": "second", "secs": "second", "min": "minute", "mins": "minute",
    "h": "hour", "hr": "hour", "hrs": "hour",
}  # fmt: skip


def bucket_of(interval: str, moment: datetime.date, zone: str | None = None) -> datetime.date:
    """When the bucket of a moment begins: months are counted from 2000, all else from a Monday."""
    number, word = interval.split()
    count, unit = int(number), SHORT.get(word) or word.rstrip("s")
    try:
        begin = _begin(count, unit, moment, zone)
    except (OverflowError, ValueError):
        raise NoValue from None
    return begin if isinstance(moment, datetime.datetime) else begin.date()


def _begin(count: int, unit: str, moment: datetime.date, zone: str | None) -> datetime.datetime:
    clock = shown(moment, zone)
    if unit in UNITS:  # they are as long on the day when a clock is changed
        since, width = _instant(MONDAY, zone), datetime.timedelta(seconds=count * UNITS[unit])
        now = _instant(clock, None) if zone is None else moment
        assert isinstance(now, datetime.datetime)
        return since + (now - since) // width * width
    if unit in ("day", "week"):
        width = datetime.timedelta(days=count * (7 if unit == "week" else 1))
        return _instant(MONDAY + (clock - MONDAY) // width * width, zone)
    months = count * (12 if unit == "year" else 1)
    number = ((clock.year - JANUARY.year) * 12 + clock.month - 1) // months * months
    first = datetime.datetime(JANUARY.year + number // 12, number % 12 + 1, 1)
    return _instant(first, zone)


def formatted(moment: datetime.date, form: str, zone: str | None = None) -> str:
    clock = shown(moment, zone)
    return re.sub("%(-?.)", lambda found: _piece(found[1], moment, clock), form)


def _piece(directive: str, moment: datetime.date, clock: datetime.datetime) -> str:
    if directive[0] == "-":
        return _piece(directive[1], moment, clock).lstrip("0") or "0"
    if directive == "z":
        assert isinstance(moment, datetime.datetime)
        seconds = round((clock - moment).total_seconds())
        minutes = abs(seconds) // 60
        return f"{'-' if seconds < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}"
    if directive in "YG":
        return f"{clock.year if directive == 'Y' else clock.isocalendar().year:04}"
    return clock.strftime(f"%{directive}")
