"""Rows in the forms that Python programs use -> Arrow, which DuckDB reads.

Tuples become one Arrow column at a time. No step handles single facts, except to find the row for
an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from zodiac_sql.errors import DataError
from zodiac_sql.facts.arrow_types import (
    in_types_of_duckdb,
    is_text,
    unsupported,
    without_row_numbers,
)
from zodiac_sql.facts.chosen_rows import LeftOut, chosen
from zodiac_sql.facts.decimal_rows import is_wide_decimal, with_wide_decimals
from zodiac_sql.facts.moment_texts import READERS, reads_as
from zodiac_sql.facts.pandas_frames import is_pandas, table_of
from zodiac_sql.facts.python_values import has_surrogate, shown
from zodiac_sql.facts.readable_arrow import readable
from zodiac_sql.facts.row_options import AS_THEY_ARE, RowOptions
from zodiac_sql.facts.spark_frames import is_spark, stream
from zodiac_sql.facts.tuple_columns import TupleColumn, column_of, fitting
from zodiac_sql.facts.tuple_options import names_of_tuples, without_gaps
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.names import NUMBER

if TYPE_CHECKING:
    import pyarrow as pa

_ACCEPTED = (
    "Rows are a list of tuples, an Arrow table or stream, a pandas, polars or Spark data frame, "
    "a pandas series, or a DuckDB relation."
)


@dataclass(frozen=True, slots=True)
class Offered:
    """An Arrow table or stream. `named` tells whether its column names came with the data;
    `untyped` are the columns without values, which have no type. With lists as rows, it has the
    column NUMBER, too, and is `numbered`. Columns of `terms` hold texts of terms of all kinds.
    Rows may be left out while it is read; so many rows are `absent`, because no fact of the
    predicate can be like them."""

    data: object
    names: tuple[str, ...]
    named: bool
    untyped: tuple[str, ...] = ()
    numbered: bool = False
    terms: tuple[str, ...] = ()
    left_out: LeftOut = field(default_factory=LeftOut)
    absent: int = 0

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
    gone: bool = False,
) -> Offered | None:
    """The rows as Arrow; None if there are none and nothing tells their types.

    `known` is the predicate, if it is known. `subject` is what the rows are called in errors about
    their columns. Of rows to be deleted (`gone`), those stay that can be facts. Raises DataError.
    """
    if isinstance(rows, (str, bytes, Mapping)):
        raise DataError(f"{predicate}: a {type(rows).__name__} is not rows. {_ACCEPTED}")
    subject = subject or f"{predicate}: the table"
    if is_pandas(rows):
        # In pandas a missing number is NaN, so here NaN means missing too, and is refused later.
        table, labelled, terms = table_of(predicate, rows, options.explode)
        terms = [options.columns.get(name, name) if options.columns else name for name in terms]
        offered = _offered(predicate, table, known, options, subject, labelled, gone)
        return replace(offered, terms=(*offered.terms, *terms)) if terms else offered
    if is_spark(rows):
        rows = stream(rows)
    if hasattr(rows, "__arrow_c_stream__"):
        data = _arrow(predicate, rows, known, options)
        return _offered(predicate, data, known, options, subject, gone=gone)
    if isinstance(rows, Iterable):
        return _from_tuples(predicate, list(rows), known, options, gone)
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
    gone: bool = False,
) -> Offered:
    """A table or stream as its options say, in types that DuckDB keeps. Raises DataError."""
    import pyarrow as pa

    left_out = LeftOut()
    data = readable(predicate, data)
    if options is not AS_THEY_ARE:
        data = chosen(subject, data, options, left_out)
    numbered = bool(options.explode)
    names = [name for name in data.schema.names if not numbered or name != NUMBER]
    check_names(predicate, names)
    types = {name: column.meant for name, column in _columns_of(names, known).items()}
    is_declared = known is not None and known.declared
    terms: Sequence[str] = ()
    absent = 0
    if any(map(is_wide_decimal, data.schema.types)):
        whole = data if isinstance(data, pa.Table) else data.read_all()
        data, terms = with_wide_decimals(whole, types, is_declared, gone)
        absent = whole.num_rows - data.num_rows
    if not isinstance(data, pa.Table) and _has_doubtful_moments(data.schema, names, known):
        data = data.read_all()
    data = in_types_of_duckdb(predicate, data, types if is_declared else _moments(types, data))
    untyped = _untyped(data.schema)
    named = labelled or bool(options.columns)
    return Offered(data, tuple(names), named, untyped, numbered, tuple(terms), left_out, absent)


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


def _moments(
    types: Mapping[str, Type | None], data: pa.Table | pa.RecordBatchReader
) -> dict[str, Type | None]:
    """The columns of dates and times of a predicate that nobody declared, if these rows have no
    other texts there.
    """
    return {
        name: type_
        for name, type_ in types.items()
        if type_ in READERS and _are_moments(data, name, type_)
    }


def _has_doubtful_moments(schema: pa.Schema, names: Sequence[str], known: Predicate | None) -> bool:
    """Whether a column of texts meets one of dates or times that nobody declared."""
    if known is None or known.declared:
        return False
    types = _columns_of(names, known)
    return any(types[n].type in READERS and is_text(schema.field(n).type) for n in types)


def _are_moments(data: pa.Table | pa.RecordBatchReader, name: str, type_: Type | None) -> bool:
    """Whether the texts in a column of a table can be read as dates or times, as far as is known.

    Raises DataError for one that is finer than microseconds.
    """
    import pyarrow as pa

    if type_ is None or not isinstance(data, pa.Table) or not is_text(data.schema.field(name).type):
        return True
    return all(map(reads_as(name, type_), set(data.column(name).to_pylist())))


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
    predicate: str, rows: list[Any], known: Predicate | None, options: RowOptions, gone: bool
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
    given = len(rows)
    if gone and known and not known.declared:
        rows = fitting(rows, [columns.get(name) for name in names])
    declared = known is not None and known.declared
    arrays: list[pa.Array] = []
    terms: list[str] = []
    for place, name in enumerate(names):
        if not rows:
            arrays.append(pa.nulls(0))
            continue
        # A loop of Python, because Ctrl-C ends one; zip(*rows) would make an iterator for each row.
        values = tuple([row[place] for row in rows])
        where = TupleColumn(predicate, name, columns.get(name), declared, gone)
        array, is_of_terms = column_of(where, values)
        arrays.append(array)
        terms += [name] if is_of_terms else []
    table = pa.table(arrays, names=list(names))
    named, untyped = bool(options.columns), _untyped(table.schema)
    absent = given - len(rows)
    return Offered(table, tuple(names), named, untyped, False, tuple(terms), left_out, absent)


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
