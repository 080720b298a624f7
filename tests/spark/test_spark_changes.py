"""The change feed in Spark: a data frame of it, a stream of it, and a copy that follows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark")

from support.fed import facts

from zodiac_sql import QueryError, connect
from zodiac_sql.spark import apply_changes, changes, changes_source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_data_frame(spark: SparkSession) -> None:
    with connect() as kb:
        kb.keep_feed(["hot"])
        kb.add_rules("hot(X, T) :- at(X, T), T > 20.")
        kb.insert("at", [("wt1", 21), ("wt2", 19)])
        kb.replace("at", [("wt1", 22)])
        df = changes(spark, kb, "hot")
        assert df.columns == ["s", "o", "_change_type", "_commit", "_time"]
        told = sorted(tuple(row)[:4] for row in df.collect())
        assert told == [
            ("wt1", 21, "delete", 2), ("wt1", 21, "insert", 1), ("wt1", 22, "insert", 2)
        ]  # fmt: skip
        assert changes(spark, kb, "hot", since=1).count() == 2
        with pytest.raises(QueryError, match="no change number 7"):
            changes(spark, kb, "hot", since=7)


def test_a_copy_that_follows(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "source.duckdb"
    changes_source(spark)
    with connect(file) as kb:
        kb.keep_feed(["p"], count=100)
        kb.insert("p", [("a", 1), ("b", 2)])
        kb.delete("p", [("a", 1)])
        kb.insert("p", [("a", 1)])
        kb.delete("p", [("b", 2)])
    with connect() as copy:
        for row in (None, ("c", 3)):
            if row is not None:
                with connect(file) as kb:
                    kb.replace("p", [row])
            stream = spark.readStream.format("zodiac_changes").option("path", str(file))
            query = (
                stream.option("predicate", "p").load()
                .writeStream.foreachBatch(apply_changes(copy, "p"))
                .option("checkpointLocation", str(tmp_path / "checkpoint"))
                .trigger(availableNow=True).start()
            )  # fmt: skip
            query.awaitTermination(120)
            with connect(file, read_only=True) as kb:
                assert facts(copy) == facts(kb)
