"""The values that rules compute, by look-ups, against those of DuckDB."""

from __future__ import annotations

import datetime as dt
import math
import sqlite3
from collections.abc import Callable
from decimal import Decimal
from itertools import count
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from sqlglot import exp
from support.struck import struck_at

from zodiac_sql import EvaluationError
from zodiac_sql.language.binding import arrange
from zodiac_sql.language.functions import BUILTINS, result_type
from zodiac_sql.language.parse import parse
from zodiac_sql.language.syntax import Call, Type, Variable
from zodiac_sql.lookups.computed_values import (
    MOST_PARTS,
    NAMES,
    Named,
    is_partial,
    make_functions,
    named,
)
from zodiac_sql.lookups.values import Unknown, encoded_value
from zodiac_sql.sql.functions import OPERATORS, built, typed

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

MOMENTS = (Type.DATE, Type.TIMESTAMP)
SUM = "v(S) :- AGGREGATE(size(X)) WITH AVG(X) AS S."

VALUES: dict[Type, list[Any]] = {
    Type.INT: [0, 1, -1, 2, 3, -7, 10, 2**53 + 1, 2**62, 2**63 - 1, -(2**63)],
    Type.FLOAT: [
        0.0, 0.5, -0.5, 1.0, -1.5, 2.5, 0.1, 1e300, -1e300, 5e-324, -5e-324,
        2.0**63, -(2.0**63), math.inf, -math.inf,
    ],
    Type.DATE: [dt.date(1, 1, 1), dt.date(1969, 12, 31), dt.date(2024, 2, 29), dt.date.max],
    Type.BOOL: [True, False],
    Type.DECIMAL: [Decimal("1.5"), Decimal("-0.25"), Decimal(0), Decimal(2**63)],
    Type.SYMBOL: [7, 8],
    Type.TIMESTAMP: [
        dt.datetime(1, 1, 1), dt.datetime(1969, 12, 31, 23, 59, 59, 999_999),
        dt.datetime(2024, 2, 29, 12, 0, 0, 1), dt.datetime.max,
    ],
}  # fmt: skip
DUCKDB = {
    Type.BOOL: "BOOLEAN", Type.SYMBOL: "INTEGER", Type.INT: "BIGINT", Type.FLOAT: "DOUBLE",
    Type.DECIMAL: "DECIMAL(38, 18)", Type.DATE: "DATE", Type.TIMESTAMP: "TIMESTAMP",
}  # fmt: skip


@pytest.mark.parametrize("key", NAMES, ids=lambda key: f"{key[0]} {key[1]}")
def test_functions_have_the_values_of_duckdb(key: tuple[str, tuple[Type, ...]]) -> None:
    """Where DuckDB refuses to compute one, or it is NaN, it is not known in SQLite."""
    function, types = key
    ours, theirs, unknown, rng = sqlite3.connect(""), duckdb.connect(), Unknown(), Random(3)
    make_functions(ours, unknown)
    result = result_type(BUILTINS[function], types)
    assert result is not None
    columns = [exp.column(f"a{place}") for place in range(len(types))]
    if function in OPERATORS:
        text = OPERATORS[function](this=columns[0], expression=columns[1]).sql("duckdb")
    else:
        text = typed(result, built(function, result, columns, types)).sql("duckdb")
    given = ", ".join(f"${n + 1}::{DUCKDB[type_]} AS a{n}" for n, type_ in enumerate(types))
    for _ in range(50):
        values = [rng.choice([*VALUES[type_], None]) for type_ in types]
        unknown.asked = False
        (mine,) = ours.execute(
            f"SELECT {NAMES[key]}({', '.join('?' for _ in types)})",
            [v if v is None else encoded_value(t, v) for t, v in zip(types, values, strict=True)],
        ).fetchone()
        try:
            (other,) = theirs.execute(f"SELECT {text} FROM (SELECT {given})", values).fetchall()[0]
        except duckdb.OutOfRangeException:
            other = math.nan
        if isinstance(other, float) and math.isnan(other):
            assert unknown.asked, (values, mine)
        elif not unknown.asked or function != "round":  # before the point
            is_other = result in (*MOMENTS, Type.DECIMAL) and other is not None
            other = encoded_value(result, other) if is_other else other
            assert str(mine) == str(int(other) if isinstance(other, bool) else other), values
    ours.close()
    theirs.close()


WIDTHS = [
    "7 seconds",
    "15 minutes",
    "36 hours",
    "1 day",
    "1 week",
    "1 month",
    "7 months",
    "30 years",
]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("type_", MOMENTS)
def test_buckets_have_the_values_of_duckdb(type_: Type, width: str) -> None:
    ours, theirs, rng = sqlite3.connect(""), duckdb.connect(), Random(4)
    make_functions(ours, Unknown())
    (rule,) = parse(f'p(B) :- q(X), B = time_bucket("{width}", X).', "<test>", {}).rules
    (step,) = arrange(rule.body).steps
    found = named(step.expression, {"X": Named(Variable("X"), type_, 1)})
    assert found and found.type is type_ and is_partial(found.expression)
    assert isinstance(found.expression, Call)
    *numbers, _ = found.expression.arguments
    interval = exp.Literal.string(width)
    sql = built("time_bucket", type_, [interval, exp.column("x")], [Type.SYMBOL, type_])
    given = f"SELECT $1::{DUCKDB[type_]} AS x"
    asked = f"SELECT {typed(type_, sql).sql('duckdb')} FROM ({given})"
    for _ in range(200):
        second = dt.timedelta(microseconds=1) * rng.randrange(10**12)
        value = rng.choice(VALUES[type_])
        value = value if value.year == 9999 else value + second * rng.choice([0, 1, 10**4])
        looked_up = f"SELECT {found.expression.function}({', '.join(map(str, numbers))}, ?)"
        (mine,) = ours.execute(looked_up, [encoded_value(type_, value)]).fetchone()
        (other,) = theirs.execute(asked, [value]).fetchall()[0]
        assert mine == (other and encoded_value(type_, other)), value
    ours.close()
    theirs.close()


def test_buckets_of_a_zone_are_left_to_duckdb() -> None:
    (rule,) = parse('p(B) :- q(X), B = time_bucket("1 day", X, "UTC").', "<test>", {}).rules
    (step,) = arrange(rule.body).steps
    assert named(step.expression, {"X": Named(Variable("X"), Type.TIMESTAMP, 1)}) is None


def test_values_that_would_double_with_each_step() -> None:
    """Each use of a value writes all that it is made of."""
    known = {"X": Named(Variable("X"), Type.INT, 1)}
    steps = ", ".join(f"X{n + 1} = X{n or ''} * X{n or ''}" for n in range(9))
    (rule,) = parse(f"p(X9) :- q(X), {steps}.", "<test>", {}).rules
    sizes = []
    for step in arrange(rule.body).steps:
        found = named(step.expression, known)
        if found is None:
            break
        known[step.variable.name] = found
        sizes.append(found.parts)
    assert sizes == [3, 7, 15, 31, 63] and MOST_PARTS == 64


def test_a_value_is_computed_as_soon_as_it_can_be_looked_up(open_kb: OpenKb) -> None:
    """`later` has 20,000 facts: without the key that is computed, the change would be declined."""
    kb = open_kb(strategy="lookups")
    kb.add_rules("pair(X, Y) :- now(X), Y = X * 2 + 1, later(Y).")
    kb.insert("later", [(n,) for n in range(20_000)])
    kb.insert("now", [(1,)])
    for number in range(2, 5):
        change = kb.insert("now", [(number,)])
        assert {one.strategy for one in change.stats.hypernodes.values()} == {"lookups"}
        assert change.inserted == {"now": 1, "pair": 1}
    assert kb.delete("later", [(5,)]).deleted == {"later": 1, "pair": 1}
    assert kb.verify()


def test_what_is_refused_is_refused_as_ever(open_kb: OpenKb) -> None:
    kb = open_kb(strategy="lookups")
    kb.add_rules("twice(X, Y) :- size(X, N), Y = N * 2.")
    kb.insert("size", [("a", 1)])
    kb.insert("size", [("b", 2**61)])
    with pytest.raises(EvaluationError, match="rule r1"):
        kb.insert("size", [("c", 2**62)])
    assert kb.insert("size", [("c", 2**60)]).inserted == {"size": 1, "twice": 1}
    assert kb.verify()


def test_a_body_without_a_value_is_none_even_if_nothing_asks_for_it(open_kb: OpenKb) -> None:
    kb = open_kb(strategy="lookups")
    kb.add_rules(
        "root(X) :- size(X), Y = sqrt(X)."
        " roots(X, N) :- AGGREGATE(size(X), BIND(sqrt(X) AS Y)) ON X WITH COUNT(X) AS N."
    )
    kb.insert("size", [(1,)])
    assert kb.insert("size", [(-1,)]).inserted == {"size": 1}
    assert kb.insert("size", [(4,)]).inserted == {"size": 1, "root": 1, "roots": 1}
    assert kb.verify()


def test_a_condition_chooses_a_symbol_that_no_fact_has_had(open_kb: OpenKb, tmp_path: Path) -> None:
    with open_kb(tmp_path / "s.duckdb") as kb:
        kb.add_rules(
            'state(T, S) :- reading(T, X), S = if(X > 80, "hot", if(X > 20, "<mild>", "cold")).'
        )
        kb.insert("reading", [(f"t{number}", 90) for number in range(5)])
    with open_kb(tmp_path / "s.duckdb", strategy="lookups") as kb:
        kb.insert("reading", [("u", 100)])  # this makes the copies
        statements: list[str] = []
        kb.trace(lambda text, _: statements.append(text))
        kb.insert("reading", [("a", 10), ("b", 30)])
        kb.delete("reading", [("b", 30)])
        kb.trace(None)
        assert not any("CREATE" in text for text in statements)
        assert kb.query('state("a", S)').fetchall() == [("cold",)]
        assert len(kb.table("state")) == 7 and kb.verify()


UNEVEN = 7.721860817761383
"""SQLite reads another float from this text."""


@pytest.mark.parametrize(
    "rule",
    [
        "h(X, Z) :- p(X, Y), p(Y, Z), X + Z > 3.",
        f"h(X, X) :- p(X, Y), f(X, {UNEVEN}).",
        f"h(X, Y) :- p(X, Y), f(X, F), F * {UNEVEN} > 59.6.",
        f"h(X, {UNEVEN}) :- p(X, X).",
        "h(X, Y) :- p(X, Y), V = 6 / X.",
        "h(X, Y) :- p(X, Y), not p(6 % X, _).",
        "h(B, N) :- p(1, 1), AGGREGATE(p(X, Y), B = X % 2) ON B WITH COUNT(X) AS N.",
        "h(B, N) :- AGGREGATE(p(X, Y), B = X % 2) ON B WITH COUNT(X) AS N.",
        "h(X, N, M) :- AGGREGATE(p(X, Y)) ON X WITH SUM(X / Y) AS N, COUNT(Y) AS M.",
        "h(X, M, N) :- AGGREGATE(p(X, Y)) ON X WITH COUNT(Y) AS M, SUM(X / Y) AS N.",
    ],
)
def test_rules_that_an_oracle_has_found(open_kb: OpenKb, rule: str) -> None:
    kb = open_kb(strategy="lookups")
    kb.add_rules(rule)
    kb.insert("f", [(1, UNEVEN), (2, 0.5)])
    kb.insert("p", [(0, 1), (1, 1), (2, 1), (1, 4)])
    for fact in ((3, 1), (0, 2), (2, 0), (1, 0), (1, 1)):
        kb.delete("p", [(1, 1)])
        kb.insert("p", [fact])
    assert kb.verify()
    kb.insert("f", [(3, UNEVEN)])
    kb.delete("p", [(2, 0), (0, 1)])
    assert kb.verify()


@pytest.mark.parametrize("way", ["lookups", "support"])
def test_places_without_a_value_round_nothing(open_kb: OpenKb, way: str) -> None:
    kb = open_kb(strategy=way)
    kb.add_rules("r(X, R) :- size(X), R = round(X, int(8.0 / (X - 1.0))).")
    kb.insert("size", [(1.0,)])
    assert kb.insert("size", [(1.0 + 2**-20,)]).inserted == {"size": 1, "r": 1}
    assert kb.insert("size", [(5.26,)]).inserted == {"size": 1, "r": 1}
    assert [r for _, r in kb.query("r(X, R)").fetchall()] == [1.0 + 2**-20, 5.3]
    assert kb.verify()


@pytest.mark.parametrize("rule", ["v(X, Y) :- size(X), Y = X + 0.5.", SUM])
def test_an_interruption_while_a_value_is_computed(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, rule: str
) -> None:
    """SQLite hides it, and the change must not go on in another way."""
    kb = open_kb(strategy="lookups")
    kb.add_rules(rule)
    kb.insert("size", [(1,)])
    kb.insert("size", [(2,)])

    def interrupt(*_: object) -> object:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(math, "isnan", interrupt)
        kb.insert("size", [(3,)])
    assert kb.query("size(X)").fetchall() == [(1,), (2,)]
    assert kb.insert("size", [(3,)]).inserted["size"] == 1
    assert kb.verify()


@pytest.mark.parametrize("rule", ["v(X, Y) :- size(X), Y = X + 0.5.", SUM])
def test_an_interruption_as_python_begins_to_compute_a_value(open_kb: OpenKb, rule: str) -> None:
    """Before anything of ours can note it: SQLite tells of an error only."""
    kb = open_kb(strategy="lookups")
    kb.add_rules(rule)
    kb.insert("size", [(1,)])
    kb.insert("size", [(2,)])
    for number in count():
        try:
            with struck_at(number, _computes) as where:
                kb.insert("size", [(3,)])
        except KeyboardInterrupt:
            assert kb.query("size(X)").fetchall() == [(1,), (2,)]
            continue
        assert where == []
        break
    assert number > 1
    assert kb.verify()


def _computes(file: Path) -> bool:
    return file.name in ("computed_values.py", "group_values.py")
