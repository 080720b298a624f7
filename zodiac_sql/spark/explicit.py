"""Explicit facts as they are given -> facts as rules read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.spark.dialect import canonical
from zodiac_sql.spark.frames import Frames
from zodiac_sql.spark.types import arrow_schema, as_fact_column
from zodiac_sql.sql.relations import Relation

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def normal(frames: Frames, predicate: Predicate, given: DataFrame) -> exp.Select:
    """Facts with the predicate's columns, and symbols in canonical form."""
    names = [column.name for column in Relation(predicate.columns, ()).stored]
    fields = given.schema.fields
    cast = [
        as_fact_column(predicate.name, field).alias(name)
        for field, name in zip(fields, names, strict=True)
    ]
    raw = frames.add(given.select(*cast), 1)
    query = exp.select().from_(exp.table_(raw.table, quoted=True))
    for column in Relation(predicate.columns, ()).stored:
        value: exp.Expr = exp.column(column.name, quoted=True)
        if column.type is Type.SYMBOL:
            value = canonical(value)
        elif column.type in (Type.DECIMAL, Type.FLOAT):
            value = exp.cast(value, SQL_TYPES[column.type])
        query = query.select(value.as_(column.name, quoted=True), copy=False)
    return query


def facts_table(columns: tuple[Column, ...], rows: Sequence[tuple[object, ...]]) -> pa.Table:
    """Facts in texts of rules, each once."""
    schema = arrow_schema(columns)
    distinct_rows = dict.fromkeys(rows) if columns else dict.fromkeys([(True,)] * bool(rows))
    arrays = [
        pa.array([row[place] for row in distinct_rows], kind.type)
        for place, kind in enumerate(schema)
    ]
    return pa.table(arrays, schema=schema)
