"""Moves facts between a knowledge base and Spark, in Arrow batches, never one fact at a time.

    from Spark   batches made by Spark's executors, partition after partition -> kb.insert
    to Spark     batches read from the file -> Parquet files, a row group per batch -> spark.read

Neither way holds more than a partition or a batch in the memory of the driver. (The way to Spark
does not use createDataFrame of an Arrow table, because Spark keeps the whole table in the driver's
heap. A million rows of four columns are too many for the 1 GB that Spark gives it.)
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from zodiac_sql.errors import SparkError
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.spark.require import explained, is_local
from zodiac_sql.spark.types import struct_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from zodiac_sql.change.change import Change
    from zodiac_sql.knowledge_base import KnowledgeBase


def from_spark(kb: KnowledgeBase, df: DataFrame, predicate: str) -> Change:
    """Insert the rows of a Spark data frame as explicit facts of a predicate.

    This is the same as `kb.insert(predicate, df)`: columns are matched and types are checked as
    there, and one partition after another passes through the driver. Moments with a zone become
    UTC. Raises DataError for an empty cell, a type that does not fit, or if Spark fails.
    """
    return kb.insert(predicate, df)


def to_spark(
    kb: KnowledgeBase, spark: SparkSession, predicate: str, *, through: str | None = None
) -> DataFrame:
    """The extension of a predicate as a Spark data frame: explicit and derived facts, each once.

    Symbols are strings, moments timestamp_ntz. The rows are written to Parquet files that Spark's
    executors read: on a local session in a temporary directory, which is removed when this process
    ends; on a cluster in a new directory under `through`, a path or URI (s3://, hdfs://, gs://)
    that this process and the executors reach, and that you have to clear yourself.
    Raises QueryError for an unknown predicate, SparkError if a cluster's session gets no `through`.
    """
    with kb.batches(predicate) as reader:
        return written(spark, predicate, reader.schema, reader, through)


@dataclass(frozen=True, slots=True)
class ChangedFrames:
    """What a change did to extensions: a data frame for each predicate concerned."""

    inserted: dict[str, DataFrame]
    deleted: dict[str, DataFrame]


def change_to_spark(
    change: Change, spark: SparkSession, *, through: str | None = None
) -> ChangedFrames:
    """The facts that entered and left extensions by a change, as Spark data frames by predicate.

    The facts of a change are kept until the next change begins: after that, raises QueryError.
    `through` is as in `to_spark`.
    """

    def frame(predicate: str, facts: pa.Table) -> DataFrame:
        return written(spark, predicate, facts.schema, facts.to_batches(), through)

    return ChangedFrames(
        {p: frame(p, change.inserted_facts(p)) for p in change.inserted},
        {p: frame(p, change.deleted_facts(p)) for p in change.deleted},
    )


def written(
    spark: SparkSession,
    predicate: str,
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    through: str | None,
) -> DataFrame:
    """Facts of a predicate as a data frame, by way of a file that Spark reads."""
    import pyarrow.parquet as pq

    place = f"{place_for(spark, through)}/{uuid.uuid4().hex}"
    filesystem, path = _filesystem(place)
    try:
        filesystem.create_dir(path, recursive=True)
        with pq.ParquetWriter(f"{path}/facts.parquet", schema, filesystem=filesystem) as writer:
            for batch in batches:
                writer.write_batch(batch)
    except (OSError, pa.ArrowException) as error:
        raise SparkError(f"{predicate} cannot be written to {place}: {error}") from error
    columns = [Column(field.name, _type_of(field.type)) for field in schema]
    with explained():
        return spark.read.schema(struct_of(columns)).parquet(place)


def _type_of(type_: pa.DataType) -> Type:
    """The type of a fact's column for an Arrow type."""
    kinds = (
        (pa.types.is_integer, Type.INT), (pa.types.is_decimal, Type.DECIMAL),
        (pa.types.is_floating, Type.FLOAT),
        (pa.types.is_boolean, Type.BOOL), (pa.types.is_date, Type.DATE),
        (pa.types.is_timestamp, Type.TIMESTAMP),
    )  # fmt: skip
    return next((known for is_kind, known in kinds if is_kind(type_)), Type.SYMBOL)


def _filesystem(place: str) -> tuple[Any, str]:
    from pyarrow import fs

    try:
        filesystem, path = fs.FileSystem.from_uri(place)
    except (pa.ArrowInvalid, OSError) as error:
        raise SparkError(f"{place} cannot be written to: {error}") from error
    return filesystem, path


def place_for(spark: SparkSession, through: str | None) -> str:
    """The directory under which files for Spark are written, as a URI."""
    if through is not None:
        return through if "://" in through else Path(through).absolute().as_uri()
    if not is_local(spark):
        master = spark.conf.get("spark.master", "") or "this session"
        raise SparkError(
            f"the executors of {master} run on other machines: give "
            "through='...', a directory or URI that this process and they can reach."
        )
    directory = tempfile.mkdtemp(prefix="zodiac_spark_")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return Path(directory).as_uri()
