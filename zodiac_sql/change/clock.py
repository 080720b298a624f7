"""What verbs say of time: where the clock is, and which windows a predicate has."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from math import isnan

from zodiac_sql.errors import Problem, ProgramError, QueryError
from zodiac_sql.language.parse import parse
from zodiac_sql.language.syntax import Window
from zodiac_sql.program.clock import machine_time

Moment = datetime.date | float | Decimal
"""A moment, with or without a zone; a day, which is its midnight; or seconds since 1970."""

_START = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MICROSECOND = datetime.timedelta(microseconds=1)
FIRST = (datetime.datetime.min.replace(tzinfo=datetime.UTC) - _START) // _MICROSECOND
LAST = (datetime.datetime.max.replace(tzinfo=datetime.UTC) - _START) // _MICROSECOND
"""The first and the last moment that there are, as microseconds since 1970."""


def clock_at(now: Moment | None) -> int:
    """A time as microseconds since 1970. Raises QueryError."""
    if now is None:
        return machine_time()
    if isinstance(now, datetime.date):
        return micros_of(now)
    if isinstance(now, bool) or not isinstance(now, int | float | Decimal):
        raise QueryError(f"the clock is at a datetime, or seconds since 1970, not at {now!r}")
    if isnan(now) or not FIRST <= Decimal(now) * 1_000_000 <= LAST:
        raise QueryError(f"{now} seconds since 1970 are not between the years 1 and 9999")
    return int(Decimal(now) * 1_000_000 // 1)


def micros_of(moment: datetime.date) -> int:
    """A moment as microseconds since 1970; a day is its midnight, and no zone is UTC."""
    if not isinstance(moment, datetime.datetime):
        moment = datetime.datetime.combine(moment, datetime.time())
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    return (moment - _START) // _MICROSECOND


def moment_of(micros: int) -> datetime.datetime:
    """The moment in UTC, without a zone."""
    return _START.replace(tzinfo=None) + micros * _MICROSECOND


def windows_of(predicate: str, windows: Iterable[str]) -> list[Window]:
    """Windows from what stands in their parentheses. Raises ProgramError."""
    found = []
    for said in windows:
        program = parse(f".window p({said}).", "<window>")
        if len(program.windows) != 1 or program.rules or program.facts or program.declarations:
            raise ProgramError([Problem(f"this is not one window: {said}")])
        found.append(replace(program.windows[0], predicate=predicate, span=None))
    return found
