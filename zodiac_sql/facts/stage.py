"""Rows that a program hands over -> Staged facts of one predicate.

    rows -> Arrow (rows.py) -> temporary table as it came -> checked, cast, encoded -> Staged

The second half, `stage_table`, also serves the loading of files.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from sqlglot import exp

from zodiac_sql.database import dictionary
from zodiac_sql.database.column_types import TEXT_TYPES
from zodiac_sql.database.statements import (
    create_temp,
    drop,
    parameter,
    temp_table,
    without_sign_of_zero,
)
from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError
from zodiac_sql.facts.arrow_types import unsupported
from zodiac_sql.facts.rows import as_arrow
from zodiac_sql.language.schema import Predicate, Staged, default_columns
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.names import EXPLICIT_SCHEMA, NUMBER

if TYPE_CHECKING:
    import pyarrow as pa

_SOURCE_TYPES = {
    **dict.fromkeys(
        ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER",
         "UBIGINT", "HUGEINT", "UHUGEINT"), Type.INT),
    **dict.fromkeys(("FLOAT", "DOUBLE", "DECIMAL"), Type.FLOAT),
    "BOOLEAN": Type.BOOL,
    "DATE": Type.DATE,
    **dict.fromkeys(
        ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS",
         "TIMESTAMP WITH TIME ZONE"), Type.TIMESTAMP),
    **dict.fromkeys(("VARCHAR", "ENUM", "UUID"), Type.SYMBOL),
}  # fmt: skip

_WIDE_INTEGERS = ("UBIGINT", "HUGEINT", "UHUGEINT")

Place = Callable[[int], str]
"""What a person calls the row with this number (from 1): `row 3`, or a line of a file."""


def stage_rows(
    store: Store, predicate: str, rows: object, known: Predicate | None, *, gone: bool = False
) -> Staged | None:
    """Stage a list of tuples, an Arrow table or stream, a data frame or a DuckDB relation.

    An empty list tells nothing about an unknown predicate: the answer is then None. Facts to be
    deleted (`gone`) bring no symbols: rows with unknown ones are left out.
    Raises DataError for what cannot be facts of the predicate.
    """
    offered = as_arrow(predicate, rows, None if known is None else known.arity)
    if offered is None:
        return None if known is None or known.open else _stage_none(store, known)
    if not offered.width:
        return _stage_true(store, predicate)
    plain = _plain_columns(offered.data)
    if plain is not None:  # no cell needs a look
        columns = _aligned(predicate, plain, known, offered.named)
        named = offered.named and known is None
        few = 0 < (offered.rows or 0) <= _FEW
        staged = few and _stage_few(store, predicate, columns, offered.data, named, gone)
        if staged:
            return staged
    with store.offered(_OFFERED, offered.data):
        if plain is not None:
            source_table = temp_table(_OFFERED)
            return _staged(store, predicate, columns, source_table, named, gone, offered.rows)
        source = store.fresh("rows")
        with scratch(store, source):
            store.run(create_temp(source, exp.select("*").from_(temp_table(_OFFERED))))
            return stage_table(
                store, predicate, source, known, named=offered.named, untyped=offered.untyped,
                gone=gone,
            )  # fmt: skip


def stage_table(
    store: Store,
    predicate: str,
    source: str,
    known: Predicate | None,
    *,
    named: bool,
    untyped: Collection[str] = (),
    place: Place = "row {}".format,
    gone: bool = False,
    whole: bool = False,
) -> Staged:
    """Stage the rows of a temporary table, which stays as it is.

    `named` tells whether its column names mean something; `untyped` are columns that no value
    has given a type, whatever DuckDB made of them; `whole` that all cells are known to be good.
    Raises DataError.
    """
    columns = _aligned(predicate, _columns_of(store, source, untyped), known, named)
    if not whole:
        _check_cells(store, predicate, source, columns, place)
    named = named and known is None
    return _staged(store, predicate, columns, temp_table(source), named, gone)


def _staged(
    store: Store,
    predicate: str,
    columns: Sequence[_Column],
    source: exp.Expr,
    named: bool,
    gone: bool,
    rows: int | None = None,
) -> Staged:
    """Rows that have passed every check, cast and encoded."""
    table = store.fresh("staged")
    query = exp.select(*_casts(columns)).from_(source)
    symbols = [column.name for column in columns if column.type is Type.SYMBOL]
    names = [column.name for column in columns]
    if symbols and rows is not None and rows <= _SOME:
        known = dictionary.known_only(query, names, symbols, True)
        if store.count(create_temp(table, known)) == rows:
            return _of(predicate, columns, table, named, rows)
    if symbols:
        texts = store.fresh("texts")
        with scratch(store, texts):
            store.count(create_temp(texts, query))
            if gone:
                every = exp.select("*").from_(temp_table(texts))
                known = dictionary.known_only(every, names, symbols, False)
                store.count(create_temp(table, known))
            else:
                dictionary.encode(store, texts, symbols, table)
    else:
        store.count(create_temp(table, query))
    return _of(predicate, columns, table, named)


def _casts(columns: Sequence[_Column]) -> list[exp.Expr]:
    return [column.cast().as_(column.name, quoted=True) for column in columns]


def _of(
    predicate: str, columns: Sequence[_Column], table: str, named: bool, rows: int | None = None
) -> Staged:
    staged = tuple(Column(column.name, column.type) for column in columns)
    return Staged(predicate, staged, (None,) * len(staged), table, named, rows)


_FEW = 100
"""Up to so many rows are given to DuckDB as parameters of one statement, if it knows their symbols."""


_SOME = 50_000
"""Up to so many rows, it is worth trying whether all of their symbols are known as they are written."""


def _stage_few(
    store: Store,
    predicate: str,
    columns: Sequence[_Column],
    data: pa.Table,
    named: bool,
    gone: bool,
) -> Staged | None:
    """Stage a few rows by parameters; None if a symbol may be known by another text than its own."""
    values = {f"v{n}": data.column(c.source).to_pylist() for n, c in enumerate(columns)}
    floats = (values[f"v{n}"] for n, c in enumerate(columns) if c.source_type == "DOUBLE")
    if any(math.isnan(value) for column in floats for value in column):
        return None  # DuckDB takes a NaN in a parameter for NULL
    table = store.fresh("staged")

    def statement() -> exp.Expr:
        given = [
            exp.func("unnest", parameter(f"v{n}"), dialect="duckdb").as_(c.source, quoted=True)
            for n, c in enumerate(columns)
        ]
        query = exp.select(*_casts(columns)).from_(exp.select(*given).subquery("g", copy=False))
        symbols = [column.name for column in columns if column.type is Type.SYMBOL]
        if symbols:
            names = [column.name for column in columns]
            query = dictionary.known_only(query, names, symbols, True)
        return create_temp(table, query)

    key = ("few", table, tuple(columns))
    rows = store.count(store.cached(key, statement), values)
    if rows < data.num_rows:
        symbols = (values[f"v{n}"] for n, c in enumerate(columns) if c.type is Type.SYMBOL)
        texts = {text for column in symbols for text in column}
        if not all(map(dictionary.stands_as_it_is, texts)):
            store.run(drop(table))
            return None
        if not gone:
            dictionary.add(store, sorted(texts))
            rows = store.count(store.cached(key, statement), values)
    return _of(predicate, columns, table, named, rows)


_OFFERED = "zodiac_offered_rows"


def _plain_columns(data: object) -> list[_Column] | None:
    """The columns of an Arrow table with no empty cell and no type that needs a look; else None."""
    import pyarrow as pa

    if not isinstance(data, pa.Table):
        return None
    columns = []
    for field, values in zip(data.schema, data.columns, strict=True):
        known = _PLAIN.get(str(field.type))
        if known is None or values.null_count or not _in_calendar(values):
            return None
        columns.append(_Column(field.name, known, field.name, _SOURCE_TYPES[known]))
    return columns


def _in_calendar(values: pa.ChunkedArray) -> bool:
    """Whether dates and timestamps, if these are some, are of the years 1 to 9999."""
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

_PLAIN = {
    "int64": "BIGINT", "double": "DOUBLE", "bool": "BOOLEAN", "date32[day]": "DATE",
    "timestamp[us]": "TIMESTAMP", "string": "VARCHAR", "large_string": "VARCHAR",
}  # fmt: skip


@contextmanager
def scratch(store: Store, *tables: str) -> Iterator[None]:
    """Drop these temporary tables at the end, however it comes."""
    try:
        yield
    finally:
        for table in tables:
            store.run(exp.Drop(tables=[temp_table(table)], kind="TABLE", exists=True))


def _stage_none(store: Store, known: Predicate) -> Staged:
    """No facts of a predicate whose types are known."""
    table = store.fresh("staged")
    empty = exp.select(
        *(
            exp.cast(exp.null(), _stored_type(column.type)).as_(column.name, quoted=True)
            for column in known.columns
        )
    )
    if not known.columns:
        empty = exp.select(exp.true().as_("holds", quoted=True))
    store.run(create_temp(table, empty.where(exp.false())))
    return Staged(known.name, known.columns, (None,) * known.arity, table, named=False)


def staged_explicit(store: Store, known: Predicate) -> Staged:
    """All explicit facts of a predicate that has some."""
    table = store.fresh("staged")
    explicit = exp.table_(known.sql_name, db=EXPLICIT_SCHEMA, quoted=True)
    store.run(create_temp(table, exp.select("*").from_(explicit)))
    return Staged(known.name, known.columns, known.datatypes, table, named=False)


def _stage_true(store: Store, predicate: str) -> Staged:
    """The one fact of a predicate without columns."""
    table = store.fresh("staged")
    store.run(create_temp(table, exp.select(exp.true().as_("holds", quoted=True))))
    return Staged(predicate, (), (), table, named=False)


def _stored_type(type_: Type | None) -> str:
    """The SQL type of a staged column: symbols are ids."""
    return TEXT_TYPES[type_] if type_ not in (None, Type.SYMBOL) else "INTEGER"


# --- columns ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of the source, and what it is to become."""

    source: str
    source_type: str
    name: str
    type: Type | None

    @property
    def kind(self) -> str:
        return _kind(self.source_type)

    def cast(self) -> exp.Expr:
        value: exp.Expr = exp.column(self.source, quoted=True)
        if self.source_type == "TIMESTAMP WITH TIME ZONE":
            value = _in_utc(value)
        elif self.kind == "DECIMAL":
            # DuckDB's own cast to a double divides by a power of ten, which rounds twice.
            value = exp.cast(value, "VARCHAR")
        value = exp.cast(value, TEXT_TYPES[self.type] if self.type else "INTEGER")
        return without_sign_of_zero(value) if self.type is Type.FLOAT else value


def _in_utc(value: exp.Expr) -> exp.Expr:
    # Not a cast: that would give the wall clock of the session's time zone.
    return exp.func("make_timestamp", exp.func("epoch_us", value, dialect="duckdb"))


def _kind(source_type: str) -> str:
    """A DuckDB type without its parameters."""
    return source_type if source_type.endswith("]") else source_type.split("(")[0]


def _columns_of(store: Store, source: str, untyped: Collection[str]) -> list[_Column]:
    """The columns of a temporary table, each with the type its values have as facts."""
    described = store.run(exp.select("*").from_(temp_table(source)).limit(0)).description or []
    columns = []
    for name, code, *_ in described:
        source_type = "NULL" if name in untyped else str(code)
        columns.append(_Column(name, source_type, name, _SOURCE_TYPES.get(_kind(source_type))))
    return columns


def _aligned(
    predicate: str, columns: list[_Column], known: Predicate | None, named: bool
) -> list[_Column]:
    """The columns in the predicate's order, with its names and types. Raises DataError."""
    for column in columns:
        _check_supported(predicate, column)
    if known is None:
        names = [c.name for c in columns] if named else list(default_columns(len(columns)))
        return [
            _Column(column.source, column.source_type, name, column.type)
            for column, name in zip(columns, names, strict=True)
        ]
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
    return [
        _Column(column.source, column.source_type, target.name, _agreed(predicate, column, target))
        for column, target in zip(columns, known.columns, strict=True)
    ]


def _counted(arity: int) -> str:
    return f"{arity} column" if arity == 1 else f"{arity} columns"


def _check_supported(predicate: str, column: _Column) -> None:
    if column.type is None and column.source_type != "NULL":
        raise DataError(unsupported(predicate, column.name, column.source_type))


def _agreed(predicate: str, column: _Column, target: Column) -> Type | None:
    """The type that the column gets, given the one that the predicate has. Raises DataError."""
    if target.type in (None, column.type):
        return column.type
    if column.type is None or (column.type, target.type) == (Type.INT, Type.FLOAT):
        return target.type
    raise DataError(clash(predicate, target, column.type))


def clash(predicate: str, target: Column, found: Type) -> str:
    """Says that values of one type cannot enter a column of another, and the way out."""
    assert target.type is not None
    said = f"{predicate}: column {target.name} has the type {target.type}, the data have {found}. "
    if (target.type, found) == (Type.INT, Type.FLOAT):
        return said + (
            f"For fractions declare the column before the first facts: "
            f".decl {predicate}(... {target.name}: float ...)"
        )
    if target.type is Type.SYMBOL:
        return said + "Convert the data to text, or declare another type before the first facts."
    return said + f"Convert the data to {target.type}, or use another predicate."


# --- cells --------------------------------------------------------------------------------------


def _numbered(source: str) -> exp.Subquery:
    """A temporary table with the number of each row, whatever its columns are called."""
    number = exp.Window(this=exp.RowNumber()).as_(NUMBER, quoted=True)
    return exp.select("*", number).from_(temp_table(source)).subquery("n", copy=False)


@dataclass(frozen=True, slots=True)
class _Fault:
    """What a cell of a column must not be; `condition` never holds for an empty cell, but _EMPTY's.

    `said` follows the value, `hint` says what would be right.
    """

    column: _Column
    condition: exp.Expr
    said: str
    hint: str


def _faults(column: _Column) -> list[_Fault]:
    value = exp.column(column.source, quoted=True)
    faults = [_Fault(column, value.is_(exp.null()), "", _NOT_EMPTY)]
    if column.kind in _WIDE_INTEGERS:
        fits = _try_cast(value, "BIGINT")
        faults.append(_Fault(column, _lost(value, fits.is_(exp.null())), *_WIDE))
    elif column.kind == "DECIMAL":
        double = exp.cast(exp.cast(value, "VARCHAR"), "DOUBLE")
        back = _try_cast(exp.cast(double, "VARCHAR"), column.source_type)
        changed = exp.NullSafeNEQ(this=back, expression=value)
        faults.append(_Fault(column, _lost(value, changed), *_ROUNDED))
    elif column.type is Type.DATE or column.type is Type.TIMESTAMP:
        moment = _in_utc(value) if column.source_type == "TIMESTAMP WITH TIME ZONE" else value
        year = exp.func("year", exp.func("try", moment, dialect="duckdb"), dialect="duckdb")
        known = exp.func("coalesce", year, exp.Literal.number(0))  # none is that of infinity
        outside = exp.Between(
            this=known, low=exp.Literal.number(1), high=exp.Literal.number(9999)
        ).not_()
        faults.append(_Fault(column, _lost(value, outside), *_NO_YEAR))
    return faults


def _lost(value: exp.Expr, condition: exp.Expr) -> exp.Expr:
    return exp.and_(value.is_(exp.null()).not_(), condition)


def _try_cast(value: exp.Expr, type_: str) -> exp.Expr:
    return exp.TryCast(this=value.copy(), to=exp.DataType.build(type_, dialect="duckdb"))


_NOT_EMPTY = "Every column of a fact has a value: fill the cell, or leave the row out."
_WIDE = ("which is beyond 64 bits", "Use floating-point numbers, or text.")
_ROUNDED = (
    "which would be rounded",
    "Floats have 64 bits, about 16 digits: round it first, or make it text.",
)
_NO_YEAR = ("which is no day of the years 1 to 9999", "Correct it, or leave the row out.")


def _check_cells(
    store: Store, predicate: str, source: str, columns: Sequence[_Column], place: Place
) -> None:
    """Refuse empty cells and values that would change; one scan if all is well.

    Raises DataError naming the first row.
    """
    faults = [fault for column in columns for fault in _faults(column)]
    number = exp.column(NUMBER, quoted=True)
    rows = [exp.case().when(fault.condition, number) for fault in faults]
    found = store.rows(
        exp.select(
            *(exp.func("min", row) for row in rows), *(exp.func("count", row) for row in rows)
        ).from_(_numbered(source))
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
        ((text,),) = store.rows(exp.select(value).from_(_numbered(source)).where(mine))
        said = f"holds {text} in {place(min(first))}{more}, {fault.said}"
    raise DataError(f"{where} {said}. {fault.hint}")
