"""Columns of terms of all kinds on a cluster: texts, whose values DuckDB reads in the workers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import zodiac_sql
from zodiac_sql.errors import DataError, SparkError
from zodiac_sql.language.symbols import XSD
from zodiac_sql.language.syntax import Type
from zodiac_sql.spark import Materialisation, fleet, materialise, to_spark
from zodiac_sql.spark.versions import Directory

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FIVE, HALF = f'"5"^^<{XSD}integer>', f'"0.5"^^<{XSD}double>'
DECIMAL, ZONED = f'"2.50"^^<{XSD}decimal>', f'"2026-01-31T13:00:00+01:00"^^<{XSD}dateTime>'
ROWS = [("a", FIVE), ("b", "n/a"), ("c", HALF)]
DECLARED = ".decl reading(sensor: symbol, value: any).\n"
COPIED = DECLARED + "same(X, Y) :- reading(X, V), reading(Y, V)."


def frame(spark: SparkSession, rows: list[tuple[str, str]]) -> DataFrame:
    return spark.createDataFrame(pa.table([*zip(*rows, strict=True)], ["sensor", "value"]))


def rows(df: DataFrame) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in df.collect())


@pytest.mark.parametrize("driver_rows", [0, 1000])
def test_terms_are_copied_and_joined_as_texts(spark: SparkSession, driver_rows: int) -> None:
    rules = DECLARED + "seen(V) :- reading(X, V). seen(X) :- reading(X, V). reading(d, 5)."
    made = materialise(spark, rules, {"reading": frame(spark, ROWS)}, driver_rows=driver_rows)
    assert rows(made["seen"]) == sorted((v,) for v in [FIVE, "n/a", HALF, "a", "b", "c", "d"])
    assert rows(made["reading"]) == sorted([*ROWS, ("d", FIVE)])


def test_facts_in_rules_make_a_column_of_terms_of_all_kinds(spark: SparkSession) -> None:
    rules = 'p(a, 5). p(b, "n/a"). p(c, 0.5). q(V) :- p(X, V).'
    made = materialise(spark, rules, {}, driver_rows=0)
    assert rows(made["q"]) == sorted([(FIVE,), ("n/a",), (HALF,)])


READING = """
    limit(5). limit(7).
    high: high(X) :- reading(X, V), V > 3.
    total: total(S, M, L, D) :- AGGREGATE(reading(X, V)) WITH SUM(V) AS S, MIN(V) AS L, MED(V) AS D,
        AVG(V) AS M.
    either: either(X, V) :- reading(X, V), T = if(V > 3, V, X), T = V.
    sums: sums(X, S) :- reading(X, _), AGGREGATE(reading(X, V), limit(L), V < L) ON X WITH SUM(V)
        AS S ELSE 0.
    said: said(X, T) :- reading(X, V), T = concat(text(V), " ", V / 3).
    hour: hour(X, T) :- reading(X, V), T = format_time(V, "%H:%M", "Asia/Tokyo").
    grows: grows(V) :- reading(_, V). grows(W) :- grows(V), W = V * 2, W < 100.
"""


def test_values_are_read_as_the_embedded_engine_reads_them(spark: SparkSession) -> None:
    facts = [*ROWS, ("d", DECIMAL), ("e", ZONED), ("f", "http://e/x")]
    rules = DECLARED + READING
    found = materialise(spark, rules, {"reading": frame(spark, facts)}, driver_rows=0)
    with zodiac_sql.connect() as kb:
        kb.add_rules(rules)
        kb.insert("reading", facts)
        for name in found.derived:
            assert rows(found[name]) == sorted(kb.table(name).fetchall()), name


def test_workers_without_zodiac_sql_refuse_by_name(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zodiac_sql.spark.refusals.have", lambda *_: False)
    rules = DECLARED + "r: high(T) :- reading(X, V), V > 3, T = epoch(V)."
    with pytest.raises(SparkError, match=r"rule r .*\(epoch, values of terms\)"):
        materialise(spark, rules, {"reading": frame(spark, ROWS)})
    copied = materialise(spark, COPIED, {"reading": frame(spark, ROWS)}, driver_rows=0)
    assert copied["same"].count() == 3


def test_native_values_are_no_texts_of_terms(spark: SparkSession) -> None:
    numbers = spark.createDataFrame(pa.table({"sensor": ["a"], "value": [5]}))
    with pytest.raises(DataError, match="value: any"):
        materialise(spark, DECLARED, {"reading": numbers})


def test_a_materialisation_keeps_the_type(spark: SparkSession, tmp_path: Path) -> None:
    rules = DECLARED + "seen(V) :- reading(X, V)."
    kept = Materialisation(spark, rules, tmp_path / "m", driver_rows=0)
    kept.update(inserts={"reading": frame(spark, ROWS)})
    version = Directory(tmp_path / "m").last()
    assert [c.meant for c in version.columns["reading"]] == [Type.SYMBOL, Type.ANY]
    again = Materialisation(spark, None, tmp_path / "m", driver_rows=0)
    changed = again.update(deletes={"reading": frame(spark, ROWS[:1])})
    assert [row[0] for row in changed["seen"].collect()] == [FIVE]
    assert rows(again["seen"]) == sorted([("n/a",), (HALF,)])


def test_devices_compute_with_terms(spark: SparkSession) -> None:
    facts = spark.createDataFrame(
        pa.table(
            {"device": ["d", "d", "e"], "sensor": ["a", "b", "c"], "value": [FIVE, "n/a", HALF]}
        )
    )
    rules = DECLARED + "high(X) :- reading(X, V), V > 3."
    found = fleet(facts, rules, by="device", predicate="reading", derive="high")
    assert rows(found) == [("d", "a")]


def test_hand_off(spark: SparkSession) -> None:
    with zodiac_sql.connect() as kb:
        kb.add_rules(DECLARED)
        kb.insert("reading", frame(spark, ROWS))
        assert rows(to_spark(kb, spark, "reading")) == sorted(ROWS)
