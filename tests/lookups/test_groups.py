"""Rules with aggregates, by look-ups: their SQL, their values, and what is left to DuckDB."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Collection
from random import Random
from typing import TYPE_CHECKING

import duckdb
import pytest

from zodiac_sql import EvaluationError
from zodiac_sql.change import copies_follow
from zodiac_sql.graph.hypergraph import hypergraph
from zodiac_sql.language.parse import parse
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.lookups import groups
from zodiac_sql.lookups.body import Scope
from zodiac_sql.lookups.group_values import make_aggregates
from zodiac_sql.lookups.groups import Groups
from zodiac_sql.lookups.rule_forms import RuleForm, forms_of
from zodiac_sql.lookups.statements import Compiler
from zodiac_sql.lookups.tables import Copy
from zodiac_sql.lookups.values import Unknown
from zodiac_sql.lookups.worth import LookupLimits
from zodiac_sql.program.state import HypernodeRow

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.change import Change

OpenKb = Callable[..., "KnowledgeBase"]

NEAR, TEMPERATURE, USUAL, TURBINE = range(4)
SCHEMA = {
    "near": (Type.SYMBOL, Type.SYMBOL),
    "temperature": (Type.SYMBOL, Type.FLOAT),
    "usual": (Type.SYMBOL, Type.FLOAT),
    "turbine": (Type.SYMBOL,),
}


def forms(rule: str, registered: Collection[str] = ()) -> tuple[RuleForm, ...] | None:
    """The rule of hypernode 1, as far as it can be looked up."""
    rules = parse(rule, "<test>", {}).rules
    graph = hypergraph(rules, {}, 1)
    (hypernode,) = graph.hypernodes
    schema = {
        name: Predicate(name, name, tuple(Column(f"c{n}", t) for n, t in enumerate(types)), (), ())
        for name, types in SCHEMA.items()
    }
    row = HypernodeRow(1, 0, False, tuple(rule.name for rule in rules))
    return forms_of(graph, hypernode, row, schema, registered)


def compiled(rule: str) -> Groups:
    """Its statements."""
    copies = {
        name: Copy(n, len(types), {0: 1, 1: 2}, None, 100, (50,) * len(types))
        for n, (name, types) in enumerate(SCHEMA.items())
    }
    found = Compiler(Scope(1, frozenset(), copies, {}, {})).compile(forms(rule) or ()).groups
    assert found is not None
    return found


def test_the_groups_that_a_fact_touches_are_aggregated_anew() -> None:
    found = compiled(
        "usual(X, M) :- AGGREGATE(near(X, Y), temperature(Y, T), T > 0.5) ON X WITH MED(T) AS M."
    )
    assert found.entered["near"] == [
        "INSERT OR IGNORE INTO groups_2 SELECT d.c0, 0 FROM entered_0 AS d"
    ]
    (left,) = found.left["temperature"]
    assert left == (
        "INSERT OR IGNORE INTO groups_2 SELECT a1.c0, 0 FROM left_1 AS d"
        " CROSS JOIN fact_0 AS a1 WHERE a1.c1 = d.c0 AND d.c1 > 0.5"
    )
    assert found.lost == (
        "INSERT OR IGNORE INTO lost_2 SELECT t.c0, t.c1, t.rank FROM groups_2 AS d"
        " CROSS JOIN fact_2 AS t WHERE t.c0 = d.c0 AND (t.owners & 2) <> 0"
    )
    assert found.won == (
        "INSERT OR IGNORE INTO won_2 SELECT d.v0, d.v1 FROM ("
        "SELECT s.x0 AS v0, MEDIAN(s.x1) AS v1 FROM ("
        "SELECT d.c0 AS x0, a2.c1 AS x1 FROM groups_2 AS d"
        " CROSS JOIN fact_0 AS a1 CROSS JOIN fact_1 AS a2"
        " WHERE a1.c0 = d.c0 AND a1.owners <> 0 AND a2.c0 = a1.c1 AND a2.owners <> 0"
        " AND a2.c1 > 0.5) AS s GROUP BY s.x0) AS d"
    )


def test_a_group_without_solutions_and_columns_without_names() -> None:
    """Each fact is in a copy once, so nothing has to be done for what `_` tells apart."""
    found = compiled(
        "usual(X, S) :- turbine(X),"
        " AGGREGATE(near(X, _), temperature(X, T)) ON X WITH SUM(T) AS S ELSE 0.0."
    )
    assert found.entered["turbine"] == [
        "INSERT OR IGNORE INTO groups_2 SELECT d.c0, 0 FROM entered_3 AS d"
    ]
    assert (
        "SELECT g.c0 AS v0, CASE WHEN COUNT(s.x1) = 0 THEN 0.0 ELSE FLOAT_SUM(s.x1) END AS v1"
        " FROM groups_2 AS g LEFT JOIN (SELECT d.c0 AS x0, a2.c1 AS x1" in found.won
    )
    assert found.won.endswith("AS d CROSS JOIN fact_3 AS a1 WHERE a1.c0 = d.v0 AND a1.owners <> 0")


def test_each_value_once() -> None:
    found = compiled("usual(X, S) :- AGGREGATE(temperature(X, T)) ON X WITH SUM(DISTINCT T) AS S.")
    assert "SELECT s.x0 AS v0, FLOAT_SUM(DISTINCT s.x1) AS v1 FROM (SELECT d.c0" in found.won


def test_a_group_without_solutions_is_found_by_what_stands_beside_the_aggregates(
    open_kb: OpenKb,
) -> None:
    """Inside, `near` finds fewer facts, but none of a group that has no solutions."""
    kb = open_kb(strategy="lookups")
    kb.add_rules("""
        count(X, K, N) :- kind(K), of(X, K), AGGREGATE(near(X, Y)) ON X WITH COUNT(Y) AS N ELSE 0.
    """)
    kb.insert("of", [(f"x{n}", "k1") for n in range(50)])
    kb.insert("near", [("x0", "x1")])
    kb.insert("kind", [("k0",)])
    assert kb.insert("kind", [("k1",)]).inserted == {"kind": 1, "count": 50}
    assert kb.delete("kind", [("k1",)]).deleted == {"kind": 1, "count": 50}
    assert kb.verify()


# --- values ---------------------------------------------------------------------------------------

FLOATS = [0.1, 0.2, 0.3, -0.7, 1e300, -1e300, 1.7e308, 5e-324, -5e-324, 1e-300, math.inf]


@pytest.mark.parametrize(
    ("ours", "duckdbs", "ints"),
    [
        ("float_sum(x)", "sum(x ORDER BY x)", False),
        ("float_average(x)", "avg(x ORDER BY x) + 0.0", False),
        ("median(x)", "median(x) + 0.0", False),
        ("int_sum(x)", "sum(x)", True),
        ("int_average(x)", "avg(x)", True),
        ("median(x)", "median(x)", True),
    ],
)
def test_values_are_those_of_duckdb(ours: str, duckdbs: str, ints: bool) -> None:
    rng = Random(7)
    ours_, theirs = sqlite3.connect(""), duckdb.connect()
    make_aggregates(ours_, Unknown())
    for _ in range(60):
        size = rng.choice([1, 2, 3, 4, 7, 40])
        if ints:
            values: list[float] = [rng.randrange(-(2**40), 2**40) for _ in range(size)]
        else:
            values = [rng.choice([*FLOATS, rng.uniform(-9, 9)]) for _ in range(size)]
        placed = ", ".join("(?)" for _ in values)
        (mine,) = ours_.execute(
            f"SELECT {ours} FROM (SELECT column1 AS x FROM (VALUES {placed}))", values
        ).fetchone()
        type_ = "BIGINT" if ints else "DOUBLE"
        (other,) = theirs.execute(
            f"SELECT {duckdbs} FROM (SELECT unnest($1::{type_}[]) AS x)", [values]
        ).fetchone() or (None,)
        assert mine == other and str(mine) == str(other), values
    ours_.close()
    theirs.close()


# --- what is left to DuckDB -----------------------------------------------------------------------


def ways(change: Change) -> set[str]:
    return {one.strategy for one in change.stats.hypernodes.values()}


def test_a_sum_that_is_too_large_is_refused_as_ever(open_kb: OpenKb) -> None:
    kb = open_kb(strategy="lookups")
    kb.add_rules("total(X, S) :- AGGREGATE(size(X, N)) ON X WITH SUM(N) AS S.")
    kb.insert("size", [("a", 2**62), ("a", 1)])
    assert ways(kb.insert("size", [("b", 3)])) == {"lookups"}
    with pytest.raises(EvaluationError, match="more than 64 bits"):
        kb.insert("size", [("a", 2**62 + 1)])
    assert kb.query("total(X, S)").to_pydict() == {"X": ["a", "b"], "S": [2**62 + 1, 3]}
    assert kb.verify()


@pytest.mark.parametrize(
    ("function", "values"),
    [("SUM", [math.inf, -math.inf]), ("AVG", [2**62, 2**53 + 1]), ("MIN", [1.0, math.nan])],
)
def test_values_that_sqlite_does_not_know(
    open_kb: OpenKb, function: str, values: list[float]
) -> None:
    kb = open_kb(strategy="lookups")
    kb.add_rules(f"v(X, V) :- AGGREGATE(size(X, N)) ON X WITH {function}(N) AS V.")
    kb.insert("size", [("a", values[0])])
    assert "lookups" not in ways(kb.insert("size", [("a", values[1])]))
    assert kb.verify()


@pytest.mark.parametrize(
    ("rule", "copied"),
    [
        ("number(N) :- AGGREGATE(hot(X, P)) WITH COUNT(X) AS N.", False),
        ("number(P, N) :- AGGREGATE(hot(X, P)) ON P WITH COUNT(X) AS N.", True),
    ],
)
def test_large_groups_are_not_looked_up(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, rule: str, copied: bool
) -> None:
    """Where all solutions are one group, that is known before anything is copied."""
    for module in (groups, copies_follow):
        monkeypatch.setattr(module, "limits_of", lambda _: LookupLimits(20, 0))
    kb = open_kb(strategy="lookups")
    kb.add_rules(rule)
    kb.insert("hot", [(n, 1) for n in range(19)])
    assert ways(kb.insert("hot", [(19, 1)])) == {"lookups"}
    kb.insert("hot", [(n, 1) for n in range(20, 9_000)])  # the copies go
    for number in range(3):  # the first of a kind that has failed is not tried
        assert "lookups" not in ways(kb.insert("hot", [(10_000 + number, 1)]))
    assert ("hot" in kb._updates.last.prepared.copies._copied) == copied  # type: ignore[union-attr]
    assert kb.verify()


@pytest.mark.parametrize("registered", [set(), {"abs"}, {"sum"}, {"length"}])
def test_functions_of_pythons_own_are_left_to_duckdb(registered: set[str]) -> None:
    """In a file from before we had one, a rule may use a function with a name of ours."""
    rule = "usual(X, S) :- AGGREGATE(temperature(X, T)) ON X WITH SUM(abs(T)) AS S."
    assert (forms(rule, registered) is None) == bool(registered & {"abs", "sum"})
