"""Gives data frames names that SQL can use, and cuts their lineage."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from zodiac_sql.spark.dialect import statement
from zodiac_sql.spark.left_to_duckdb import Function, computed, with_calls
from zodiac_sql.sql.relations import Part

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


ROWS_TO_COPY = 1_000_000
"""At most so many facts are copied to every executor, because each must hold them all."""


@dataclass(frozen=True, slots=True)
class Frames:
    """Temporary views over data frames, with unique names.

    `place` is a directory that driver and executors reach, for what is computed. Without one, it
    goes to the session's checkpoint directory, or stays with the executors.
    """

    spark: SparkSession
    place: str | None = None
    views: dict[str, DataFrame] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    """The directories of the views that were written to `place`."""
    functions: dict[Function, str] = field(default_factory=dict)
    _stem: str = field(default_factory=lambda: f"zodiac_{uuid.uuid4().hex}")
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def add(self, df: DataFrame, rows: int) -> Part:
        """Give a data frame a name. `rows` is 1 if the rows have not been counted."""
        name = f"{self._stem}_{next(self._numbers)}"
        df.createOrReplaceTempView(name)
        self.views[name] = df
        return Part("", name, rows)

    def forget(self, part: Part) -> None:
        """Remove a name, and with it the last reference to rows that the executors keep."""
        del self.views[part.table]
        self.spark.catalog.dropTempView(part.table)

    def query(self, tree: exp.Query) -> DataFrame:
        """The data frame of a query over the views."""
        made = statement(with_calls(tree, self._named))
        return self.spark.sql(made.text, args=dict(made.parameters) or None)

    def _named(self, function: Function) -> str:
        """The name in SQL of a function that DuckDB computes."""
        from pyspark.sql.pandas.functions import arrow_udf

        if function not in self.functions:
            name = self.functions[function] = f"{self._stem}_f{len(self.functions)}"
            work = computed(function.query)
            made = arrow_udf(work, function.returns)  # type: ignore[call-overload]  # a string, too
            self.spark.udf.register(name, made)
        return self.functions[function]

    def united(self, first: Part, second: Part) -> Part:
        """Replace two parts by one with the rows of both."""
        frames = [self.views[part.table] for part in (first, second)]
        partitions = max(df.rdd.getNumPartitions() for df in frames)
        both = frames[0].unionAll(frames[1]).coalesce(partitions)
        united = self.kept(both, first.rows + second.rows)
        self.forget(first)
        self.forget(second)
        return united

    def computed(self, tree: exp.Query) -> Part:
        """Compute a query, count its rows and give it a name, by one job."""
        return self.kept(self.query(tree))

    def kept(self, df: DataFrame, rows: int | None = None) -> Part:
        """Compute a data frame, cut its lineage, and count its rows if their number is unknown.

        In between, columns have names that none of the sources has. Spark 4.3 keeps what it knows
        about the columns of a checkpoint under names that its optimizer may have removed. Then a
        union of such checkpoints fails with "key not found".
        """
        from pyspark.sql import Observation
        from pyspark.sql import functions as F

        names = [f"{self._stem}_c{index}" for index in range(len(df.columns))]
        seen, renamed = Observation(), df.toDF(*names)
        if rows is None:
            renamed = renamed.observe(seen, F.count(F.lit(1)).alias("rows"))
        if self.place is None:
            part = self.add(self._checkpoint(renamed).toDF(*df.columns), 0)
        else:
            part = self._stored(renamed, df.columns)
        return replace(part, rows=seen.get["rows"] if rows is None else rows)

    def _stored(self, df: DataFrame, columns: Sequence[str]) -> Part:
        """Rows in a new directory under `place`."""
        directory = f"{self.place}/{uuid.uuid4().hex}"
        plain = df.toDF(*stored_names(len(columns)))
        plain.write.parquet(directory)
        back = self.spark.read.schema(plain.schema).parquet(directory)
        part = self.add(back.toDF(*columns), 0)
        self.written[part.table] = directory
        return part

    def _checkpoint(self, df: DataFrame) -> DataFrame:
        """Compute the data frame, and cut its lineage.

        The rows go to the checkpoint directory, if the session has one. Else the executors keep
        them, and if an executor is lost, so is the answer. (The rows are computed at once, because
        Spark logs errors about accumulators if it computes them after the plan is forgotten.)
        """
        if self.spark.sparkContext.getCheckpointDir():
            return df.checkpoint()
        return df.localCheckpoint()


def stored_names(width: int) -> list[str]:
    """The names that columns have in files: Parquet does not take every name of a user's."""
    return [f"c{index}" for index in range(width)]


@contextmanager
def frames_of(spark: SparkSession, place: str | None = None) -> Iterator[Frames]:
    """Names of data frames and functions that last as long as the block; at its end they are
    removed from the session.
    """
    frames = Frames(spark, place)
    try:
        yield frames
    finally:
        for name in frames.views:
            spark.catalog.dropTempView(name)
        for name in frames.functions.values():
            spark.sql(f"DROP TEMPORARY FUNCTION IF EXISTS {name}")
