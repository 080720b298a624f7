"""Facts between a knowledge base and Spark, both ways: all types, a million rows, errors."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

ROWS = [
    (
        "wt1", 1, 0.5, True, datetime.date(2026, 3, 1), datetime.datetime(2026, 3, 1, 12, 30, 0, 7),
    ),
    (
        '"Haus \\"am\\" See"@de', -(2**63), -1e300, False, datetime.date(1582, 10, 15),
        datetime.datetime(1969, 12, 31, 23, 59, 59, 999999),
    ),
    (
        "http://example.org/ü", 2**63 - 1, 1 / 3, True, datetime.date(9999, 12, 31),
        datetime.datetime(2400, 1, 1),
    ),
]  # fmt: skip
NAMES = ["s", "n", "v", "ok", "day", "at"]


@pytest.fixture
def kb(open_kb: OpenKb, tmp_path: Path) -> Iterator[KnowledgeBase]:
    with open_kb(tmp_path / "hand.duckdb") as kb:
        yield kb


def rows(df: DataFrame) -> list[tuple[object, ...]]:
    return sorted(map(tuple, df.collect()), key=str)


def test_all_types_there_and_back(kb: KnowledgeBase, spark: SparkSession) -> None:
    from zodiac_sql.spark import from_spark, to_spark

    kb.insert("p", ROWS)
    df = to_spark(kb, spark, "p")
    assert df.dtypes == [
        ("c0", "string"), ("c1", "bigint"), ("c2", "double"), ("c3", "boolean"), ("c4", "date"),
        ("c5", "timestamp_ntz"),
    ]  # fmt: skip
    assert rows(df) == sorted(ROWS, key=str)
    change = from_spark(kb, df.toDF(*NAMES), "q")
    assert change.inserted == {"q": 3}
    assert kb.table("q").column_names == NAMES
    assert sorted(kb.table("q").fetchall(), key=str) == sorted(ROWS, key=str)


def test_narrow_types_and_moments_with_a_zone(kb: KnowledgeBase, spark: SparkSession) -> None:
    """Integers and floats of any width become the language's; a moment with a zone is in UTC."""
    from zodiac_sql.spark import from_spark

    df = spark.sql(
        "SELECT cast(1 AS tinyint) AS a, cast(2 AS int) AS b, cast(0.5 AS float) AS c,"
        " cast(1.25 AS decimal(10, 2)) AS d, timestamp'2026-07-01 12:00:00+02:00' AS e"
    )
    from_spark(kb, df, "p")
    moment = datetime.datetime(2026, 7, 1, 10)
    assert kb.table("p").fetchall() == [(1, 2, 0.5, 1.25, moment)]


def test_a_million_rows_there_and_back(kb: KnowledgeBase, spark: SparkSession) -> None:
    """More than Spark lets a driver collect at once: they come partition by partition."""
    from py4j.protocol import Py4JError
    from pyspark.sql import functions as F

    from zodiac_sql.spark import from_spark, to_spark

    df = spark.range(0, 1_000_000, 1, 16).select(
        F.concat(F.lit("turbine "), F.col("id") % 5000).alias("turbine"),
        F.col("id").alias("number"),
        (F.col("id") / 8).alias("celsius"),
    )
    with pytest.raises(Py4JError, match="maxResultSize"):
        df.toArrow()
    assert from_spark(kb, df, "reading").inserted == {"reading": 1_000_000}
    back = to_spark(kb, spark, "reading")
    assert back.exceptAll(df).isEmpty() and back.count() == 1_000_000
    assert kb.delete("reading", df.where("number >= 10")).deleted == {"reading": 999_990}


def test_insert_and_delete_take_a_data_frame(kb: KnowledgeBase, spark: SparkSession) -> None:
    kb.add_rules("path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z).")
    edges = spark.createDataFrame(pa.table({"s": ["a", "b", "a"], "o": ["b", "c", "b"]}))
    assert kb.insert("edge", edges).inserted == {"edge": 2, "path": 3}
    assert kb.delete("edge", edges.where("s = 'b'")).deleted == {"edge": 1, "path": 2}
    assert kb.replace("edge", edges.where("s = 'b'")).inserted == {"edge": 1, "path": 1}


def test_extensions_and_changes_as_data_frames(kb: KnowledgeBase, spark: SparkSession) -> None:
    from zodiac_sql.errors import QueryError
    from zodiac_sql.spark import change_to_spark, to_spark

    kb.add_rules(
        "path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z). yes() :- path(a, X)."
    )
    kb.insert("edge", [("a", "b"), ("b", "c")])
    assert rows(to_spark(kb, spark, "path")) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert rows(to_spark(kb, spark, "yes")) == [(True,)]
    with kb.update() as update:
        update.insert("edge", [("c", "d")])
        update.delete("edge", [("a", "b")])
    frames = change_to_spark(update.change, spark)
    assert {p: rows(df) for p, df in frames.inserted.items()} == {
        "edge": [("c", "d")], "path": [("b", "d"), ("c", "d")],
    }  # fmt: skip
    assert {p: rows(df) for p, df in frames.deleted.items()} == {
        "edge": [("a", "b")], "path": [("a", "b"), ("a", "c")], "yes": [(True,)],
    }  # fmt: skip
    kb.insert("edge", [("x", "y")])
    with pytest.raises(QueryError):
        change_to_spark(update.change, spark)


def test_a_directory_to_pass_facts_through(
    kb: KnowledgeBase, spark: SparkSession, tmp_path: Path
) -> None:
    from zodiac_sql.spark import to_spark

    kb.insert("p", [("a",), ("b",)])
    assert rows(to_spark(kb, spark, "p", through=str(tmp_path / "exchange"))) == [("a",), ("b",)]
    assert list((tmp_path / "exchange").glob("*/facts.parquet"))


def test_errors(kb: KnowledgeBase, spark: SparkSession, tmp_path: Path) -> None:
    from zodiac_sql.errors import DataError, QueryError, SparkError
    from zodiac_sql.spark import from_spark, to_spark

    kb.add_rules(".decl p(s: symbol, o: int)")
    kb.insert("p", [("a", 1)])
    state = kb._session.state
    for query, said in (
        ("VALUES ('a', 1), ('b', NULL) AS t(s, o)", "p: column o is empty .NULL. in row 2"),
        ("VALUES ('a', 'b') AS t(s, o)", "p: column o has the type int, the data have symbol"),
        ("VALUES ('a') AS t(s)", "p has 2 columns, these rows have 1"),
        ("VALUES ('a', array(1)) AS t(s, o)", "p: column o has the type .*\\[\\]"),
        ("(SELECT 'a' AS s, cast(raise_error('lost the disk') AS int) AS o)", "lost the disk"),
    ):
        with pytest.raises(DataError, match=said):
            from_spark(kb, spark.sql(f"SELECT * FROM {query}"), "p")
    assert kb._session.state.rows == state.rows and kb.table("p").fetchall() == [("a", 1)]
    with pytest.raises(QueryError, match="there is no predicate q"):
        to_spark(kb, spark, "q")
    (tmp_path / "file").write_text("")
    with pytest.raises(SparkError, match="cannot be written"):
        to_spark(kb, spark, "p", through=str(tmp_path / "file" / "below"))


def test_the_rest_does_not_import_spark() -> None:
    import subprocess
    import sys

    script = (
        "import sys, zodiac_sql.cli.main, zodiac_sql.opening\n"
        "kb = zodiac_sql.connect(); kb.insert('p', [('a',)])\n"
        "assert not {'pyspark', 'py4j', 'zodiac_sql.spark'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import importlib.metadata

    from zodiac_sql.errors import SparkError
    from zodiac_sql.spark import require

    found = {"pyspark": "3.5.1", "pandas": "2.2.3"}
    monkeypatch.setattr(importlib.metadata, "version", found.__getitem__)
    with pytest.raises(SparkError, match=r"pyspark>=4.2,<5, and found pyspark 3.5.1: pip install"):
        require.require_packages()
    monkeypatch.undo()
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        SparkError, match="needs Java 17 or later, and there is none.*apt-get install"
    ):
        require.require_java()
    old = tmp_path / "java"
    old.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_312\"' >&2\n")
    old.chmod(0o755)
    with pytest.raises(SparkError, match="java is Java 8"):
        require.require_java()


def test_workers_have_pyspark_from_spark_itself(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --archives it is on the path there, but no installed package."""
    import importlib.metadata

    from zodiac_sql.errors import SparkError
    from zodiac_sql.spark import require

    def version(name: str) -> str:
        if name != "pandas":
            raise importlib.metadata.PackageNotFoundError(name)
        return "2.2.3"

    monkeypatch.setattr(importlib.metadata, "version", version)
    require.require_packages()
    monkeypatch.setattr("pyspark.__version__", "3.5.1")
    with pytest.raises(SparkError, match=r"found pyspark 3.5.1"):
        require.require_packages()


def test_workers_without_the_extra_are_explained() -> None:
    from zodiac_sql.facts.spark_frames import said

    told = said(
        "PythonException: ...\nModuleNotFoundError: No module named 'pyarrow'\n SQLSTATE: 38000"
    )
    assert "lack the module pyarrow" in told and "PYSPARK_PYTHON" in told
