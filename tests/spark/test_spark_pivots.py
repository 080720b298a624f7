"""Recursion that the workers compute apart: which rules allow it, and that it follows changes."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import budget
from support.spark_data import frame

from zodiac_sql.spark.evaluated_program import evaluated_program
from zodiac_sql.spark.pivots import Pivot, pivot_of
from zodiac_sql.spark.planning import plan_rules

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

DECLARED = """
    .decl e(x: int, y: int) .decl f(x: int, y: int) .decl w(x: float, y: float)
    .decl node(x: int) .decl t(x: int, y: int, z: int)
"""


def pivot(text: str) -> Pivot | None:
    planned = plan_rules(DECLARED + text, {})
    program = evaluated_program(planned, ("e",))
    (found,) = (pivot_of(h, program.columns) for h in program.hypernodes if h.recursive)
    return found


@pytest.mark.parametrize(
    ("text", "places", "reads"),
    [
        ("p(X, Y) :- e(X, Y). p(X, Z) :- p(X, Y), f(Y, Z).", (0,), {"f"}),
        ("p(X, Y) :- e(X, Y). p(X, Z) :- f(X, Y), p(Y, Z).", (1,), {"f"}),
        ("p(X, Y) :- e(X, Y). p(X, Z) :- p(X, Y), f(Y, Z), not e(Z, Z).", (0,), {"e", "f"}),
        ("p(X, Y) :- e(X, Y). p(X, Y) :- p(X, Z), p(X, W), t(Z, W, Y).", (0,), {"t"}),
        ("p(A, X, B) :- t(A, X, B). p(A, Y, B) :- p(A, X, B), e(X, Y).", (0, 2), {"e"}),
        ("p(A, N) :- e(A, N). p(A, M) :- p(A, N), N < 9, M = N + 1.", (0,), set()),
        # Each rule keeps a column, but not the same one.
        ("p(X, Y) :- e(X, Y). p(X, Z) :- p(X, Y), e(Y, Z). p(X, Z) :- e(X, Y), p(Y, Z).", None, ()),
        ("p(X, Y) :- e(X, Y). p(Y, X) :- p(X, Y).", None, ()),
        ("p(X, Y) :- e(X, Y). p(1, Y) :- p(1, X), e(X, Y).", None, ()),
        ("p(X, Y) :- q(X, Y). q(X, Y) :- e(X, Y). q(X, Z) :- p(X, Y), e(Y, Z).", None, ()),
        ("p(X, MIN(Y)) :- e(X, Y). p(X, MIN(Z)) :- p(X, Y), Z = Y + 1, Z < 9.", None, ()),
    ],
)  # fmt: skip
def test_pivots(text: str, places: tuple[int, ...] | None, reads: set[str]) -> None:
    found = pivot(text)
    assert (found and found.places) == places
    assert found is None or (found.reads == reads and not found.made)


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("p(X, Y) :- e(X, Y). p(X, Z) :- p(X, Y), p(Y, Z).", "p(X, Y), e(Y, Z)"),
        ("p(X, Y) :- e(X, Y). p(A, C) :- p(B, C), p(A, B).", "p(A, B), e(B, C)"),
        ("e(X, Z) :- e(X, Y), e(Y, Z).", "e(X, Y), e\0given(Y, Z)"),
        # Nothing else may begin, and values must be equal in both relations.
        ("p(X, Y) :- e(X, Y). p(X, Y) :- f(X, Y). p(X, Z) :- p(X, Y), p(Y, Z).", None),
        ("p(X, X) :- node(X). p(X, Z) :- p(X, Y), p(Y, Z).", None),
        ("p(X, Y) :- e(X, Y). p(X, Z) :- p(X, Y), p(Y, Z), X != Z.", None),
        (".decl p(x: float, y: float) p(X, Y) :- e(X, Y). p(X, Z) :- p(X, Y), p(Y, Z).", None),
    ],
)
def test_a_transitive_rule_is_made_linear(text: str, step: str | None) -> None:
    found = pivot(text)
    if step is None:
        assert found is None
    else:
        assert found is not None and found.made and found.places == (0,)
        assert ", ".join(map(str, found.steps[0].body)) == step


MORE = " path(X, Z) :- path(X, Y), more(Y, Z)."
RULES = (
    ("path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z), not blocked(Z).", MORE),
    ("path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), path(Y, Z).", MORE),
    ("edge(X, Z) :- edge(X, Y), edge(Y, Z).", " edge(X, Y) :- more(X, Y)."),
    (
        "path(L, X, Y) :- edge(X, Y), label(Y, L). path(L, X, Z) :- edge(X, Y), path(L, Y, Z).",
        " path(L, X, X) :- label(X, L), more(X, _).",
    ),
)
"""Rules, and one that comes later."""

COLUMNS = {"edge": 2, "more": 2, "blocked": 1, "label": 2}


@settings(max_examples=budget.either(ci=2, fuzz=8))
@given(seed=st.integers(0, 2**32 - 1))
def test_changes(
    open_kb: OpenKb, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    from zodiac_sql.spark import Materialisation

    chance = random.Random(seed)
    first, later = chance.choice(RULES)
    with open_kb() as kb:
        kb.add_rules(first)
        kept = Materialisation(spark, first, tmp_path_factory.mktemp("kept"), driver_rows=0)
        for number in range(3):
            come, go = (
                _rows(chance, first + later, many) for many in ((2, 2) if number else (18, 0))
            )
            rules = first + later if number == 2 else None
            with kb.update() as update:
                for predicate, rows in go.items():
                    update.delete(predicate, rows)
                for predicate, rows in come.items():
                    update.insert(predicate, rows)
                if rules:
                    update.add_rules(later)
            change = kept.update(_frames(spark, come), _frames(spark, go), rules)
            assert dict(change.inserted) == update.change.inserted
            assert dict(change.deleted) == update.change.deleted
            for predicate in kb.predicates()["predicate"].to_pylist():
                ours = [tuple(row) for row in kept[predicate].collect()]
                assert sorted(ours) == sorted(kb.table(predicate).fetchall()), predicate


def _rows(chance: random.Random, rules: str, many: int) -> dict[str, list[tuple[int, ...]]]:
    """Facts of some predicates that rules mention: of all, if they are many."""
    found = {}
    for predicate, width in COLUMNS.items():
        rows = {tuple(chance.randrange(6) for _ in range(width)) for _ in range(many)}
        if predicate in rules and rows and (many > 2 or chance.random() < 0.4):
            found[predicate] = sorted(rows)
    return found


def _frames(spark: SparkSession, facts: dict[str, list[tuple[int, ...]]]) -> dict[str, Any]:
    return {predicate: frame(spark, rows) for predicate, rows in facts.items()}


def test_values_of_all_types_come_through(spark: SparkSession) -> None:
    from datetime import date, datetime

    from zodiac_sql.spark import materialise

    rows = [
        ("é", 2**62, -0.5, True, date(2026, 11, 24), datetime(2026, 11, 24, 1, 2, 3, 4), 1),
        ("", -(2**62), float("inf"), False, date(1, 1, 1), datetime(1970, 1, 1), 1),
    ]
    columns = [list(c) for c in zip(*rows, strict=True)]
    table = pa.table(columns, [f"c{place}" for place in range(len(columns))])
    facts = {"v": spark.createDataFrame(table), "next": frame(spark, [(1, 2), (2, 3)])}
    rules = "w(A, B, C, D, E, F, N) :- v(A, B, C, D, E, F, N)." + (
        " w(A, B, C, D, E, F, M) :- w(A, B, C, D, E, F, N), next(N, M)."
    )
    found = materialise(spark, rules, facts, driver_rows=0)
    assert [dict(one.found) for one in found.iterations][-1] == {"w": 6}
    assert {tuple(row) for row in found["w"].collect()} == {
        (*row[:-1], n) for row in rows for n in (1, 2, 3)
    }


def test_an_integer_that_overflows_in_a_worker(spark: SparkSession) -> None:
    from zodiac_sql.errors import EvaluationError
    from zodiac_sql.spark import materialise

    rules = "double(G, N) :- n(G, N). double(G, M) :- double(G, N), M = N * 2."
    with pytest.raises(EvaluationError, match="64 bits") as caught:
        materialise(spark, rules, {"n": frame(spark, [(1, 3)])}, driver_rows=0)
    assert str(caught.value).count("cannot be evaluated") == 1


def test_workers_without_zodiac_sql(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """They are asked first; then rounds move facts, as for all other recursion."""
    from zodiac_sql.spark import Materialisation

    monkeypatch.setattr("zodiac_sql.__version__", "0.0.0")
    rules = "p(X, Y) :- e(X, Y). p(X, Z) :- p(X, Y), e(Y, Z)."
    kept = Materialisation(spark, rules, tmp_path, driver_rows=0)
    kept.update({"e": frame(spark, [(1, 2), (2, 3), (4, 5), (5, 6)])})
    change = kept.update({"e": frame(spark, [(3, 4)])})
    assert dict(change.hypernodes) == {"p": "semi-naive"}
    assert kept["p"].count() == 15
