"""Arrow columns of types that DuckDB lacks or rounds -> the same values in types that it keeps.

    half-float            -> float
    decimal256            -> decimal128
    date64                -> date32
    timestamp[s, ms, ns]  -> timestamp[us]

A value that would change is refused, by column and row. In a column that is declared as symbol,
decimals, unsigned integers of 64 bits, nanoseconds and moments with a time zone become their texts:
all of these may have values that no other type keeps. In one that is declared as date or timestamp,
ISO texts become these. Dictionaries and runs of such types are expanded. Other
types (nested types, times, blobs, ...) are left for the check of types.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from zodiac_sql.errors import DataError
from zodiac_sql.facts.moment_texts import READERS, read_array
from zodiac_sql.facts.row_options import NESTED
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Column, Type

if TYPE_CHECKING:
    import pyarrow as pa

_EXTENSIONS = ("arrow.uuid", "arrow.bool8", "arrow.json")
"""Extension types whose values mean the same in DuckDB as in Arrow."""


def in_types_of_duckdb(
    predicate: str,
    data: pa.Table | pa.RecordBatchReader,
    declared: Mapping[str, Type | None],
) -> pa.Table | pa.RecordBatchReader:
    """The table or stream with columns as DuckDB reads them without loss. Raises DataError.

    `declared` are the types that columns have in the predicate. The values of a stream are checked
    while it is read.
    """
    import pyarrow as pa

    for field in data.schema:
        name = _extension(field)
        if name is not None and name not in _EXTENSIONS:
            raise DataError(unsupported(predicate, field.name, name))
    types = {
        field.name: _type_in_predicate(field.type, declared.get(field.name))
        for field in data.schema
    }
    wanted = {name: type_ for name, type_ in types.items() if type_ is not None}
    if not wanted:
        return data
    schema = pa.schema(
        [pa.field(f.name, wanted[f.name]) if f.name in wanted else f for f in data.schema]
    )
    if isinstance(data, pa.Table):
        batches = _converted(predicate, iter(data.to_batches()), wanted, schema)
        return pa.Table.from_batches(list(batches), schema)
    return pa.RecordBatchReader.from_batches(schema, _converted(predicate, data, wanted, schema))


def without_row_numbers(predicate: str, schema: pa.Schema, known: Predicate | None) -> list[str]:
    """The columns of a table without those that pandas makes of an index without a name.

    Such a column counts rows. Raises DataError if it has other values, which may tell rows apart.
    """
    import pyarrow as pa

    taken = {column.name for column in known.columns} if known else set()
    left_out = [name for name in schema.names if _UNNAMED.fullmatch(name) and name not in taken]
    for name in left_out:
        if not pa.types.is_integer(schema.field(name).type):
            raise DataError(
                f"{predicate}: {name} was the index of a data frame of pandas, without a name, and "
                f"holds values of type {schema.field(name).type}. Rename the column, or leave it "
                "out."
            )
    return [name for name in schema.names if name not in left_out]


_UNNAMED = re.compile(r"__index_level_[0-9]+__")


def unsupported(predicate: str, column: str, type_: str) -> str:
    """The message that a column's values cannot be facts, with the way out."""
    holds = "text, integers, floating-point numbers, booleans, dates or timestamps"
    hint = next((f" {told}" for kind, told in _HINTS.items() if kind.match(type_)), "")
    return (
        f"{predicate}: column {column} has the type {type_}. A fact's column holds {holds}: "
        f"convert it, or leave it out.{hint}"
    )


_HINTS = {
    re.compile(r"MAP\("): "Of a map, a list of its keys and one of its values can be loaded, with "
    'explode="tags".',
    re.compile(r".*\]$|STRUCT\(", re.DOTALL): NESTED,
    re.compile("BLOB"): "Bytes that write a text can be decoded.",
    re.compile("TIME(_NS)?$"): "A time of day can be text, or a number of seconds.",
    re.compile("INTERVAL"): "A duration can be a number of seconds.",
    re.compile("dense_union|UNION"): "Each type can have a column of its own.",
}
"""What can be done with values of DuckDB's types, and of others that it does not read."""


def _extension(field: pa.Field) -> str | None:
    """The name of a field's extension type, known to pyarrow or not."""
    import pyarrow as pa

    if isinstance(field.type, pa.BaseExtensionType):
        return str(field.type.extension_name)
    name = (field.metadata or {}).get(b"ARROW:extension:name")
    return None if name is None else name.decode(errors="replace")


def _type_in_predicate(type_: pa.DataType, declared: Type | None) -> pa.DataType | None:
    """The type that values are converted to for a column of a predicate; None if none."""
    import pyarrow as pa

    if declared is Type.SYMBOL and _is_wide(type_):
        return pa.string()
    if declared in READERS and is_text(type_):
        return arrow_type(declared)
    return _type_in_duckdb(type_)


def is_text(type_: pa.DataType) -> bool:
    """Whether a type has texts, perhaps in a dictionary."""
    import pyarrow as pa

    if pa.types.is_dictionary(type_) or pa.types.is_run_end_encoded(type_):
        return is_text(type_.value_type)
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(kind(type_) for kind in kinds)


def _is_wide(type_: pa.DataType) -> bool:
    """Whether a type has values that no type of a fact but symbol keeps exactly."""
    import pyarrow as pa

    kind = pa.types
    if kind.is_timestamp(type_):
        return bool(type_.unit == "ns" or type_.tz is not None)
    return bool(kind.is_decimal(type_) or kind.is_uint64(type_))


def _type_in_duckdb(type_: pa.DataType) -> pa.DataType | None:
    """The type that values of a type are converted to; None if they stay as they are."""
    import pyarrow as pa

    kind = pa.types
    if kind.is_dictionary(type_) or kind.is_run_end_encoded(type_):
        return _type_in_duckdb(type_.value_type)
    if kind.is_float16(type_):
        return pa.float32()
    if kind.is_decimal256(type_):
        return arrow_type(Type.DECIMAL)
    if kind.is_date64(type_):
        return pa.date32()
    if kind.is_timestamp(type_) and type_.unit != "us":
        return pa.timestamp("us", type_.tz)
    return None


def _converted(
    predicate: str,
    batches: Iterator[pa.RecordBatch],
    wanted: Mapping[str, pa.DataType],
    schema: pa.Schema,
) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    before = 0
    for batch in batches:
        columns = [
            _cast(f"{predicate}: column {name}", column, wanted[name], before)
            if name in wanted
            else column
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)
        before += batch.num_rows


def _cast(where: str, column: pa.Array, type_: pa.DataType, before: int) -> pa.Array:
    """The column in another type. Raises DataError naming the first value that would change."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    elif pa.types.is_run_end_encoded(column.type):
        column = pc.run_end_decode(column)
    if pa.types.is_timestamp(column.type) and column.type.tz and pa.types.is_string(type_):
        column = column.cast(pa.timestamp(column.type.unit, "UTC"))
    if is_text(column.type) and not is_text(type_):
        moment = Type.DATE if pa.types.is_date32(type_) else Type.TIMESTAMP
        return read_array(where, column, moment, before)
    try:
        return column.cast(type_)
    except pa.ArrowInvalid:
        at = _first_changed(column, type_)
        held = column.slice(at, 1)
        raise DataError(
            f"{where} holds {_text(held)} in row {before + at + 1}, a value of type {column.type} "
            f"that {type_} cannot hold without a change. Convert it first, or make it text."
        ) from None


def _first_changed(column: pa.Array, type_: pa.DataType) -> int:
    """The place of the first value that cannot be cast, by halves."""
    import pyarrow as pa

    low, high = 0, len(column)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            column.slice(low, middle - low).cast(type_)
            low = middle
        except pa.ArrowInvalid:
            high = middle
    return low


def _text(value: pa.Array) -> str:
    """A value as a person reads it; dates and moments that Python cannot hold, as a number."""
    import pyarrow as pa

    try:
        return str(value[0].as_py())
    except (OverflowError, ValueError):
        number = pa.int32() if pa.types.is_date32(value.type) else pa.int64()
        return f"{value.type} {value.cast(number)[0]}"


def arrow_type(type_: Type | None) -> pa.DataType:
    """The Arrow type of a column of facts; text if its type is not known yet."""
    import pyarrow as pa

    types = {
        Type.INT: pa.int64(), Type.DECIMAL: pa.decimal128(38, 18), Type.FLOAT: pa.float64(),
        Type.BOOL: pa.bool_(), Type.DATE: pa.date32(), Type.TIMESTAMP: pa.timestamp("us"),
    }  # fmt: skip
    return pa.string() if type_ is None else types.get(type_, pa.string())


def no_facts(columns: Iterable[Column]) -> pa.Table:
    """A table of facts without rows."""
    import pyarrow as pa

    return pa.schema([(column.name, arrow_type(column.type)) for column in columns]).empty_table()
