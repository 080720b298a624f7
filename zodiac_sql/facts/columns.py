"""The columns of rows from outside, and the name and type that each gets in the predicate."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES, TEXT_TYPES
from zodiac_sql.database.statements import temp_table, without_sign_of_zero
from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError
from zodiac_sql.facts.arrow_types import unsupported
from zodiac_sql.facts.native_text import decimal_term, term_text, whole_number
from zodiac_sql.language.decimals import BEFORE, PLACES, is_widened, widest_number
from zodiac_sql.language.schema import Predicate, default_columns
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.language.zones import ZONED
from zodiac_sql.names import NUMBER

if TYPE_CHECKING:
    import pyarrow as pa

_TYPES = {
    **dict.fromkeys(
        ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER",
         "UBIGINT", "HUGEINT", "UHUGEINT"), Type.INT),
    "DECIMAL": Type.DECIMAL,
    **dict.fromkeys(("FLOAT", "DOUBLE"), Type.FLOAT),
    "BOOLEAN": Type.BOOL,
    "DATE": Type.DATE,
    **dict.fromkeys(
        ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS",
         "TIMESTAMP WITH TIME ZONE"), Type.TIMESTAMP),
    **dict.fromkeys(("VARCHAR", "ENUM", "UUID"), Type.SYMBOL),
}  # fmt: skip
"""DuckDB's type of a column from outside, without its parameters -> the type of its values."""

WIDE_INTEGERS = ("UBIGINT", "HUGEINT", "UHUGEINT")
"""Types of integers that may be beyond 64 bits."""


def plain_columns(
    data: object, numbered: bool = False, terms: Collection[str] = ()
) -> list[SourceColumn] | None:
    """The columns of an Arrow table if no cell is empty and no type needs a check; else None.

    If it is `numbered`, NUMBER is none of them. Columns of `terms` are of all kinds.
    """
    import pyarrow as pa

    if not isinstance(data, pa.Table):
        return None
    columns = []
    for field, values in zip(data.schema, data.columns, strict=True):
        if numbered and field.name == NUMBER:
            continue
        known = _PLAIN_TYPES.get(str(field.type))
        if known is None or values.null_count or not _in_calendar(values):
            return None
        type_ = Type.ANY if field.name in terms else _TYPES[_kind(known)]
        columns.append(SourceColumn(field.name, known, field.name, type_))
    return columns


def _in_calendar(values: pa.ChunkedArray) -> bool:
    """Whether these values, if they are dates or timestamps, are of the years 1 to 9999."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_date32(values.type):
        scale, number = 1, pa.int32()
    elif pa.types.is_timestamp(values.type):
        scale, number = 86_400_000_000, pa.int64()
    else:
        return True
    ends = pc.min_max(values.cast(number)).as_py()
    low, high = ends["min"], ends["max"]
    return low is None or (low >= _FIRST_DAY * scale and high < (_LAST_DAY + 1) * scale)


_FIRST_DAY, _LAST_DAY = ((day - date(1970, 1, 1)).days for day in (date.min, date.max))

_PLAIN_TYPES = {
    "int64": "BIGINT", "decimal128(38, 18)": SQL_TYPES[Type.DECIMAL], "double": "DOUBLE",
    "bool": "BOOLEAN", "date32[day]": "DATE", "timestamp[us]": "TIMESTAMP",
    "string": "VARCHAR", "large_string": "VARCHAR",
}  # fmt: skip
"""Arrow's types whose values stay as they are in DuckDB -> DuckDB's."""


@dataclass(frozen=True, slots=True)
class SourceColumn:
    """A column of rows from outside, and the name and type that it gets.

    Of a column of terms of all kinds it is told whether it was `declared`. Timestamps without a
    zone stand for an instant if they are `is_instant`. `only_exact`: a number that is none of its
    type becomes NULL.
    """

    source: str
    source_type: str
    name: str
    type: Type | None
    declared: bool = False
    is_instant: bool = False
    only_exact: bool = False

    @property
    def kind(self) -> str:
        """The type in DuckDB, without its parameters."""
        return _kind(self.source_type)

    @property
    def is_zoned(self) -> bool:
        """Whether its values are instants."""
        return self.source_type == "TIMESTAMP WITH TIME ZONE"

    @property
    def may_be_beyond(self) -> bool:
        """Whether its numbers may have more than 64 bits, or be decimals that have no room."""
        if self.kind != "DECIMAL":
            return self.kind in WIDE_INTEGERS
        width, places = map(int, re.findall("[0-9]+", self.source_type))
        return places > PLACES or width - places > BEFORE

    @property
    def datatype(self) -> str | None:
        """The entry in Predicate.datatypes of a native column with these values."""
        is_zoned = self.is_zoned or self.is_instant
        return ZONED if is_zoned and self.type is Type.TIMESTAMP and not self.declared else None

    def cast(self) -> exp.Expr:
        """The column's value as text, or as a value of its type."""
        value: exp.Expr = exp.column(self.source, quoted=True)
        if self.type is Type.ANY:
            return self._term(value)
        if self.is_zoned:
            value = in_utc(value)
        elif self.kind == "DECIMAL" and self.type is not Type.DECIMAL:
            # DuckDB's direct cast to a double divides by a power of ten, which rounds twice.
            value = exp.cast(value, "VARCHAR")
        if self.only_exact and self.kind == "DECIMAL" and self.type is Type.DECIMAL:
            made = exp.TryCast(this=value, to=exp.DataType.build(TEXT_TYPES[self.type]))
            again = exp.TryCast(this=made.copy(), to=exp.DataType.build(self.source_type))
            return exp.case().when(again.eq(value.copy()), made.copy())
        if self.only_exact and self.type is Type.INT:
            exact = self.kind in WIDE_INTEGERS or self.kind == "DECIMAL"
            source: exp.Expr = exp.column(self.source, quoted=True)
            return whole_number(source if exact else exp.cast(source, "DOUBLE"))
        if self.only_exact and Type.DECIMAL in (self.type, _TYPES.get(self.kind)):
            return self._exact_decimal(value)
        if self.only_exact:
            is_same = exp.cast(exp.cast(value, "DOUBLE"), "HUGEINT").eq(exp.cast(value, "HUGEINT"))
            value = exp.case().when(is_same, value.copy())
        value = exp.cast(value, TEXT_TYPES[self.type] if self.type else "INTEGER")
        return without_sign_of_zero(value) if self.type is Type.FLOAT else value

    def _exact_decimal(self, value: exp.Expr) -> exp.Expr:
        """A number of a column of decimals as a float, or the other way; NULL if it is none."""
        assert self.type is not None
        to, back = (
            exp.DataType.build(TEXT_TYPES[type_], dialect="duckdb")
            for type_ in (self.type, Type.FLOAT if self.type is Type.DECIMAL else Type.DECIMAL)
        )
        written = exp.cast(value, "VARCHAR")
        made = exp.TryCast(this=written, to=to)
        again = exp.TryCast(this=exp.cast(made.copy(), "VARCHAR"), to=back)
        there = exp.TryCast(this=written.copy(), to=back.copy())
        return exp.case().when(again.eq(there), made.copy())

    def _term(self, value: exp.Expr) -> exp.Expr:
        """The text of the term that a value is."""
        native = _TYPES.get(self.kind, Type.SYMBOL)
        if native is Type.SYMBOL:
            return exp.cast(value, "VARCHAR")
        if self.kind == "DECIMAL":
            return decimal_term(value, self.declared)
        if self.is_zoned or self.is_instant:
            moment = in_utc(value) if self.is_zoned else value
            return term_text(moment, native, ZONED, self.declared)
        if native is Type.INT:
            return term_text(value, native, None, self.declared)
        made = replace(self, type=native).cast()
        return term_text(made, native, None, self.declared)


def in_utc(value: exp.Expr) -> exp.Expr:
    """An instant as a timestamp in UTC."""
    # This is no cast, because a cast would give the wall clock of the session's time zone.
    return exp.func("make_timestamp", exp.func("epoch_us", value, dialect="duckdb"))


def _kind(source_type: str) -> str:
    """A DuckDB type without its parameters."""
    return source_type if source_type.endswith("]") else source_type.split("(")[0]


def columns_of(
    store: Store,
    source: str,
    untyped: Collection[str],
    numbered: bool = False,
    terms: Collection[str] = (),
) -> list[SourceColumn]:
    """The columns of a temporary table, each with the type its values have as facts.

    If it is `numbered`, NUMBER is none of them. Columns of `terms` are of all kinds.
    """
    described = (
        store.run(exp.select(exp.Star()).from_(temp_table(source)).limit(0)).description or []
    )
    columns = []
    for name, code, *_ in described:
        if numbered and name == NUMBER:
            continue
        source_type = "NULL" if name in untyped else str(code)
        type_ = Type.ANY if name in terms else _TYPES.get(_kind(source_type))
        columns.append(SourceColumn(name, source_type, name, type_))
    return columns


def aligned(
    predicate: str,
    columns: list[SourceColumn],
    known: Predicate | None,
    named: bool,
    widens: bool = False,
) -> list[SourceColumn]:
    """The columns in the predicate's order, with its names and types. Raises DataError.

    With `widens`, columns of other types stay as they are if nobody declared the predicate: its
    columns widen.
    """
    for column in columns:
        _check_supported(predicate, column)
    if known is None:
        names = [c.name for c in columns] if named else list(default_columns(len(columns)))
        return [replace(column, name=name) for column, name in zip(columns, names, strict=True)]
    if len(columns) != known.arity:
        raise DataError(
            f"{predicate} has {_counted(known.arity)}, these rows have {len(columns)}: "
            f"{', '.join(column.name for column in columns)}."
        )
    wanted = [column.name for column in known.columns]
    given = [column.name for column in columns]
    if named and sorted(wanted) == sorted(given):
        columns = sorted(columns, key=lambda column: wanted.index(column.name))
    elif named and any(n in wanted and n != w for n, w in zip(given, wanted, strict=True)):
        raise DataError(
            f"{predicate} has the columns {', '.join(wanted)}, these rows have {', '.join(given)}: "
            "in another order, and not all by the same names. Rename them."
        )
    widens = widens and not known.declared
    return [
        SourceColumn(
            column.source,
            column.source_type,
            target.name,
            _agreed(predicate, column, target, widens),
            known.declared,
            column.is_instant,
        )
        for column, target in zip(columns, known.columns, strict=True)
    ]


def _counted(arity: int) -> str:
    return f"{arity} column" if arity == 1 else f"{arity} columns"


def _check_supported(predicate: str, column: SourceColumn) -> None:
    if column.type is None and column.source_type != "NULL":
        raise DataError(unsupported(predicate, column.name, column.source_type))


def _agreed(predicate: str, column: SourceColumn, target: Column, widens: bool) -> Type | None:
    """The type that the column gets, given the one that the predicate has. Raises DataError."""
    wanted, found = target.meant, column.type
    if wanted in (None, found):
        return found
    if found is None or wanted is Type.ANY:
        return wanted
    if widens:
        return found
    if is_widened(found, wanted):
        return wanted
    raise DataError(clash(predicate, target, found, " in the whole column"))


def of_numbers_there(columns: Sequence[SourceColumn], known: Predicate) -> list[SourceColumn]:
    """The columns of rows to be deleted, with numbers in the types that the predicate has."""
    return [
        replace(c, type=target.type, only_exact=True)
        if not known.declared and _may_be_none(c, target)
        else c
        for c, target in zip(columns, known.columns, strict=True)
    ]


def _may_be_none(column: SourceColumn, target: Column) -> bool:
    """Whether numbers of a column from outside may be none of one that holds numbers."""
    if column.type is Type.ANY:
        return False
    if column.type is target.meant:
        return column.may_be_beyond
    return widest_number({column.type, target.meant}) is not None


def is_apart(columns: Sequence[SourceColumn], known: Predicate) -> bool:
    """Whether no row of these columns can be a fact of a predicate."""
    pairs = zip(columns, known.columns, strict=True)
    return any(
        c.type not in (None, target.meant)
        and target.meant is not None
        and not widest_number({c.type, target.meant})
        for c, target in pairs
    )


def clash(predicate: str, target: Column, found: Type, where: str = "") -> str:
    """The message that values of one type cannot enter a column of another, with the way out."""
    said = f"{predicate}: column {target.name} has the type {target.meant}, the data have {found}"
    return f"{said}{where}. " + way_out(predicate, target, found)


def way_out(predicate: str, target: Column, found: Type) -> str:
    """What can be done where values of one type cannot enter a declared column of another."""
    if is_widened(target.meant, found):
        exactly = "Make them decimals (decimal.Decimal in Python), or" * (
            target.type is Type.DECIMAL
        )
        return (
            f"{exactly or 'For fractions,'} let the column have {found}s: "
            f'kb.alter("{predicate}", {{"{target.name}": "{found}"}})'
        )
    if target.type is Type.SYMBOL:
        return "Convert the data to text, or give the column another type by `alter`."
    return (
        f"Convert the data to {target.type}, or let the column have all of them: "
        f'kb.alter("{predicate}", {{"{target.name}": "any"}})'
    )
