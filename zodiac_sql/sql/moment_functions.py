"""The functions of dates and times in SQL.

A timestamp is what a clock shows, or, where a time zone is given, an instant in UTC that the clock
of that zone shows otherwise. DuckDB's own way to keep instants, TIMESTAMP WITH TIME ZONE, stands
only inside of an expression: so the time zone of a session never matters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial

from sqlglot import exp

from zodiac_sql.database.clock import now
from zodiac_sql.database.statements import once, text


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _once(build: Callable[..., exp.Expr], *values: exp.Expr) -> exp.Expr:
    return once(values, build, "list_transform", "list_extract")


# --- moving ---------------------------------------------------------------------------------------

_MOST_DAYS, _MOST_SECONDS = 3_660_000, 320_000_000_000
"""More than there are from the year 1 to 9999."""


def _within(moment: exp.Expr) -> exp.Expr:
    """A date or time; no value outside of the years 1 to 9999."""

    def build(moment: exp.Expr) -> exp.Expr:
        low, high = exp.Literal.number(1), exp.Literal.number(9999)
        inside = exp.Between(this=_call("year", moment.copy()), low=low, high=high)
        return exp.case().when(inside, moment)

    return _once(build, moment)


def _moved(value: exp.Expr, by: exp.Expr, most: int, there: Callable[..., exp.Expr]) -> exp.Expr:
    """A date or time moved by an amount."""

    def build(value: exp.Expr, by: exp.Expr) -> exp.Expr:
        limit = exp.Literal.number(most)
        near = exp.Between(this=by.copy(), low=exp.Neg(this=limit), high=limit.copy())
        return exp.case().when(near, there(value.copy(), by.copy()))

    return _within(_once(build, value, by))


def _days_later(value: exp.Expr, days: exp.Expr) -> exp.Expr:
    period = _call("to_days", exp.cast(days, "INT"))
    return exp.paren(exp.Add(this=value, expression=period))


def _seconds_later(value: exp.Expr, seconds: exp.Expr) -> exp.Expr:
    micros = exp.Mul(this=seconds, expression=exp.Literal.number(1_000_000))
    period = _call("to_microseconds", exp.cast(_call("round", micros), "BIGINT"))
    return exp.paren(exp.Add(this=value, expression=period))


# --- distances ------------------------------------------------------------------------------------


def _days_between(a: exp.Expr, b: exp.Expr) -> exp.Expr:
    """How many midnights lie between two moments."""
    return _call("date_diff", text("day"), exp.cast(a, "DATE"), exp.cast(b, "DATE"))


def _micros(value: exp.Expr) -> exp.Expr:
    """The microseconds since 1970 began."""
    return _call("epoch_us", value)


def _in_seconds(micros: exp.Expr) -> exp.Expr:
    million = exp.cast(text("1000000.0"), "DOUBLE")
    return exp.paren(exp.Div(this=exp.paren(exp.cast(micros, "DOUBLE")), expression=million))


# --- days, buckets, texts -------------------------------------------------------------------------


def _instant(value: exp.Expr) -> exp.Expr:
    """A timestamp in UTC as an instant."""
    return _call("timezone", text("UTC"), value)


def _local(value: exp.Expr, zone: exp.Expr | None) -> exp.Expr:
    """What the clock of a zone shows at an instant in UTC."""
    return value if zone is None else _within(_call("timezone", zone.copy(), _instant(value)))


def _day(value: exp.Expr, zone: exp.Expr | None = None) -> exp.Expr:
    return exp.cast(_local(value, zone), "DATE")


def _bucket(interval: exp.Expr, value: exp.Expr, zone: exp.Expr | None = None) -> exp.Expr:
    """When the bucket of a moment begins. DuckDB knows where: in the zone, if there is one."""
    width = exp.cast(interval, "INTERVAL")
    if zone is None:
        return _within(_call("time_bucket", width, value))
    return _within(
        _call("timezone", text("UTC"), _call("time_bucket", width, _instant(value), zone))
    )


def _formatted(value: exp.Expr, form: exp.Expr, zone: exp.Expr | None = None) -> exp.Expr:
    """A moment as text. DuckDB's %z is that of the session's zone, so it is put in between."""
    if zone is None:
        return _call("strftime", value, form)

    def build(value: exp.Expr) -> exp.Expr:
        local = _local(value.copy(), zone)
        ahead = exp.paren(_micros(local.copy()) - _micros(value.copy()))
        pieces = [
            _offset(ahead.copy()) if part == "%z" else _call("strftime", local.copy(), text(part))
            for part in _parts(form.name)
        ]
        whole, *others = pieces
        for piece in others:
            whole = exp.DPipe(this=whole, expression=piece)
        return exp.paren(whole)

    return _once(build, value)


def _parts(form: str) -> list[str]:
    """A format, in which each %z is a part of its own."""
    parts = [""]
    for piece in re.findall(r"%.|[^%]+", form, re.DOTALL):
        if piece == "%z" or parts[-1] == "%z":
            parts.append(piece)
        else:
            parts[-1] += piece
    return [part for part in parts if part]


def _offset(ahead: exp.Expr) -> exp.Expr:
    """Microseconds that a clock is ahead of UTC, as +01:00."""

    def build(ahead: exp.Expr) -> exp.Expr:
        sign = exp.case().when(ahead.copy() < exp.Literal.number(0), text("-")).else_(text("+"))
        minutes = exp.paren(_whole(_call("abs", ahead.copy()), 60_000_000))
        rest = exp.Mod(this=minutes.copy(), expression=exp.Literal.number(60))
        return _call("concat", sign, _two(_whole(minutes, 60)), text(":"), _two(rest))

    return _once(build, ahead)


def _whole(number: exp.Expr, by: int) -> exp.Expr:
    """The whole part of a quotient."""
    return exp.IntDiv(this=number, expression=exp.Literal.number(by))


def _two(number: exp.Expr) -> exp.Expr:
    """A number with at least two digits."""
    return _call("lpad", exp.cast(number, "TEXT"), exp.Literal.number(2), text("0"))


OF_MOMENTS: Mapping[str, Callable[..., exp.Expr]] = {
    "now": now,
    "add_days": lambda a, n: _moved(a, n, _MOST_DAYS, _days_later),
    "add_seconds": lambda a, n: _moved(a, n, _MOST_SECONDS, _seconds_later),
    "days_between": _days_between,
    "seconds_between": lambda a, b: _in_seconds(exp.paren(_micros(b) - _micros(a))),
    "epoch": lambda a: _in_seconds(_micros(a)),
    "date": _day, "time_bucket": _bucket, "format_time": _formatted,
    **{
        name: partial(_call, name)
        for name in ("year", "month", "day", "hour", "minute", "second")
    },
}  # fmt: skip
