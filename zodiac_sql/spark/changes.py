"""The change feed in Spark: as a data frame, as a stream, and applied to another knowledge base.

changes(spark, kb, "anomaly", since=42)         entries as a data frame
spark.readStream.format("zodiac_changes")       the same as they come, once `changes_source` has
                                                told the session of it
apply_changes(kb, "anomaly")                    for foreachBatch: a copy that follows
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.datasource import DataSource, SimpleDataSourceStreamReader

from zodiac_sql.errors import LockedError, SparkError
from zodiac_sql.names import CHANGE_TYPE, COMMIT, TIME
from zodiac_sql.spark.require import explained
from zodiac_sql.spark.streaming import into
from zodiac_sql.spark.types import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from zodiac_sql.change.change import Change
    from zodiac_sql.knowledge_base import KnowledgeBase

FORMAT = "zodiac_changes"


def changes(
    spark: SparkSession,
    kb: KnowledgeBase,
    predicate: str,
    *,
    since: int | None = None,
    until: int | None = None,
) -> DataFrame:
    """What entered and left a predicate, after change number `since`, up to `until`.

    The data frame has the predicate's columns, then `_change_type` ("insert", "delete"), `_commit`
    and `_time`, as `kb.changes`, whose errors are raised. It passes through the driver's memory.
    """
    table = kb.changes(predicate, since=since, until=until).table(predicate)
    with explained():
        return spark.createDataFrame(table)


def apply_changes(
    kb: KnowledgeBase, predicate: str, *, on_change: Callable[[Change], None] | None = None
) -> Callable[[DataFrame, int], None]:
    """A function for `foreachBatch` that applies entries of a feed to a predicate.

        query = (spark.readStream.format("zodiac_changes").option("path", "farm.duckdb")
                 .option("predicate", "anomaly").load()
                 .writeStream.foreachBatch(apply_changes(copy, "anomaly"))
                 .option("checkpointLocation", directory).start())

    Of each fact, the last entry of a micro-batch counts. Each micro-batch is one change, applied
    exactly once, also after a kill: see `into`, whose errors are raised.
    """
    write = into(kb, predicate, operation=CHANGE_TYPE, on_change=on_change)

    def apply(df: DataFrame, batch: int) -> None:
        write(_last_of_each(df), batch)

    return apply


def _last_of_each(df: DataFrame) -> DataFrame:
    """The last entry of each fact: what it is in the end."""
    facts = [quoted(name) for name in df.columns if name not in (CHANGE_TYPE, COMMIT, TIME)]
    last = F.max_by(CHANGE_TYPE, COMMIT).alias(CHANGE_TYPE)
    return df.groupBy(*facts).agg(last)


def changes_source(spark: SparkSession) -> None:
    """Tell a session of the streaming format "zodiac_changes".

    Its options are `path` (a database file, which other processes write now and then: it is opened
    to be read, and closed again), `predicate`, and `since` (by default all that is kept). While
    another process has the file open for writing, there is nothing new. The columns are those that
    the predicate has when the stream is started: if it has others later, the stream fails.
    """
    spark.dataSource.register(_Source)


class _Source(DataSource):
    """The format. Spark makes it in processes of its own."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> T.StructType:
        from pyspark.sql.pandas.types import from_arrow_schema

        table = _read(self.options, since=None)[0]
        if table.num_columns == 3:
            raise SparkError(f"{self.options['predicate']} has no entries yet, and no columns")
        return from_arrow_schema(table.schema)

    def simpleStreamReader(self, schema: T.StructType) -> _Reader:
        return _Reader(self.options)


class _Reader(SimpleDataSourceStreamReader):
    """Reads entries from one position to the next."""

    def __init__(self, options: Any) -> None:
        self._options = dict(options)

    def initialOffset(self) -> dict[str, int]:
        since = self._options.get("since")
        return {"position": int(since) if since is not None else _read(self._options, None)[1]}

    def read(self, start: dict[str, int]) -> tuple[Iterator[tuple[Any, ...]], dict[str, int]]:
        try:
            table, _, position = _read(self._options, start["position"])
        except LockedError:
            return iter(()), start
        return _rows(table), {"position": position}

    def readBetweenOffsets(
        self, start: dict[str, int], end: dict[str, int]
    ) -> Iterator[tuple[Any, ...]]:
        table, *_ = _read(self._options, start["position"], end["position"])
        return _rows(table)


def _rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    columns = [column.to_pylist() for column in table.columns]
    return iter(list(zip(*columns, strict=True)))


def _read(options: Any, since: int | None, until: int | None = None) -> tuple[pa.Table, int, int]:
    """Entries of the predicate, and the positions before and after them."""
    from zodiac_sql.opening import connect

    for option in ("path", "predicate"):
        if option not in options:
            raise SparkError(f"the format {FORMAT} needs the option {option}")
    predicate = options["predicate"]
    with connect(options["path"], read_only=True) as kb:
        found = kb.changes(predicate, since=since, until=until)
    return found.table(predicate), found.since, found.position
