"""What a change is expected to derive, before it is evaluated."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from zodiac_sql import KnowledgeBase, QueryError
from zodiac_sql.change import apply
from zodiac_sql.change.plan_sizes import PlannedSizes
from zodiac_sql.change.update import Update
from zodiac_sql.cost import statistics

OpenKb = Callable[..., KnowledgeBase]

RULES = """
    copy: tc(X, Y) :- edge(X, Y).
    trans: tc(X, Z) :- tc(X, Y), tc(Y, Z).
    two: two(X, Z) :- edge(X, Y), edge(Y, Z).
    three: three(X, Z) :- two(X, Y), edge(Y, Z).
    lower: lower(X, Y) :- three(X, Y), X < Y.
    far: far(X, Y) :- two(X, Y), not edge(X, Y).
    number: number(X, N) :- AGGREGATE(edge(X, Y)) ON X WITH COUNT(Y) AS N.
    self: self(X) :- edge(X, X).
    one: one(c) :- edge(_, _).
    odd0: odd(X, Y) :- edge(X, Y).
    odd: odd(X, Z) :- even(X, Y), edge(Y, Z).
    even: even(X, Z) :- odd(X, Y), edge(Y, Z).
    up0: up(X, 0) :- number(X, _).
    up: up(X, M) :- up(X, N), M = N + 1, M < 5.
"""


def edges() -> list[tuple[int, int]]:
    rng = random.Random(4)
    return [(rng.randrange(400), rng.randrange(400)) for _ in range(800)]


def tell(update: Update) -> None:
    update.add_rules(RULES)
    update.insert("edge", edges())


def rows_of(plan: PlannedSizes) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in plan.hypernodes:
        for name in one.derives:
            found[name] = found.get(name, 0) + one.rows
    return found


def test_a_plan_is_near_to_what_comes(open_kb: OpenKb, tmp_path: Path) -> None:
    kb = open_kb(tmp_path / "some.duckdb")
    with kb.preview(plan=True) as update:
        tell(update)
    plan = update.plan
    assert kb.predicates().to_pylist() == [] and plan.explicit == len(set(edges()))
    with kb.update() as update:
        tell(update)
    derived = {row["predicate"]: row["derived"] for row in kb.predicates().to_pylist()}
    expected = rows_of(plan)
    for name in ("two", "three", "lower", "number", "one"):
        assert expected[name] == pytest.approx(derived[name], rel=0.5), name
    # Its hypernodes both hold what the other one does not need to, and the sample has all of it.
    assert abs(expected["tc"] - derived["tc"]) <= 2 * plan.explicit
    by_rows = {one.derives: one for one in plan.hypernodes}
    both = by_rows["even", "odd"] if ("even", "odd") in by_rows else by_rows["odd", "even"]
    assert both.how == "bounds" and both.most
    assert both.least <= derived["odd"] + derived["even"] <= both.most
    (up,) = (one for one in plan.hypernodes if one.derives == ("up",) and one.recursive)
    assert up.most is None and up.how == "bounds"
    assert plan.bytes > kb.sql("SELECT count(*) FROM tc").fetchall()[0][0] and plan.problem is None


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("explicit", [False, True])
def test_a_closure_that_begins_with_other_facts(
    open_kb: OpenKb, mirrored: bool, explicit: bool
) -> None:
    """Types along subclasses: each fact leads to what its end reaches, not to all edges."""
    typed = [(f"x{i}", f"c{100 + i % 200}") for i in range(5_000)]
    along = [(f"c{i}", f"c{i // 3}") for i in range(1, 300)]
    step = "t(X, D) :- t(X, C), sub(C, D)."
    if mirrored:
        typed, along = ([(b, a) for a, b in some] for some in (typed, along))
        step = "t(D, X) :- sub(D, C), t(C, X)."
    kb = open_kb()

    def tell(update: Update) -> None:
        update.add_rules(step if explicit else f"t(X, Y) :- typ(X, Y). {step}")
        update.insert("sub", along)
        update.insert("t" if explicit else "typ", typed)

    with kb.preview(plan=True) as update:
        tell(update)
    (recursive,) = (one for one in update.plan.hypernodes if one.recursive)
    assert recursive.how == "closure, from a sample"
    with kb.update() as change:
        tell(change)
    found = change.change.stats.hypernodes[recursive.hypernode]
    assert recursive.rows == pytest.approx(found.inserted, rel=0.1)


@pytest.mark.parametrize("step", ["p(X, Z) :- p(X, Y), e(Y, Z)", "p(X, Z) :- p(X, Y), p(Y, Z)"])
def test_a_closure_of_different_ends(open_kb: OpenKb, step: str) -> None:
    kb = open_kb()
    with kb.preview(plan=True) as update:
        update.add_rules(f"p(X, Y) :- e(X, Y). {step}, X != Z.")
        update.insert("e", [(i, i + 1) for i in range(300)])
    (recursive,) = (one for one in update.plan.hypernodes if one.recursive)
    assert recursive.how == "closure, from a sample"
    assert recursive.rows == pytest.approx(300 * 301 / 2, rel=0.1)


def test_a_closure_that_begins_with_one_fact(open_kb: OpenKb) -> None:
    kb = open_kb()
    with kb.preview(plan=True) as update:
        update.add_rules("s(X, Y) :- first(X, Y). s(X, Z) :- s(X, Y), sub(Y, Z).")
        update.insert("first", [("a", "c299")])
        update.insert("sub", [(f"c{i}", f"c{i // 3}") for i in range(1, 300)])
    (recursive,) = (one for one in update.plan.hypernodes if one.recursive)
    assert 3 <= recursive.rows <= 8


@pytest.mark.parametrize(
    "rule",
    [
        "far(X, Y) :- hub(X, Y), X = s1.",
        "far(X, Y) :- hub(X, Y), s1 = X.",
        "far(X, Y) :- hub(X, Y), BIND(s1 AS X).",
        "far(s1, Y) :- hub(s1, Y).",
        "far(X, Y) :- hub(X, Y), X = s1, hub(X, W), W = t1.",
    ],
)
def test_a_value_that_is_given_is_one_value(open_kb: OpenKb, rule: str) -> None:
    kb = open_kb()
    with kb.preview(plan=True) as update:
        update.add_rules(rule)
        update.insert("hub", [("s0", f"t{i}") for i in range(2_000)])
        update.insert("hub", [(f"s{i}", f"t{i}") for i in range(1, 1_000)])
    assert rows_of(update.plan)["far"] <= 5


def test_a_plan_of_few_facts_and_of_none(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.add_rules(RULES)
    with kb.preview(plan=True) as update:
        pass
    assert {*rows_of(update.plan).values()} <= {0, 1}
    assert update.plan.free is None and update.plan.problem is None
    with pytest.raises(QueryError, match="an update's change"):
        _ = update.change
    with kb.update() as update:
        update.insert("edge", [(1, 2)])
    with pytest.raises(QueryError, match="preview"):
        _ = update.plan
    assert kb.verify()


def test_a_disk_that_is_too_small_is_told(
    open_kb: OpenKb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage:
        free = 1000

    monkeypatch.setattr(apply, "disk_usage", lambda _: Usage)
    kb = open_kb(tmp_path / "some.duckdb")
    with kb.preview(plan=True) as update:
        tell(update)
    assert update.plan.problem
    assert "1,000 are free" in update.plan.problem


@pytest.mark.parametrize("early", [False, True], ids=["same change", "there already"])
def test_large_tables_are_not_counted(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, early: bool
) -> None:
    """DuckDB's statistics tell their values, in the file as in a table of the change."""
    monkeypatch.setattr(statistics, "LARGEST_COUNTED", 100)
    rows = [(n % 50, n) for n in range(2_000)]
    with open_kb() as kb:
        if early:
            kb.insert("p", rows)
        with kb.preview(plan=True) as preview:
            if not early:
                preview.insert("p", rows)
            preview.add_rules("first(X) :- p(X, _). pairs(Y, Z) :- p(X, Y), p(X, Z).")
        assert preview.plan is not None
        expected = rows_of(preview.plan)
        assert 35 < expected["first"] < 65
        assert 60_000 < expected["pairs"] < 100_000
