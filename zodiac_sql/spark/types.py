"""The types of facts, and the matching types of Spark's columns.

symbol     string (char, varchar)                   text as everywhere outside the file
int        tinyint, smallint, int, bigint           as bigint
decimal    decimal                                  as decimal(38, 18)
float      float, double                            as double
bool       boolean
date       date
timestamp  timestamp_ntz, and timestamp in UTC      as timestamp_ntz
any        string: the text of the term             declared in the rules, or told by facts in them
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql import types as T

from zodiac_sql.errors import DataError
from zodiac_sql.facts.arrow_types import arrow_type
from zodiac_sql.language.decimals import BEFORE, PLACES, ROOM, is_widened
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.sql.relations import HOLDS

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame, SparkSession

SPARK_TYPES: dict[Type, T.DataType] = {
    Type.SYMBOL: T.StringType(),
    Type.INT: T.LongType(),
    Type.DECIMAL: T.DecimalType(BEFORE + PLACES, PLACES),
    Type.FLOAT: T.DoubleType(),
    Type.BOOL: T.BooleanType(),
    Type.DATE: T.DateType(),
    Type.TIMESTAMP: T.TimestampNTZType(),
    Type.ANY: T.StringType(),
}

ARROW_TYPES: dict[Type, pa.DataType] = {type_: arrow_type(type_) for type_ in Type}

_TYPES: dict[type[T.DataType], Type] = {
    T.StringType: Type.SYMBOL, T.CharType: Type.SYMBOL, T.VarcharType: Type.SYMBOL,
    T.ByteType: Type.INT, T.ShortType: Type.INT, T.IntegerType: Type.INT, T.LongType: Type.INT,
    T.FloatType: Type.FLOAT, T.DoubleType: Type.FLOAT, T.DecimalType: Type.DECIMAL,
    T.BooleanType: Type.BOOL, T.DateType: Type.DATE,
    T.TimestampType: Type.TIMESTAMP, T.TimestampNTZType: Type.TIMESTAMP,
}  # fmt: skip


def type_of(predicate: str, field: T.StructField) -> Type:
    """The type of facts for a column of Spark's. Raises DataError if there is none."""
    found = _TYPES.get(type(field.dataType))
    if found is None:
        raise DataError(
            f"{predicate}: column {field.name} has the type {field.dataType.simpleString()}. A "
            "fact's column holds text, integers, floating-point numbers, booleans, dates or "
            "timestamps: convert it, or leave it out."
        )
    return found


def columns_of(predicate: str, df: DataFrame) -> tuple[Column, ...]:
    """A data frame's columns with the types they have as facts. Raises DataError."""
    if not hasattr(df, "schema"):
        raise DataError(
            f"{predicate}: a data frame of Spark's is needed, not a {type(df).__name__}: "
            "spark.createDataFrame(rows, columns) makes one."
        )
    seen: dict[str, str] = {}
    for name in df.columns:
        if name.lower() in seen:
            raise DataError(
                f"{predicate}: the columns {seen[name.lower()]} and {name} have the same name "
                "(SQL ignores case). Rename one."
            )
        seen[name.lower()] = name
    return tuple(Column(field.name, type_of(predicate, field)) for field in df.schema.fields)


def as_fact_column(
    predicate: str, field: T.StructField, empty_fails: bool = True, device: str | None = None
) -> SparkColumn:
    """A column of a data frame made a column of facts: with one of seven types, and never empty.

    An empty cell fails the query that reads it, with an error that names predicate and column, and
    what the column `device` has in its row; unless somebody else looks for empty cells.
    """
    type_ = type_of(predicate, field)
    value = F.col(quoted(field.name))
    if isinstance(field.dataType, T.TimestampType):
        value = in_utc(value)
    if field.dataType != SPARK_TYPES[type_]:
        value = _exact(value, field) if type_ is Type.DECIMAL else value.cast(SPARK_TYPES[type_])
    if type_ is Type.FLOAT:
        value = value + F.lit(0.0)  # -0.0 is 0.0
    if field.nullable and empty_fails:
        said = F.lit(empty_cell(predicate, field.name))
        if device is not None:
            shown = F.coalesce(F.col(quoted(device)).cast("string"), F.lit("?"))
            said = F.concat(F.lit(f"{device} "), shown, F.lit(": "), said)
        empty = F.raise_error(said)
        value = F.when(value.isNotNull(), value).otherwise(empty.cast(SPARK_TYPES[type_]))
    return value


def _exact(value: SparkColumn, field: T.StructField) -> SparkColumn:
    """Decimals of another form as decimals of ours. One without room fails the query."""
    made = value.try_cast(SPARK_TYPES[Type.DECIMAL])
    said = F.concat(F.lit(f"{field.name} holds "), value.cast("string"), F.lit(f": {ROOM}"))
    fits = made.try_cast(field.dataType) == value
    error = F.raise_error(said).cast(SPARK_TYPES[Type.DECIMAL])
    return F.when(value.isNull() | fits, made).otherwise(error)


def in_utc(moment: SparkColumn) -> SparkColumn:
    """A moment in UTC. This is no cast, because a cast would use the session's time zone."""
    epoch = F.lit("1970-01-01").cast("timestamp_ntz")
    return F.timestamp_add("MICROSECOND", F.unix_micros(moment), epoch)


def empty_cell(predicate: str, column: str) -> str:
    """The message about an empty cell."""
    return (
        f"{predicate}: column {column} is empty (NULL). Every column of a fact has a value: fill "
        "the cell, or leave the row out."
    )


def frame_of(
    spark: SparkSession, predicate: Predicate, rows: Sequence[tuple[object, ...]]
) -> DataFrame:
    """A few facts as a data frame, each once. Without columns, the data frame has `holds`."""
    columns = predicate.columns or (HOLDS,)
    distinct = dict.fromkeys(rows if predicate.columns else [(True,)])
    fields = [
        pa.field(column.name, ARROW_TYPES[column.type or Type.SYMBOL], nullable=False)
        for column in columns
    ]
    arrays = [
        pa.array(values, field.type)
        for field, values in zip(fields, zip(*distinct, strict=True), strict=True)
    ]
    return spark.createDataFrame(pa.table(arrays, schema=pa.schema(fields)))


def fits(wanted: Type | None, found: Type | None) -> bool:
    """Whether a column of a data frame holds values of a column of facts.

    Ints may stand for floats and the like, and texts are the texts of terms of all kinds.
    """
    is_text = (wanted, found) == (Type.ANY, Type.SYMBOL)
    return wanted is found or is_widened(found, wanted) or is_text


def quoted(name: str) -> str:
    """A column's name, quoted so that dots and the like are part of the name."""
    return "`" + name.replace("`", "``") + "`"


def struct_of(columns: Sequence[Column]) -> T.StructType:
    """Columns of facts as a Spark struct; a column without a type has no values, and is text."""
    return T.StructType(
        [T.StructField(c.name, SPARK_TYPES[c.type or Type.SYMBOL]) for c in columns]
    )


def arrow_schema(columns: Sequence[Column]) -> pa.Schema:
    """The columns of facts in Arrow. Without columns, there is `holds`."""
    return pa.schema(
        [pa.field(c.name, ARROW_TYPES[c.type or Type.SYMBOL]) for c in columns or (HOLDS,)]
    )
