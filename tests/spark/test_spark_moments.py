"""Dates and times in rules for Spark: DuckDB computes their functions, in Spark's workers."""

from __future__ import annotations

import datetime as dt
from random import Random
from typing import TYPE_CHECKING

import pyarrow as pa
from support import budget
from support.naive_moments import bucket_of, day_of, days_between, formatted

from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.spark.planning import plan_rules

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

READING = {"reading": (Column("x", Type.SYMBOL), Column("at", Type.TIMESTAMP))}
ZONES = (
    "Europe/Berlin", "America/New_York", "America/Caracas", "Asia/Kathmandu",
    "Australia/Lord_Howe", "Pacific/Apia",
)  # fmt: skip
MOMENTS = budget.either(ci=300, fuzz=6_000)
FORM = "%Y-%m-%dT%H:%M:%S%z"


def test_texts_are_moments_where_columns_say_so() -> None:
    planned = plan_rules(
        '.decl day(d: date) day("2026-01-31"). p(X) :- reading(X, T), T > "2026-01-31T12:00:00".',
        READING,
    )
    assert planned.facts == {"day": [(dt.date(2026, 1, 31),)]}
    (rule,) = planned.graph.rules()
    assert rule.text.endswith('T > "2026-01-31T12:00:00"^^xsd:dateTime.')


def test_functions_in_zones(spark: SparkSession) -> None:
    """Against Python's zoneinfo, also where clocks are changed."""
    from zodiac_sql.spark import materialise

    chance = Random(budget.seed(558))
    begin = dt.datetime(1990, 1, 1)
    moments = {
        begin + dt.timedelta(minutes=15 * chance.randrange(40 * 35040)) for _ in range(MOMENTS)
    }
    rules = "".join(
        f'z("{zone}", T, D, B, F) :- at(T), D = date(T, "{zone}"), '
        f'B = time_bucket("1 day", T, "{zone}"), F = format_time(T, "{FORM}", "{zone}").\n'
        for zone in ZONES
    )
    rules += 'n(T, B, N, S) :- at(T), B = time_bucket("7 hours", T), N = days_between(B, T), '
    rules += "S = seconds_between(B, T)."
    at = spark.createDataFrame(pa.table({"at": pa.array(sorted(moments), pa.timestamp("us"))}))
    found = materialise(spark, rules, {"at": at}, driver_rows=0)
    assert set(map(tuple, found["z"].collect())) == {
        (zone, t, day_of(t, zone), bucket_of("1 day", t, zone), formatted(t, FORM, zone))
        for zone in ZONES
        for t in moments
    }
    assert set(map(tuple, found["n"].collect())) == {
        (t, b, days_between(b, t), (t - b).total_seconds())
        for t in moments
        for b in [bucket_of("7 hours", t)]
        if isinstance(b, dt.datetime)
    }
