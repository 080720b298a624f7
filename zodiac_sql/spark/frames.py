"""Gives data frames names that SQL can use, and cuts their lineage."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from zodiac_sql.spark.dialect import statement
from zodiac_sql.sql.relations import Part

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Frames:
    """Temporary views over data frames, with unique names."""

    spark: SparkSession
    views: dict[str, DataFrame] = field(default_factory=dict)
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
        made = statement(tree)
        return self.spark.sql(made.text, args=dict(made.parameters) or None)

    def united(self, first: Part, second: Part) -> Part:
        """Replace two parts by one with the rows of both."""
        frames = [self.views[part.table] for part in (first, second)]
        partitions = max(df.rdd.getNumPartitions() for df in frames)
        both = self._renamed(frames[0].unionAll(frames[1]).coalesce(partitions))
        cut = self._checkpoint(both).toDF(*frames[0].columns)
        united = self.add(cut, first.rows + second.rows)
        self.forget(first)
        self.forget(second)
        return united

    def counted(self, tree: exp.Query) -> tuple[DataFrame, int]:
        """Compute a query and count its rows, in one job."""
        from pyspark.sql import Observation
        from pyspark.sql import functions as F

        seen, df = Observation(), self.query(tree)
        observed = self._renamed(df).observe(seen, F.count(F.lit(1)).alias("rows"))
        return self._checkpoint(observed).toDF(*df.columns), seen.get["rows"]

    def _renamed(self, df: DataFrame) -> DataFrame:
        """The data frame with new column names, which none of its sources has.

        Spark 4.3 keeps what it knows about the columns of a checkpoint under names that its
        optimizer may have removed. Then a union of such checkpoints fails with "key not found".
        """
        return df.toDF(*(f"{self._stem}_c{index}" for index in range(len(df.columns))))

    def _checkpoint(self, df: DataFrame) -> DataFrame:
        """Compute the data frame, and cut its lineage.

        The rows go to the checkpoint directory, if the session has one. Else the executors keep
        them, and if an executor is lost, so is the answer. (The rows are computed at once, because
        Spark logs errors about accumulators if it computes them after the plan is forgotten.)
        """
        if self.spark.sparkContext.getCheckpointDir():
            return df.checkpoint()
        return df.localCheckpoint()


@contextmanager
def frames_of(spark: SparkSession) -> Iterator[Frames]:
    """Names that last as long as the block; at its end they are removed from the session."""
    frames = Frames(spark)
    try:
        yield frames
    finally:
        for name in frames.views:
            spark.catalog.dropTempView(name)
