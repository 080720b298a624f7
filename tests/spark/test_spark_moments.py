"""Dates and times in rules for Spark, checked before any session is there."""

from __future__ import annotations

import datetime as dt

import pytest

from zodiac_sql.errors import SparkError
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.spark.planning import plan_rules
from zodiac_sql.spark.refusals import require_runnable

READING = {"reading": (Column("x", Type.SYMBOL), Column("at", Type.TIMESTAMP))}


@pytest.mark.parametrize(
    "value", ["date(T)", 'time_bucket("1 hour", T)', 'format_time(T, "%Y")', "days_between(T, T)"]
)
def test_functions_of_moments_are_refused_by_name(value: str) -> None:
    planned = plan_rules(f"p(X, V) :- reading(X, T), V = {value}.", READING)
    with pytest.raises(SparkError, match=rf"uses {value.partition('(')[0]}: Spark has no such"):
        require_runnable(planned, True)


def test_texts_are_moments_where_columns_say_so() -> None:
    planned = plan_rules(
        '.decl day(d: date) day("2026-01-31"). p(X) :- reading(X, T), T > "2026-01-31T12:00:00".',
        READING,
    )
    require_runnable(planned, True)
    assert planned.facts == {"day": [(dt.date(2026, 1, 31),)]}
    (rule,) = planned.graph.rules()
    assert rule.text.endswith('T > "2026-01-31T12:00:00"^^xsd:dateTime.')
