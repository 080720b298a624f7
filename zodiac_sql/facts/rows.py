"""Rows in the forms that Python programs use -> Arrow, which DuckDB reads.

Tuples become one Arrow column at a time. No step handles single facts, except to find the row for
an error.
"""

from __future__ import annotations

import datetime
import decimal
import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zodiac_sql.errors import DataError
from zodiac_sql.facts.arrow_types import in_types_of_duckdb, unsupported, without_row_numbers
from zodiac_sql.facts.chosen_rows import LeftOut, chosen
from zodiac_sql.facts.decimal_rows import decimals
from zodiac_sql.facts.moment_texts import READERS, timestamps, with_moments
from zodiac_sql.facts.pandas_frames import is_pandas, table_of
from zodiac_sql.facts.python_values import beyond_64_bits, has_surrogate, in_64_bits, shown
from zodiac_sql.facts.row_options import AS_THEY_ARE, RowOptions
from zodiac_sql.facts.spark_frames import is_spark, stream
from zodiac_sql.facts.tuple_options import EMPTY, names_of_tuples, without_gaps
from zodiac_sql.language.decimals import widest_number
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.names import NUMBER

if TYPE_CHECKING:
    import pyarrow as pa

_ACCEPTED = (
    "Rows are a list of tuples, an Arrow table or stream, a pandas, polars or Spark data frame, "
    "or a DuckDB relation."
)


@dataclass(frozen=True, slots=True)
class Offered:
    """An Arrow table or stream. `named` tells whether its column names came with the data;
    `untyped` are the columns without values, which have no type. With lists as rows, it has the
    column NUMBER, too, and is `numbered`. Rows may be left out while it is read."""

    data: object
    names: tuple[str, ...]
    named: bool
    untyped: tuple[str, ...] = ()
    numbered: bool = False
    left_out: LeftOut = field(default_factory=LeftOut)

    @property
    def rows(self) -> int | None:
        """How many rows there are, if that is known."""
        return getattr(self.data, "num_rows", None)


def as_arrow(
    predicate: str,
    rows: object,
    known: Predicate | None,
    options: RowOptions = AS_THEY_ARE,
    subject: str = "",
) -> Offered | None:
    """The rows as Arrow; None if there are none and nothing tells their types.

    `known` is the predicate, if it is known. `subject` is what the rows are called in errors about
    their columns. Raises DataError.
    """
    if isinstance(rows, (str, bytes, Mapping)):
        raise DataError(f"{predicate}: a {type(rows).__name__} is not rows. {_ACCEPTED}")
    subject = subject or f"{predicate}: the table"
    if is_pandas(rows):
        # In pandas a missing number is NaN, so here NaN means missing too, and is refused later.
        table, labelled = table_of(predicate, rows)
        return _offered(predicate, table, known, options, subject, labelled)
    if is_spark(rows):
        rows = stream(rows)
    if hasattr(rows, "__arrow_c_stream__"):
        data = _arrow(predicate, rows, known, options)
        return _offered(predicate, data, known, options, subject)
    if isinstance(rows, Iterable):
        return _from_tuples(predicate, list(rows), known, options)
    raise DataError(f"{predicate}: a {type(rows).__name__} is not rows. {_ACCEPTED}")


def _arrow(
    predicate: str, rows: Any, known: Predicate | None, options: RowOptions
) -> pa.Table | pa.RecordBatchReader:
    """A table, or a stream of its rows, without columns that only count rows."""
    import pyarrow as pa

    if isinstance(rows, pa.Table) and rows.num_columns:
        if options.columns:
            return rows
        return rows.select(without_row_numbers(predicate, rows.schema, known))
    _check_relation(predicate, rows)
    try:
        reader = pa.RecordBatchReader.from_stream(rows)
    except (pa.ArrowException, OSError, TypeError, ValueError) as error:
        raise DataError(f"{predicate}: not a table ({error}). {_ACCEPTED}") from None
    if not options.columns:
        check_names(predicate, reader.schema.names)
        reader = _selected(reader, without_row_numbers(predicate, reader.schema, known))
    if not reader.schema.names:
        raise DataError(f"{predicate}: the table has no columns. Facts without columns are [()].")
    return reader


def _offered(
    predicate: str,
    data: pa.Table | pa.RecordBatchReader,
    known: Predicate | None,
    options: RowOptions,
    subject: str,
    labelled: bool = True,
) -> Offered:
    """A table or stream as its options say, in types that DuckDB keeps. Raises DataError."""
    left_out = LeftOut()
    if options is not AS_THEY_ARE:
        data = chosen(subject, data, options, left_out)
    numbered = bool(options.explode)
    names = [name for name in data.schema.names if not numbered or name != NUMBER]
    check_names(predicate, names)
    data = in_types_of_duckdb(predicate, data, _types(names, known))
    named = labelled or bool(options.columns)
    return Offered(data, tuple(names), named, _untyped(data.schema), numbered, left_out)


def _selected(reader: pa.RecordBatchReader, names: Sequence[str]) -> pa.RecordBatchReader:
    """A stream with only these columns."""
    import pyarrow as pa

    if len(names) == len(reader.schema.names):
        return reader
    schema = pa.schema([reader.schema.field(name) for name in names])
    return pa.RecordBatchReader.from_batches(schema, (batch.select(names) for batch in reader))


def _check_relation(predicate: str, rows: Any) -> None:
    """Refuse columns of a DuckDB relation whose values change in Arrow: 2^128 - 1 becomes -1."""
    if type(rows).__name__ != "DuckDBPyRelation":
        return
    for name, type_ in zip(rows.columns, rows.types, strict=True):
        if "UHUGEINT" in str(type_):
            raise DataError(unsupported(predicate, name, str(type_)))


def _types(names: Sequence[str], known: Predicate | None) -> dict[str, Type | None]:
    """The types that the predicate gives to columns of rows."""
    return {name: column.type for name, column in _columns_of(names, known).items()}


def _columns_of(names: Sequence[str], known: Predicate | None) -> dict[str, Column]:
    """The predicate's columns for those of rows."""
    if known is None or len(names) != known.arity:
        return {}
    wanted = [column.name for column in known.columns]
    given = wanted if sorted(wanted) == sorted(names) else names
    return dict(zip(given, known.columns, strict=True))


def _untyped(schema: pa.Schema) -> tuple[str, ...]:
    import pyarrow as pa

    return tuple(field.name for field in schema if pa.types.is_null(field.type))


def check_names(predicate: str, names: Sequence[str]) -> None:
    """Raise DataError unless column names differ when case is ignored, as in SQL."""
    seen: dict[str, str] = {}
    for name in names:
        if not name:
            raise DataError(f"{predicate}: a column of the table has no name. Give it one.")
        if "\0" in name:
            raise DataError(f"{predicate}: no column can be called {name!r}: a name has no NUL.")
        if has_surrogate(name):
            raise DataError(
                f"{predicate}: no column can be called {name!r}, with half of a surrogate pair, "
                "which is no character."
            )
        if name.lower() in seen:
            raise DataError(
                f"{predicate}: the columns {seen[name.lower()]} and {name} have the same name "
                "(SQL ignores case). Rename one."
            )
        seen[name.lower()] = name


# --- tuples ---------------------------------------------------------------------------------------


def _from_tuples(
    predicate: str, rows: list[Any], known: Predicate | None, options: RowOptions
) -> Offered | None:
    if not rows and not options.columns:
        return None
    if rows:
        _check_shape(predicate, rows, None if known is None else known.arity)
    import pyarrow as pa

    names = names_of_tuples(predicate, len(rows[0]) if rows else None, known, options)
    check_names(predicate, names)
    left_out = LeftOut()
    if options.picks:
        rows = without_gaps(predicate, rows, names, options, left_out)
    columns = _columns_of(names, known)
    arrays = [
        _column(predicate, rows, place, name, columns.get(name)) if rows else pa.nulls(0)
        for place, name in enumerate(names)
    ]
    table = pa.table(arrays, names=list(names))
    named = bool(options.columns)
    return Offered(table, tuple(names), named, _untyped(table.schema), left_out=left_out)


def _column(
    predicate: str, rows: list[Any], place: int, name: str, known: Column | None
) -> pa.Array:
    """A column of tuples, of which the predicate may tell the type. Raises DataError."""
    # A loop of Python, because Ctrl-C ends one; zip(*rows) would make an iterator for each row.
    column = tuple([row[place] for row in rows])
    type_ = known.type if known else None
    if type_ is Type.SYMBOL:
        column = _as_text(column)
    elif (
        known
        and type_
        and type_ in READERS
        and any(issubclass(kind, str) for kind in map(type, column))
    ):
        column = with_moments(f"{predicate}: column {known.name}", column, type_)
    return _array(f"{predicate}: column {name}", column, type_)


def _as_text(column: tuple[Any, ...]) -> tuple[Any, ...]:
    """A column of symbols, with texts of numbers if some are only kept exactly so."""
    kinds = set(map(type, column))
    if not all(issubclass(kind, (int, decimal.Decimal)) and kind is not bool for kind in kinds):
        return column
    if decimal.Decimal in kinds or not all(map(in_64_bits, column)):
        return tuple(map(str, column))
    return column


def _check_shape(predicate: str, rows: list[Any], arity: int | None) -> None:
    """Raise DataError unless every row is a tuple or list, and all have the same length."""
    strange = [kind for kind in set(map(type, rows)) if not issubclass(kind, (tuple, list))]
    if strange:
        at = next(i for i, row in enumerate(rows) if type(row) in strange)
        raise DataError(
            f"{predicate}: row {at + 1} is {shown(rows[at])}, not a tuple. "
            "A row with one column is written (value,)."
        )
    width = len(rows[0]) if arity is None else arity
    lengths = set(map(len, rows))
    if lengths != {width}:
        at = next(i for i, row in enumerate(rows) if len(row) != width)
        raise DataError(
            f"{predicate}: row {at + 1} has {len(rows[at])} values, {shown(rows[at])}; "
            f"{'the first row' if arity is None else predicate} has {width}."
        )


def _array(where: str, column: tuple[Any, ...], known: Type | None = None) -> pa.Array:
    """One column of tuples. Raises DataError naming the first row that does not fit."""
    import pyarrow as pa

    kinds = {kind: _type_of(kind) for kind in set(map(type, column))}
    if known is Type.FLOAT:
        kinds = {k: known if type_ is Type.DECIMAL else type_ for k, type_ in kinds.items()}
    type_ = _one_type(where, column, kinds)
    try:
        match type_:
            case Type.FLOAT:
                _check_exact(where, column, kinds)
                return pa.array([float(value) for value in column], type=pa.float64())
            case Type.DECIMAL:
                return decimals(where, column)
            case Type.INT:
                return pa.array(column, type=pa.int64())
            case Type.TIMESTAMP:
                return timestamps(where, column)
            case Type.SYMBOL:
                return pa.array([str(value) for value in column], type=pa.large_string())
            case _:
                return pa.array(column)
    except OverflowError:
        at = next(i for i, value in enumerate(column) if not in_64_bits(value))
        raise DataError(beyond_64_bits(where, column[at], at)) from None
    except UnicodeEncodeError:
        at = next(i for i, value in enumerate(column) if has_surrogate(str(value)))
        raise DataError(
            f"{where} cannot be read: {shown(column[at])} in row {at + 1} holds half of a "
            "surrogate pair, which is no character."
        ) from None
    except pa.ArrowInvalid as error:
        raise DataError(f"{where} cannot be read: {error}") from None


def _one_type(where: str, column: tuple[Any, ...], kinds: Mapping[type, Type | None]) -> Type:
    """The type of all values of a column; that of numbers together is the widest."""
    types: set[Type] = set()
    for kind, type_ in kinds.items():
        if type_ is None:
            raise DataError(_no_value(where, column, kind))
        types.add(type_)
    if wide := widest_number(types):
        return wide
    if len(types) > 1:
        raise DataError(_several_types(where, column, kinds))
    (one,) = types
    return one


def _no_value(where: str, column: tuple[Any, ...], kind: type) -> str:
    """The message about a value that no column of a fact can hold."""
    at = _first(column, kind)
    if kind.__name__ in EMPTY:
        return (
            f"{where} is empty ({column[at]}) in row {at + 1}. Every column of a fact has a value: "
            "fill it, or leave the row out, by hand or by `nulls`."
        )
    return (
        f"{where} holds {shown(column[at])} in row {at + 1}, a {kind.__name__}. A fact's column "
        "holds text, numbers, booleans, dates or timestamps."
    )


def _several_types(where: str, column: tuple[Any, ...], kinds: Mapping[type, Type | None]) -> str:
    """The message about values of several types: it names the first that does not fit row 1."""
    first = kinds[type(column[0])]
    at = min(_first(column, kind) for kind, type_ in kinds.items() if type_ is not first)
    if widest_number({first, kinds[type(column[at])]}):
        others = (k for k, type_ in kinds.items() if type_ and not type_.numeric)
        at = min(_first(column, k) for k in others)
    return (
        f"{where} holds {shown(column[at])} in row {at + 1}, of type "
        f"{kinds[type(column[at])]}, and {shown(column[0])} in row 1, of type {first}. "
        "A column holds values of one type: convert them first."
    )


def _check_exact(where: str, column: tuple[Any, ...], kinds: Mapping[type, Type | None]) -> None:
    """Refuse numbers that a double would change: decimals, long doubles, integers beyond 64 bits.

    Integers of up to 64 bits become the nearest double, as everywhere. A decimal must be the
    shortest way to write its double, so that two decimals never become one number.
    """
    large = tuple(kind for kind, type_ in kinds.items() if type_ is Type.INT)
    floats = (kind for kind, type_ in kinds.items() if type_ is Type.FLOAT)
    others = tuple(kind for kind in floats if not issubclass(kind, float))
    if not large and not others:
        return
    for at, value in enumerate(column):
        kind = type(value)
        if kind in large and not in_64_bits(value):
            raise DataError(beyond_64_bits(where, value, at))
        if kind in others and not _is_double(value):
            raise DataError(
                f"{where} holds {shown(value)} in row {at + 1}, which would be rounded: floats "
                "have 64 bits. Round it first, or make it text."
            )


def _is_double(value: Any) -> bool:
    if not isinstance(value, decimal.Decimal):
        return math.isnan(value) or bool(float(value) == value)
    if not value.is_finite():
        return not value.is_snan()
    return decimal.Decimal(repr(float(value))) == value


def _type_of(kind: type) -> Type | None:
    """The type of a fact's column that holds values of a Python class. Order matters: a bool is
    an int, a datetime is a date, and pandas makes NaT a datetime."""
    if kind.__name__ in EMPTY:
        return None
    if kind.__name__ in ("bool", "bool_"):
        return Type.BOOL
    if issubclass(kind, str):
        return Type.SYMBOL
    if issubclass(kind, numbers.Integral):
        return Type.INT
    if issubclass(kind, decimal.Decimal):
        return Type.DECIMAL
    if issubclass(kind, numbers.Real) and kind.__name__ != "Fraction":
        return Type.FLOAT
    if issubclass(kind, datetime.datetime):
        return Type.TIMESTAMP
    return Type.DATE if issubclass(kind, datetime.date) else None


def _first(column: tuple[Any, ...], kind: type) -> int:
    return next(i for i, value in enumerate(column) if type(value) is kind)
