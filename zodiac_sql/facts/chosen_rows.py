"""Rows of Arrow as their options say: which columns, lists as rows, and no empty cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zodiac_sql.errors import DataError
from zodiac_sql.facts.nested_arrow import plain, reshaped
from zodiac_sql.facts.nested_names import tops
from zodiac_sql.facts.row_options import RowOptions
from zodiac_sql.names import NUMBER

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(slots=True)
class LeftOut:
    """How many rows were left out so far, because a cell is empty."""

    rows: int = 0


def chosen(
    subject: str, data: pa.Table | pa.RecordBatchReader, options: RowOptions, left_out: LeftOut
) -> pa.Table | pa.RecordBatchReader:
    """A table or stream as its options say. A stream is read when somebody reads the answer.

    `subject` is what the rows are called in errors. Raises DataError.
    """
    import pyarrow as pa

    schema = chosen_schema(subject, data.schema, options)
    batches = data.to_batches() if isinstance(data, pa.Table) else data
    made = _without_gaps(chosen_batches(subject, batches, options), options, left_out)
    if isinstance(data, pa.Table):
        return pa.Table.from_batches(list(made), schema)
    return pa.RecordBatchReader.from_batches(schema, made)


def chosen_schema(subject: str, schema: pa.Schema, options: RowOptions) -> pa.Schema:
    """The columns that rows with a schema have as their options say. Raises DataError."""
    import pyarrow as pa

    names = schema.names
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise DataError(
            f"{subject} has two columns called {twice}. Give them different names. Nothing was "
            "loaded."
        )
    require_unnumbered(subject, names, options)
    batch = _shaped(subject, pa.RecordBatch.from_pylist([], schema=schema), options, 0)
    return _filled(batch, _fills(subject, batch.schema, options.fills or {})).schema


def chosen_batches(
    subject: str, batches: Iterable[pa.RecordBatch], options: RowOptions
) -> Iterator[pa.RecordBatch]:
    """Batches as their options say, but with empty cells that get no value."""
    before = 0
    fills: dict[str, pa.Scalar] | None = None
    for given in batches:
        batch = given
        if options.columns:
            needed = tops(batch.schema.names, [*options.columns, *options.explode])
            batch = batch.select(needed)
        batch = _shaped(subject, batch, options, before)
        if fills is None:
            fills = _fills(subject, batch.schema, options.fills or {})
        yield _filled(batch, fills)
        before += given.num_rows


def _shaped(
    subject: str, batch: pa.RecordBatch, options: RowOptions, before: int
) -> pa.RecordBatch:
    """A batch with the columns that are wanted, and lists as rows."""
    if options.picks:
        batch = _with(batch, [*map(plain, batch.columns)])
    if options.columns or options.explode:
        batch = reshaped(subject, batch, options, before)
    return batch


def _with(batch: pa.RecordBatch, columns: Sequence[pa.Array]) -> pa.RecordBatch:
    """The batch with other values in its columns."""
    import pyarrow as pa

    fields = zip(batch.schema, columns, strict=True)
    schema = pa.schema([field.with_type(v.type).with_nullable(True) for field, v in fields])
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _fills(subject: str, schema: pa.Schema, given: Mapping[str, object]) -> dict[str, pa.Scalar]:
    """The values of empty cells, in the types of their columns. Raises DataError."""
    import pyarrow as pa

    require_columns(subject, [name for name in schema.names if name != NUMBER], [*given])
    found = {}
    for name, value in given.items():
        type_ = schema.field(name).type
        if pa.types.is_dictionary(type_):
            type_ = type_.value_type
        try:
            found[name] = made = pa.scalar(value, None if pa.types.is_null(type_) else type_)
            if made.as_py() != value or isinstance(value, bool) != pa.types.is_boolean(made.type):
                raise ValueError  # it rounds fractions to integers
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            raise DataError(
                f"{subject}: column {name} has the type {type_}, and {value!r} is none of its "
                "values. Nothing was loaded."
            ) from None
    return found


def require_unnumbered(subject: object, names: Sequence[str], options: RowOptions) -> None:
    """Raise DataError if a column has the name of the one that will number rows."""
    if options.explode and any(name.lower() == NUMBER for name in names):
        raise DataError(f"{subject}: no column can be called {NUMBER}. Nothing was loaded.")


def require_columns(subject: object, names: Sequence[str], wanted: Sequence[str]) -> None:
    """Raise DataError unless rows have all columns that are asked for."""
    missing = [name for name in wanted if name not in names]
    if missing:
        raise DataError(
            f"{subject} has no column {missing[0]}. It has {', '.join(names)}. Nothing was loaded."
        )


def _filled(batch: pa.RecordBatch, fills: Mapping[str, pa.Scalar]) -> pa.RecordBatch:
    """The batch with values in empty cells."""
    if not fills:
        return batch
    columns = [
        _filled_column(values, fills[name]) if name in fills else values
        for name, values in zip(batch.schema.names, batch.columns, strict=True)
    ]
    return _with(batch, columns)


def _filled_column(values: pa.Array, value: Any) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_null(values.type):
        return pa.repeat(value, len(values))
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    return pc.fill_null(values, value)


def _without_gaps(
    batches: Iterable[pa.RecordBatch], options: RowOptions, left_out: LeftOut
) -> Iterator[pa.RecordBatch]:
    """The batches without the rows that lack a value, if such are to be left out."""
    import pyarrow.compute as pc

    for batch in batches:
        if options.skips_rows and any(values.null_count for values in batch.columns):
            whole = None
            for values in batch.columns:
                there = pc.is_valid(values)
                whole = there if whole is None else pc.and_(whole, there)
            before = batch.num_rows
            batch = batch.filter(whole)
            left_out.rows += before - batch.num_rows
        yield batch


def notes_on(subject: object, count: int) -> Iterator[str]:
    """The note on rows that were left out because a cell is empty."""
    if count:
        rows = "1 row was" if count == 1 else f"{count} rows were"
        yield f"{subject}: {rows} left out, because a cell is empty"
