"""Decimals between Spark and a knowledge base, on a cluster, and in a fleet."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from zodiac_sql.errors import EvaluationError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

LONG = Decimal("12345678901234567890.123456789012345678")
ROWS = [("a", Decimal("0.1")), ("a", Decimal("0.2")), ("b", LONG), ("c", Decimal(0))]
RULES = """
    cheap: cheap(X, P) :- price(X, P), P <= "0.2"^^xsd:decimal.
    total: total(X, S, L, M, C) :- AGGREGATE(price(X, P)) ON X
        WITH SUM(P) AS S, MIN(P) AS L, AVG(P) AS M, COUNT(P) AS C.
    half: half(X, P / 2) :- price(X, P).
    more: more(X) :- price(X, P), limit(P).
    made: made(X, A, B, C, D, E, F) :- price(X, P), A = P + 1, B = round(P, 1), C = int(P),
        D = decimal("1.50"), E = concat(P, " of ", P / 3), F = B * B - round(P * 2, 1).
    limit("0.2"^^xsd:decimal).
"""


def frame(spark: SparkSession, wide: bool = False) -> DataFrame:
    type_ = pa.decimal128(38, 18)
    items, prices = zip(*ROWS, strict=True)
    df = spark.createDataFrame(pa.table({"item": items, "euro": pa.array(prices, type_)}))
    return df.where("item <> 'b'").selectExpr("item", "cast(euro AS decimal(6, 3))") if wide else df


def test_there_and_back(open_kb: OpenKb, spark: SparkSession) -> None:
    from zodiac_sql.spark import from_spark, to_spark

    with open_kb() as kb:
        from_spark(kb, frame(spark), "price")
        assert sorted(kb.table("price").fetchall()) == ROWS
        back = to_spark(kb, spark, "price")
        assert back.dtypes == [("item", "string"), ("euro", "decimal(38,18)")]
        assert sorted(tuple(row) for row in back.collect()) == ROWS


def expected(open_kb: OpenKb) -> dict[str, set[tuple[object, ...]]]:
    with open_kb() as kb:
        kb.insert("price", ROWS)
        kb.add_rules(RULES)
        return {n: set(kb.table(n).fetchall()) for n in ("cheap", "total", "half", "more", "made")}


def test_on_a_cluster(open_kb: OpenKb, spark: SparkSession) -> None:
    from zodiac_sql.spark import materialise

    found = materialise(spark, RULES, {"price": frame(spark)}, driver_rows=0)
    for name, rows in expected(open_kb).items():
        assert {tuple(row) for row in found[name].collect()} == rows, name
    assert [kind for _, kind in found["cheap"].dtypes] == ["string", "decimal(38,18)"]


def test_what_has_no_room_is_an_error(spark: SparkSession) -> None:
    from zodiac_sql.spark import materialise

    for value in ("P * P", "P * 100"):
        with pytest.raises(EvaluationError, match="rule r1.*cannot be evaluated.*decimal"):
            rules = f"p(X, V) :- price(X, P), V = {value}."
            materialise(spark, rules, {"price": frame(spark)}, driver_rows=0)


def test_in_a_fleet(open_kb: OpenKb, spark: SparkSession) -> None:
    """Each device has a database of its own, which multiplies decimals exactly."""
    from zodiac_sql.spark import fleet

    prices = frame(spark).selectExpr("item AS turbine", "euro")
    rules = 'twice(P * "1.5"^^xsd:decimal) :- price(P).'
    answer = fleet(prices, rules, predicate="price", derive="twice")
    assert {(row[0], row[1]) for row in answer.collect()} == {
        (item, price * 3 / 2) for item, price in ROWS if price != LONG
    } | {("b", Decimal("18518518351851851835.185185183518518517"))}


def test_other_widths_on_a_cluster(spark: SparkSession) -> None:
    from zodiac_sql.spark import materialise

    found = materialise(spark, "p(X, P) :- price(X, P).", {"price": frame(spark, wide=True)})
    assert {tuple(row) for row in found["p"].collect()} == {r for r in ROWS if r[0] != "b"}
    long = spark.sql("SELECT 'x' AS item, cast(1e-30 AS decimal(38, 30)) AS euro")
    with pytest.raises(Exception, match="euro holds 0.0*1: decimals have 20 digits"):
        materialise(spark, "p(X, P) :- price(X, P).", {"price": long})["p"].collect()
