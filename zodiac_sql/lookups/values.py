"""The values of facts as SQLite has them.

Rule: a date is the number of days, and a timestamp that of microseconds, since 1970; a decimal is
its text, with all places; all others are as they are. Reason: SQLite has no type for them. It
compares ints as DuckDB compares moments, and texts of decimals are equal where these are; rules
that compute with decimals are left to DuckDB. NaN, infinite moments, and those before the year 1 or
after 9999, are in no copy: SQLite, or Python, has no value for them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.language import decimals
from zodiac_sql.language.syntax import Column, Type

Fact = tuple[Any, ...]

ORDERED = frozenset({Type.INT, Type.FLOAT, Type.DATE, Type.TIMESTAMP})
"""The types whose values SQLite orders as DuckDB does. Symbols are compared by their text."""

MOST_EXACT = 2**53
"""Up to here, each int is a float."""

_FIRST_DAY, _FIRST_MOMENT = date(1970, 1, 1), datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)

_ENCODE: dict[Type, Callable[[Any], object]] = {
    Type.DECIMAL: decimals.digits,
    Type.DATE: lambda day: (day - _FIRST_DAY).days,
    Type.TIMESTAMP: lambda moment: (moment - _FIRST_MOMENT) // _MICROSECOND,
}
_DECODE: dict[Type, Callable[[Any], object]] = {
    Type.BOOL: bool,
    Type.DECIMAL: Decimal,
    Type.DATE: lambda days: _FIRST_DAY + timedelta(days=days),
    Type.TIMESTAMP: lambda moments: _FIRST_MOMENT + moments * _MICROSECOND,
}


def encoded(columns: Sequence[Column], rows: Iterable[Fact]) -> list[Fact] | None:
    """Facts for SQLite. None if one of them has a value that SQLite does not know."""
    found = _converted(_ENCODE, columns, rows)
    floats = (value for row in found for value in row if isinstance(value, float))
    return None if any(map(math.isnan, floats)) else found


def encoded_value(type_: Type, value: object) -> object:
    """A constant for SQLite."""
    return _ENCODE[type_](value) if type_ in _ENCODE else value


def decoded(columns: Sequence[Column], rows: Iterable[Fact]) -> list[Fact]:
    """Facts from SQLite. What they have beyond the columns stays."""
    return _converted(_DECODE, columns, rows)


def _converted(
    converters: dict[Type, Callable[[Any], object]], columns: Sequence[Column], rows: Iterable[Fact]
) -> list[Fact]:
    places = [
        (place, converters[column.type])
        for place, column in enumerate(columns)
        if column.type in converters
    ]
    if not places:
        return [*rows]
    found = []
    for row in rows:
        values = [*row]
        for place, convert in places:
            values[place] = convert(values[place])
        found.append(tuple(values))
    return found


def read_by_duckdb(column: Column, alias: str) -> exp.Expr:
    """A column of a table of facts, as SQLite has its values."""
    value: exp.Expr = exp.column(column.name, table=alias, quoted=True)
    if column.type is Type.DECIMAL:
        return exp.cast(value, "VARCHAR")
    if column.type is Type.TIMESTAMP:
        return exp.Anonymous(this="epoch_us", expressions=[value])
    if column.type is Type.DATE:
        first = exp.cast(exp.Literal.string("1970-01-01"), SQL_TYPES[Type.DATE])
        day = exp.Literal.string("day")
        return exp.Anonymous(this="date_diff", expressions=[day, first, value])
    return value


def is_unknown(column: Column, alias: str) -> exp.Expr | None:
    """Whether SQLite, or Python, does not know a value of a column. None: it knows all."""
    value = exp.column(column.name, table=alias, quoted=True)
    if column.type is Type.FLOAT:
        return exp.IsNan(this=value)
    if column.type in (Type.DATE, Type.TIMESTAMP):
        first, last = (
            exp.cast(exp.Literal.string(day), SQL_TYPES[column.type])
            for day in ("0001-01-01", "9999-12-31")
        )
        return exp.not_(exp.Between(this=value, low=first, high=last))
    return None


# --- values that are computed ---------------------------------------------------------------------


class UnknownValueError(Exception):
    """A value is not known in SQLite, or DuckDB refuses it."""


@dataclass(slots=True)
class Unknown:
    """What came up as Python computed values. SQLite hides its errors."""

    asked: bool = False
    """Whether a value was asked for that is not known."""
    interrupted: bool = False
    refused: bool = False
    """Whether Python has raised an error, as it computed a value, that is no interruption."""

    def value(self, compute: Callable[..., object], *arguments: object) -> object:
        """What is computed, as DuckDB has it: no NaN, no int of more than 64 bits, and no -0.0."""
        try:
            return self._found(compute, *arguments)
        except KeyboardInterrupt:
            self.interrupted = True
            raise
        except Exception:
            self.refused = True
            raise

    def _found(self, compute: Callable[..., object], *arguments: object) -> object:
        try:
            found = compute(*arguments)
        except UnknownValueError:
            found = math.nan
        if isinstance(found, float):
            self.asked = self.asked or math.isnan(found)
            return found + 0.0
        if isinstance(found, int) and not -(2**63) <= found < 2**63:
            self.asked = True
            return None
        return found
