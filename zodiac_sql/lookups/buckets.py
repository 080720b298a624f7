"""The beginnings of the buckets of time_bucket, by numbers: microseconds since 1970."""

from __future__ import annotations

from datetime import date, datetime, timedelta

_FIRST = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)
_LEAST = (datetime.min - _FIRST) // _MICROSECOND
_ORIGIN = (datetime(2000, 1, 3) - _FIRST) // _MICROSECOND
"""A Monday, from which DuckDB counts buckets of weeks, days, hours, minutes and seconds."""

_A_DAY = timedelta(days=1) // _MICROSECOND


def bucket_begin(months: int, microseconds: int, moment: int) -> int | None:
    """When the bucket of a moment begins; None if that is before the year 1.

    The width of a bucket is a number of months, counted from January 2000, or of microseconds.
    """
    if not months:
        begin = moment - (moment - _ORIGIN) % microseconds
        return begin if begin >= _LEAST else None
    day = (_FIRST + moment * _MICROSECOND).date()
    number = (day.year - 2000) * 12 + day.month - 1
    number -= number % months
    year, month = 2000 + number // 12, number % 12 + 1
    return (date(year, month, 1) - _FIRST.date()).days * _A_DAY if year >= 1 else None
