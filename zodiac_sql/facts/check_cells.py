"""Refuses rows with an empty cell, or with a value that would change when it becomes a fact's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.statements import temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError
from zodiac_sql.facts.columns import WIDE_INTEGERS, SourceColumn, in_utc
from zodiac_sql.language.decimals import ROOM
from zodiac_sql.language.syntax import Type
from zodiac_sql.names import NUMBER

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
    is_number = column.kind in WIDE_INTEGERS or column.kind == "DECIMAL"
    if is_number and (column.type is Type.ANY or column.only_exact):
        return faults  # each number is kept as it is, or is none of the column
    if column.kind in WIDE_INTEGERS:
        faults.append(_Fault(column, _beyond(column), *_WIDE))
    elif column.kind == "DECIMAL" and column.type is Type.DECIMAL:
        if column.may_be_beyond:
            faults.append(_Fault(column, _beyond(column), *_NO_ROOM))
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


def _beyond(column: SourceColumn) -> exp.Expr:
    """Whether a number has more than 64 bits, or is a decimal without room."""
    value = exp.column(column.source, quoted=True)
    if column.kind in WIDE_INTEGERS:
        return _lost(value, _try_cast(value, "BIGINT").is_(exp.null()))
    made = _try_cast(_try_cast(value, SQL_TYPES[Type.DECIMAL]), column.source_type)
    return _lost(value, exp.NullSafeNEQ(this=made, expression=value))


def with_terms(
    store: Store, source: str, columns: Sequence[SourceColumn]
) -> Sequence[SourceColumn]:
    """Columns of a temporary table, of terms where a number has no room in a native column."""
    doubtful = [
        column
        for column in columns
        if column.may_be_beyond and column.type in (Type.INT, Type.DECIMAL) and not column.declared
    ]
    if not doubtful:
        return columns
    counts = [exp.func("count_if", _beyond(column), dialect="duckdb") for column in doubtful]
    (found,) = store.rows(exp.select(*counts).from_(temp_table(source)))
    wide = [column for column, count in zip(doubtful, found, strict=True) if count]
    return [replace(c, type=Type.ANY) if c in wide else c for c in columns]


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
