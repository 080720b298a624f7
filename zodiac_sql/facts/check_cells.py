"""Refuses rows with an empty cell, or with a value that would change when it becomes a fact's."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.statements import temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError
from zodiac_sql.facts.columns import SourceColumn, in_utc
from zodiac_sql.language.decimals import BEFORE, PLACES, ROOM
from zodiac_sql.language.syntax import Type
from zodiac_sql.names import NUMBER

_WIDE_INTEGERS = ("UBIGINT", "HUGEINT", "UHUGEINT")
"""Types of integers that may be beyond 64 bits."""

Place = Callable[[int], str]
"""The name in messages of the row with this number (from 1): `row 3`, or a line of a file."""


def _numbered(source: str, numbered: bool) -> exp.Expr:
    """A temporary table with a number for each row, in a column whose name none of its own has.

    It may be `numbered` already.
    """
    if numbered:
        return temp_table(source)
    number = exp.Window(this=exp.RowNumber()).as_(NUMBER, quoted=True)
    return exp.select("*", number).from_(temp_table(source)).subquery("n", copy=False)


@dataclass(frozen=True, slots=True)
class _Fault:
    """A fault that a cell of a column can have.

    `condition` is false for empty cells, except for the fault of being empty. In the error, `said`
    follows the value; `hint` says what would be right.
    """

    column: SourceColumn
    condition: exp.Expr
    said: str
    hint: str


def _faults(column: SourceColumn) -> list[_Fault]:
    """All faults that cells of a column can have, given the type that they come with."""
    value = exp.column(column.source, quoted=True)
    faults = [_Fault(column, value.is_(exp.null()), "", _NOT_EMPTY)]
    if column.type is Type.ANY and (column.kind in _WIDE_INTEGERS or column.kind == "DECIMAL"):
        return faults  # each number is kept as it is
    if column.kind in _WIDE_INTEGERS:
        fits = _try_cast(value, "BIGINT")
        faults.append(_Fault(column, _lost(value, fits.is_(exp.null())), *_WIDE))
    elif column.kind == "DECIMAL" and column.type is Type.DECIMAL:
        if _has_room(column.source_type):
            return faults
        made = _try_cast(_try_cast(value, SQL_TYPES[Type.DECIMAL]), column.source_type)
        changed = exp.NullSafeNEQ(this=made, expression=value)
        faults.append(_Fault(column, _lost(value, changed), *_NO_ROOM))
    elif column.kind == "DECIMAL":
        double = exp.cast(exp.cast(value, "VARCHAR"), "DOUBLE")
        back = _try_cast(exp.cast(double, "VARCHAR"), column.source_type)
        changed = exp.NullSafeNEQ(this=back, expression=value)
        faults.append(_Fault(column, _lost(value, changed), *_ROUNDED))
    elif column.kind == "DATE" or column.kind.startswith("TIMESTAMP"):
        moment = in_utc(value) if column.source_type == "TIMESTAMP WITH TIME ZONE" else value
        year = exp.func("year", exp.func("try", moment, dialect="duckdb"), dialect="duckdb")
        known = exp.func("coalesce", year, exp.Literal.number(0))  # infinity has no year
        outside = exp.Between(
            this=known, low=exp.Literal.number(1), high=exp.Literal.number(9999)
        ).not_()
        faults.append(_Fault(column, _lost(value, outside), *_NO_YEAR))
    return faults


def _has_room(source_type: str) -> bool:
    """Whether each value of DECIMAL(width, places) is a decimal of ours."""
    width, places = map(int, re.findall("[0-9]+", source_type))
    return places <= PLACES and width - places <= BEFORE


def _lost(value: exp.Expr, condition: exp.Expr) -> exp.Expr:
    """Whether there is a value, and it meets the condition under which it would change."""
    return exp.and_(value.is_(exp.null()).not_(), condition)


def _try_cast(value: exp.Expr, type_: str) -> exp.Expr:
    return exp.TryCast(this=value.copy(), to=exp.DataType.build(type_, dialect="duckdb"))


_NOT_EMPTY = (
    "Every column of a fact has a value: fill the cell, or leave the row out, "
    "by hand or by `nulls`."
)

_WIDE = (
    "which is beyond 64 bits",
    "Use floating-point numbers, or declare the column as symbol, which keeps its text.",
)

_ROUNDED = (
    "which would be rounded",
    "Floats have 64 bits: round it first, or declare the column as symbol, which keeps its text.",
)

_NO_ROOM = (
    "which has no room",
    f"{ROOM.capitalize()}: round it first, or declare the column as symbol, which keeps its text.",
)

_NO_YEAR = ("which is no day of the years 1 to 9999", "Correct it, or leave the row out.")


def check_cells(
    store: Store,
    predicate: str,
    source: str,
    columns: Sequence[SourceColumn],
    place: Place,
    numbered: bool = False,
) -> None:
    """Refuse empty cells and values that would change. It takes one scan if all is well.

    Raises DataError naming the first row.
    """
    faults = [fault for column in columns for fault in _faults(column)]
    number = exp.column(NUMBER, quoted=True)
    rows = [exp.case().when(fault.condition, number) for fault in faults]
    found = store.rows(
        exp.select(
            *(exp.func("min", row) for row in rows), *(exp.func("count", row) for row in rows)
        ).from_(_numbered(source, numbered))
    )[0]
    first = [row for row in found[: len(faults)] if row is not None]
    if not first:
        return
    at = found.index(min(first))
    fault, count = faults[at], found[len(faults) + at]
    where = f"{predicate}: column {fault.column.source}"
    more = f" (and {count - 1} more)" if count > 1 else ""
    if not fault.said:
        said = f"is empty (NULL) in {place(min(first))}{more}"
    else:
        value = exp.cast(exp.column(fault.column.source, quoted=True), "VARCHAR")
        mine = number.eq(exp.Literal.number(min(first)))
        one = exp.select(value).from_(_numbered(source, numbered)).where(mine, fault.condition)
        ((text,), *_) = store.rows(one)  # a list may have made several rows of this number
        said = f"holds {text} in {place(min(first))}{more}, {fault.said}"
    raise DataError(f"{where} {said}. {fault.hint}")
