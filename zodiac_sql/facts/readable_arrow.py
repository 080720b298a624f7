"""Arrow columns that DuckDB fails to read -> columns that it reads, or an error that says which.

Dictionaries and runs of lists or objects are expanded, and decimals of a negative scale get their
zeros. DuckDB 2.0 loses what is in memory with the former, and has an internal error of the latter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from zodiac_sql.errors import DataError
from zodiac_sql.facts.arrow_types import unsupported

if TYPE_CHECKING:
    import pyarrow as pa


def readable(
    predicate: str, data: pa.Table | pa.RecordBatchReader
) -> pa.Table | pa.RecordBatchReader:
    """A table or stream that DuckDB reads. Raises DataError."""
    import pyarrow as pa

    fields = [field.with_type(_readable_type(field.type)) for field in data.schema]
    for before, after in zip(data.schema, fields, strict=True):
        if not _is_readable(after.type):
            raise DataError(unsupported(predicate, before.name, str(before.type)))
    schema = pa.schema(fields, data.schema.metadata)
    if schema.types == data.schema.types:
        return data
    if isinstance(data, pa.Table):
        return pa.Table.from_batches(list(_expanded(data.to_batches(), schema)), schema)
    return pa.RecordBatchReader.from_batches(schema, _expanded(data, schema))


def _expanded(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    import pyarrow.compute as pc

    for batch in batches:
        columns = []
        for column, type_ in zip(batch.columns, schema.types, strict=True):
            if column.type != type_ and pa.types.is_dictionary(column.type):
                column = column.dictionary_decode()
            elif column.type != type_ and pa.types.is_run_end_encoded(column.type):
                column = pc.run_end_decode(column)
            columns.append(column if column.type == type_ else column.cast(type_))
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _readable_type(type_: pa.DataType) -> pa.DataType:
    """The type in which DuckDB reads values of a type, if it does."""
    import pyarrow as pa

    inner = _inside(type_)
    if inner is not None and (pa.types.is_nested(inner) or _has_zeros(inner)):
        return _readable_type(inner)
    if _has_zeros(type_):
        digits = type_.precision - type_.scale
        return pa.decimal128(digits, 0) if digits <= 38 else pa.decimal256(min(digits, 76), 0)
    return type_


def _is_readable(type_: pa.DataType) -> bool:
    """Whether DuckDB reads a type."""
    import pyarrow as pa

    inner = _inside(type_)
    if inner is not None:
        return not pa.types.is_nested(inner) and _is_readable(inner)
    if isinstance(type_, pa.DenseUnionType) or _has_zeros(type_):
        return False
    return all(_is_readable(type_.field(place).type) for place in range(type_.num_fields))


def _inside(type_: pa.DataType) -> pa.DataType | None:
    """The type of the values of a dictionary or of runs."""
    import pyarrow as pa

    encoded = pa.types.is_dictionary(type_) or pa.types.is_run_end_encoded(type_)
    return type_.value_type if encoded else None


def _has_zeros(type_: pa.DataType) -> bool:
    """Whether all values of a type end in zeros that it does not have: hundreds, with a scale of
    -2.
    """
    import pyarrow as pa

    return bool(pa.types.is_decimal(type_) and type_.scale < 0)
