"""The answers of a fleet: rows with the device, as Spark and as Arrow know them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import types as T

from zodiac_sql.errors import DataError
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Column
from zodiac_sql.spark.types import struct_of
from zodiac_sql.sql.relations import HOLDS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def struct_for(predicate: Predicate) -> T.StructType:
    """The struct of a predicate's columns; a predicate without columns has `holds`."""
    return struct_of(predicate.columns or (HOLDS,))


def structs(labels: Sequence[str], shown: Iterable[Predicate]) -> list[T.StructField]:
    """Columns of text, one for each label, and a struct for each predicate."""
    return [
        *(T.StructField(label, T.StringType()) for label in labels),
        *(T.StructField(p.sql_name, struct_for(p)) for p in shown),
    ]


@dataclass(frozen=True, slots=True)
class AnswerColumns:
    """The columns of an answer, as Spark and as Arrow know them."""

    schema: T.StructType
    arrow: pa.Schema

    @staticmethod
    def of(spark: SparkSession, device: Column, fields: Sequence[T.StructField]) -> AnswerColumns:
        """An answer with the device and other columns. Raises DataError if two share a name."""
        from pyspark.sql.pandas.types import to_arrow_schema

        names = [field.name.lower() for field in fields]
        twice = [
            n for n in (device.name, *names) if (device.name.lower(), *names).count(n.lower()) > 1
        ]
        if twice:
            raise DataError(
                f"the answer would have two columns {twice[0]} (SQL ignores case): rename the "
                "predicate or its column, or the column of the device."
            )
        schema = T.StructType([*struct_of([device]).fields, *fields])
        large = spark.conf.get("spark.sql.execution.arrow.useLargeVarTypes") == "true"
        arrow = to_arrow_schema(schema, timezone="UTC", prefers_large_types=large)
        return AnswerColumns(schema, arrow)


def joined(schema: pa.Schema, tables: Sequence[pa.Table]) -> pa.Table:
    """Some tables as one. Without any table, the result has no rows."""
    return pa.concat_tables([schema.empty_table(), *tables])


def flat(schema: pa.Schema, device: pa.Scalar | pa.ChunkedArray, rows: pa.Table) -> pa.Table:
    """Facts of a predicate next to the device, of all rows or of each. What else the answer has is
    empty.
    """
    count = rows.num_rows
    columns = [_repeated(device, count), *rows.columns]
    others = [pa.nulls(count, field.type) for field in list(schema)[len(columns) :]]
    values = zip([*columns, *others], schema, strict=True)
    return pa.table([c.cast(f.type) for c, f in values], schema=schema)


def _repeated(device: pa.Scalar | pa.ChunkedArray, count: int) -> pa.Array:
    return pa.repeat(device, count) if isinstance(device, pa.Scalar) else device


def failed(schema: pa.Schema, device: pa.Scalar, reason: str) -> pa.Table:
    """The row of a device that has failed, with the reason in the last column."""
    first, *others, last = schema
    columns = [
        pa.array([device.as_py()], first.type),
        *(pa.nulls(1, field.type) for field in others),
        pa.array([reason], last.type),
    ]
    return pa.table(columns, schema=schema)


def nested(
    schema: pa.Schema,
    device: pa.Scalar | pa.ChunkedArray,
    labels: Sequence[str],
    place: str,
    rows: pa.Table,
) -> pa.Table:
    """Facts of a predicate in the column `place`, next to the device and labels."""
    count = rows.num_rows
    start = [_repeated(device, count), *(pa.repeat(label, count) for label in labels)]
    columns = [c.cast(schema.field(i).type) for i, c in enumerate(start)]
    for column in list(schema)[len(start) :]:
        if column.name == place:
            parts = [
                c.combine_chunks().cast(f.type)
                for c, f in zip(rows.columns, column.type, strict=True)
            ]
            columns.append(pa.StructArray.from_arrays(parts, fields=list(column.type)))
        else:
            columns.append(pa.nulls(count, column.type))
    return pa.table(columns, schema=schema)
