"""Tables of a materialisation: read by Spark or by the driver, and written by either."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from sqlglot import exp

from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.spark.frames import ROWS_TO_COPY, Frames, stored_names
from zodiac_sql.spark.here import minus
from zodiac_sql.spark.types import SPARK_TYPES, arrow_schema, struct_of
from zodiac_sql.spark.versions import Segment, Table
from zodiac_sql.sql.relations import Part, Relation

MOST_SEGMENTS = 16
"""A table of more segments is written anew."""


@dataclass(slots=True)
class Tables:
    """The tables of a materialisation while a version is being made.

    `root` is the materialisation's directory, `attempt` the new directory below it; `frames` writes
    there, too.
    """

    frames: Frames
    root: Path
    attempt: str
    _parts: dict[tuple[Table, tuple[Column, ...]], Part] = field(default_factory=dict)

    def relation(self, table: Table, columns: tuple[Column, ...]) -> Relation:
        """A table as rules read it on Spark."""
        if not table.rows:
            return Relation(columns, ())
        key = (table, columns)
        if key not in self._parts:
            self._parts[key] = self.frames.add(self.frame(table, columns), table.rows)
        return Relation(columns, (self._parts[key],))

    def frame(self, table: Table, columns: Sequence[Column]) -> DataFrame:
        """A table as a data frame."""
        return frame(self.frames.spark, self.root, table, columns)

    def arrow(self, table: Table, columns: Sequence[Column]) -> pa.Table:
        """A table in the memory of the driver."""
        return arrow(self.root, table, columns)

    def computed(self, query: exp.Query, columns: Sequence[Column]) -> Table:
        """Compute a query on Spark."""
        return self.taken([self.frames.computed(query)], columns)

    def taken(self, parts: Iterable[Part], columns: Sequence[Column]) -> Table:
        """What Spark has computed, as a table."""
        segments = (
            Segment(f"{self.attempt}/{Path(self.frames.written[part.table]).name}", part.rows)
            for part in parts
            if part.rows
        )
        return Table(types_of(columns), tuple(segments))

    def put(self, facts: pa.Table | pa.RecordBatchReader, columns: Sequence[Column]) -> Table:
        """Write facts from the driver."""
        schema = pa.schema(
            zip(stored_names(len(facts.schema)), (f.type for f in facts.schema), strict=True)
        )
        path, rows = f"{self.attempt}/{uuid.uuid4().hex}", 0
        batches = facts.to_batches() if isinstance(facts, pa.Table) else facts
        for batch in batches:
            if not rows and batch.num_rows:
                (self.root / path).mkdir()
                writer = pq.ParquetWriter(self.root / path / "facts.parquet", schema)
            if batch.num_rows:
                writer.write_batch(batch.rename_columns(schema.names))
                rows += batch.num_rows
        if not rows:
            return Table(types_of(columns))
        writer.close()
        return Table(types_of(columns), (Segment(path, rows),))

    def compact(self, table: Table, columns: tuple[Column, ...]) -> Table:
        """A table written anew if it has many segments, or many of its facts are gone."""
        gone = sum(segment.rows for segment in table.segments if segment.gone)
        if len(table.segments) <= MOST_SEGMENTS and 4 * gone <= table.rows:
            return table
        return self.rewritten(table, columns)

    def rewritten(self, table: Table, columns: tuple[Column, ...]) -> Table:
        """A table written anew, with the types that its columns have now."""
        if not table.rows:
            return Table(types_of(columns))
        if table.rows <= ROWS_TO_COPY:
            return self.put(self.arrow(table, columns), columns)
        query = exp.select(exp.Star()).from_(
            exp.table_(self.relation(table, columns).parts[0].table, quoted=True)
        )
        return self.computed(query, columns)


def frame(spark: SparkSession, root: Path, table: Table, columns: Sequence[Column]) -> DataFrame:
    """A table as a data frame."""
    stored = Relation(tuple(columns), ()).stored
    names = stored_names(len(stored))
    kinds = table.types or types_of(stored)
    schema = struct_of([Column(n, t) for n, t in zip(names, kinds, strict=True)])
    facts: DataFrame | None = None
    for gone, some in itertools.groupby(table.segments, key=lambda one: one.gone):
        segments = list(some)
        paths = [f"file://{root}/{segment.path}" for segment in segments]
        read = spark.read.schema(schema).parquet(*paths)
        if facts is None:
            facts = read
        elif gone:
            few = sum(segment.rows for segment in segments) <= ROWS_TO_COPY
            facts = facts.join(F.broadcast(read) if few else read, names, "left_anti")
        else:
            facts = facts.unionAll(read)
    if facts is None:
        facts = spark.createDataFrame([], schema)
    return facts.select(
        *(
            F.col(name).cast(SPARK_TYPES[c.type or kind or Type.SYMBOL]).alias(c.name)
            for name, kind, c in zip(names, kinds, stored, strict=True)
        )
    )


def arrow(root: Path, table: Table, columns: Sequence[Column]) -> pa.Table:
    """A table in the memory of the driver."""
    schema = arrow_schema(columns)
    facts = schema.empty_table()
    for gone, some in itertools.groupby(table.segments, key=lambda one: one.gone):
        read = [
            pq.read_table(root / segment.path, partitioning=None)
            .rename_columns(schema.names).cast(schema)
            for segment in some
        ]  # fmt: skip
        more = pa.concat_tables(read)
        facts = minus(facts, more) if gone else pa.concat_tables([facts, more])
    return facts


def types_of(columns: Sequence[Column]) -> tuple[Type | None, ...]:
    return tuple(column.meant for column in columns)


def after(table: Table, gained: Table, lost: Table) -> Table:
    """A table that has lost and then gained some facts."""
    gone = tuple(replace(segment, gone=True) for segment in lost.segments)
    return Table(gained.types or table.types, (*table.segments, *gone, *gained.segments))
