"""Rows of Arrow with lists and objects -> rows with the columns that are wanted, one batch a time.

Of each list that is to be exploded, every element makes a row. Several lists are read side by side:
in a row, they must be of the same length. An empty list makes no row. A list that is missing makes
empty cells: as many as the others have elements, or one if all of them are missing. A value that is
no list stands for itself.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from zodiac_sql.errors import DataError
from zodiac_sql.facts.nested_names import Spot, levels, spot_of
from zodiac_sql.facts.row_options import RowOptions
from zodiac_sql.names import NUMBER

if TYPE_CHECKING:
    import pyarrow as pa

Columns = dict[str, "pa.Array"]


def reshaped(
    subject: str, batch: pa.RecordBatch, options: RowOptions, before: int
) -> pa.RecordBatch:
    """The columns of a batch that are wanted, by the names that they get, and lists as rows.

    If there are lists to explode, all columns are `plain`, and NUMBER says which row each was,
    after the `before` ones of other batches. `subject` is what the rows are called in errors.
    Raises DataError.
    """
    import pyarrow as pa

    columns: Columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    numbers = _count(before + 1, batch.num_rows if options.explode else 0)
    for lists in levels(options.explode):
        found = {name: _at(subject, name, columns) for name in lists}
        parents, elements = _side_by_side(subject, found, numbers)
        columns = {name: values.take(parents) for name, values in columns.items()} | elements
        numbers = numbers.take(parents)
    taken = options.columns or {name: name for name in columns}
    made = [_at(subject, old, columns) for old in taken]
    fields = [
        pa.field(new, values.type, metadata=_said(batch.schema, old))
        for (old, new), values in zip(taken.items(), made, strict=True)
    ]
    if options.explode:
        fields, made = [*fields, pa.field(NUMBER, pa.int64())], [*made, numbers]
    return pa.RecordBatch.from_arrays(made, schema=pa.schema(fields))


def _said(schema: pa.Schema, name: str) -> dict[bytes, bytes] | None:
    """What a column's field says besides its type: it may be of a type that Arrow does not know."""
    return schema.field(name).metadata if name in schema.names else None


def _at(subject: str, name: str, columns: Columns) -> pa.Array:
    """The values that a name means."""
    import pyarrow.compute as pc

    def inside(spot: Spot) -> Collection[str]:
        return _parts(_of(columns[spot.column].type, spot.parts))

    spot = spot_of(subject, name, [*columns], inside)
    values = columns[spot.column]
    return pc.struct_field(values, [*spot.parts]) if spot.parts else values


def _of(type_: pa.DataType, parts: Sequence[str]) -> pa.DataType:
    for part in parts:
        type_ = type_.field(part).type
    return type_


def _parts(type_: pa.DataType) -> list[str]:
    import pyarrow as pa

    if not pa.types.is_struct(type_):
        return []
    return [type_.field(at).name for at in range(type_.num_fields)]


def plain(values: pa.Array) -> pa.Array:
    """The same values in types from which Arrow can pick some."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_run_end_encoded(values.type):
        values = pc.run_end_decode(values)
    type_ = _plain_type(values.type)
    return values if type_ == values.type else values.cast(type_)


def _plain_type(type_: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    kind = pa.types
    if kind.is_string_view(type_):
        return pa.large_string()
    if kind.is_binary_view(type_):
        return pa.large_binary()
    if kind.is_map(type_):
        pair = [type_.key_field.with_name("key"), type_.item_field.with_name("value")]
        return _plain_type(pa.list_(pa.struct(pair)))
    if kind.is_list(type_):
        return pa.list_(_plain_field(type_.value_field))
    if kind.is_large_list(type_):
        return pa.large_list(_plain_field(type_.value_field))
    if kind.is_fixed_size_list(type_):
        return pa.list_(_plain_field(type_.value_field), type_.list_size)
    if kind.is_struct(type_):
        return pa.struct([_plain_field(type_.field(at)) for at in range(type_.num_fields)])
    return type_


def _plain_field(field: pa.Field) -> pa.Field:
    return field.with_type(_plain_type(field.type))


def _is_list(type_: pa.DataType) -> bool:
    import pyarrow as pa

    kind = pa.types
    return bool(kind.is_list(type_) or kind.is_large_list(type_) or kind.is_fixed_size_list(type_))


def _side_by_side(subject: str, given: Columns, numbers: pa.Array) -> tuple[pa.Array, Columns]:
    """For each row that lists make, the place of the row that has them; and their elements.

    Raises DataError if lists in a row differ in length.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    lengths = {name: _lengths(values) for name, values in given.items()}
    _require_same(subject, lengths, numbers)
    longest = pc.coalesce(*lengths.values(), pa.scalar(1, pa.int64()))
    ends = pc.cumulative_sum(longest)
    total = ends[-1].as_py() if len(ends) else 0
    begins = pc.subtract(ends, longest)
    rows = _count(0, total)
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), ends])
    parents = pc.list_parent_indices(pa.LargeListArray.from_arrays(offsets, rows))
    within = pc.subtract(rows, begins.take(parents))
    elements = {}
    for name, values in given.items():
        if not _is_list(values.type):
            elements[name] = values.take(parents)
            continue
        own = lengths[name]
        filled = pc.fill_null(own, 0)
        start = pc.if_else(pc.is_valid(own), pc.subtract(pc.cumulative_sum(filled), filled), None)
        elements[name] = pc.list_flatten(values).take(pc.add(start.take(parents), within))
    return parents, elements


def _count(first: int, length: int) -> pa.Array:
    """So many whole numbers from the first on."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ones = pa.repeat(pa.scalar(1, pa.int64()), length)
    return pc.add(pc.cumulative_sum(ones), pa.scalar(first - 1, pa.int64()))


def _lengths(values: pa.Array) -> pa.Array:
    """How many elements lists have, none where they are missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not _is_list(values.type):
        one = pa.scalar(1, pa.int64())
        return pc.if_else(pc.is_valid(values), one, pa.scalar(None, pa.int64()))
    return pc.if_else(pc.is_valid(values), pc.list_value_length(values).cast(pa.int64()), None)


def _require_same(subject: str, lengths: Columns, numbers: pa.Array) -> None:
    import pyarrow.compute as pc

    known, *others = lengths.values()
    for own in others:
        at = pc.index(pc.fill_null(pc.not_equal(known, own), False), True).as_py()
        if at >= 0:
            row = numbers[at].as_py()
            raise DataError(
                f"{subject}: in row {row}, the lists in {' and '.join(lengths)} are not of the "
                f"same length: {'and'.join(f' {own[at]} ' for own in lengths.values()).strip()}. "
                "Lists that are exploded together are read side by side. Nothing was loaded."
            )
        known = pc.coalesce(known, own)
