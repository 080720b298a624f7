"""Aggregates that are evaluated in shares of their groups, because not all fit the memory."""

from __future__ import annotations

import math
from pathlib import Path

import pyarrow as pa
import pytest

import zodiac_sql
from zodiac_sql.evaluate.groups_in_shares import divisible
from zodiac_sql.language.parse import parse

GROUPS, EACH = 600, 2500
DECL = ".decl reading(s: symbol, t: int, c: float)\n"
BODY = "AGGREGATE(reading(S, T, C))"


@pytest.fixture(scope="module")
def readings() -> pa.Table:
    """Floats whose sums depend on their order, but not if they are added as sql/aggregates.py has
    it."""
    numbers = range(GROUPS * EACH)
    return pa.table(
        {
            "s": pa.array([f"sensor {n % GROUPS}" for n in numbers]),
            "t": pa.array([n // GROUPS for n in numbers]),
            "c": pa.array([math.sin(n) * 10.0 ** (n % 7) for n in numbers]),
        }
    )


@pytest.mark.parametrize(
    "rule",
    [
        f"a(S, M) :- {BODY} ON S WITH AVG(C) AS M.",
        f"a(S, M, N, K) :- {BODY} ON S WITH AVG(C) AS M, SUM(C) AS N, COUNT(T) AS K.",
    ],
    ids=["one", "several"],
)
def test_shares_have_the_values_of_the_whole(tmp_path: Path, readings: pa.Table, rule: str) -> None:
    tables = []
    for name, limit in (("small", "64MB"), ("large", "4GB")):
        kb = zodiac_sql.connect(tmp_path / f"{name}.duckdb", memory_limit=limit)
        texts: list[str] = []
        kb.trace(lambda text, _, texts=texts: texts.append(text))
        with kb.update() as update:
            update.add_rules(DECL + rule)
            update.insert("reading", readings)
        shared = any("zodiac$shares" in text for text in texts)
        assert not shared or name == "small"  # how much DuckDB 2 spills differs from run to run
        tables.append(sorted(kb.table("a").fetchall()))
        kb.delete("reading", [("sensor 7", 0, math.sin(7))])
        assert kb.verify()
        kb.close()
    small, large = tables
    assert small == large
    assert len(small) == GROUPS


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        (f"a(S, M) :- {BODY} ON S WITH AVG(C) AS M.", True),
        (f"a(S, M) :- {BODY} ON S WITH AVG(C) AS M, COUNT(T) AS N.", True),
        (f"a(M) :- {BODY} WITH AVG(C) AS M.", False),
        (f"a(S, M) :- sensor(S), {BODY} ON S WITH SUM(C) AS M ELSE 0.0.", False),
        ("a(S) :- reading(S, T, C).", False),
    ],
    ids=["one", "several", "no_groups", "else", "no_aggregate"],
)
def test_only_groups_can_be_divided(rule: str, wanted: bool) -> None:
    assert divisible(parse(rule).rules) == wanted
