"""Columns of terms of all kinds as they are read: views, verify, why, queries, the feed."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from support.tampering import found, tamper

from zodiac_sql import KnowledgeBase, ProgramError, QueryError
from zodiac_sql.language.symbols import XSD
from zodiac_sql.language.syntax import Type
from zodiac_sql.read.why.spelling import spelled

OpenKb = Callable[..., KnowledgeBase]


def term(form: str, datatype: str) -> str:
    return f'"{form}"^^<{XSD}{datatype}>'


TERMS = [
    term("5", "integer"), term("5.0", "decimal"), term("5", "double"), term("7.25", "decimal"),
    term("9007199254740993", "integer"), term("9007199254740992", "double"),
    term("99999999999999999999", "integer"), term("true", "boolean"), term("-3", "integer"),
    term("2020-01-01", "date"), term("2020-01-01T00:00:00", "dateTime"),
    term("2020-01-01T00:00:00Z", "dateTime"), term("2020-06-01T12:00:00+02:00", "dateTime"),
    "abc", '"abc"@en', "http://e/abc", term("x", "integer"), term("0.1", "decimal"),
    term("NaN", "double"), term("INF", "double"), "12", term("1.5", "float"),
]  # fmt: skip

DECLARED = f"""
@prefix xsd: <{XSD}>.
.decl p(x: symbol, v: any). .decl q(x: symbol, v: any). .decl n(v: int). .decl f(v: float).
.decl c(v: decimal). .decl d(v: date). .decl t(v: timestamp). .decl b(v: bool). .decl s(v: symbol).
"""


def fill(kb: KnowledgeBase) -> None:
    kb.add_rules(DECLARED)
    kb.insert("p", [(f"x{place}", value) for place, value in enumerate(TERMS)])
    kb.insert("q", [("x0", term("2.5", "decimal")), ("x1", TERMS[0]), ("x1", term("6", "double")),
                    ("x2", "abc"), ("x2", "n/a"), ("x3", term("-3", "integer"))])  # fmt: skip
    kb.insert("n", [(5,), (9007199254740993,)])
    kb.insert("f", [(5.0,), (0.1,), (7.25,)])
    kb.insert("c", [(Decimal("7.25"),), (Decimal("0.1"),)])
    kb.insert("d", [(datetime.date(2020, 1, 1),)])
    kb.insert("t", [(datetime.datetime(2020, 1, 1),), (datetime.datetime(2020, 6, 1, 10),)])
    kb.insert("b", [(True,)])
    kb.insert("s", [("abc",), (TERMS[0],)])


@pytest.fixture
def kb(open_kb: OpenKb) -> Iterator[KnowledgeBase]:
    with open_kb() as opened:
        fill(opened)
        yield opened


# --- views ----------------------------------------------------------------------------------------


def test_sql_reads_numbers_beside_terms(kb: KnowledgeBase) -> None:
    kb.insert("q", [("x9", term("5", "integer"))])
    assert kb.sql("SELECT avg(v_number) FROM q WHERE v_number > 0").fetchall() == [(4.625,)]
    assert kb.sql("SELECT v_number FROM q WHERE v = 'abc'").fetchall() == [(None,)]
    assert str(kb.sql("SELECT v_number FROM q").schema.field(0).type) == "double"
    assert kb.table("q").column_names == ["x", "v"]


def test_the_name_of_a_column_of_numbers_is_free(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.add_rules(".decl p(v: any, V_Number: int).")
        assert kb.sql("SELECT * FROM p").column_names == ["v", "v_number_", "V_Number"]
        kb.insert("p", [(TERMS[0], 7)])
        assert kb.sql("SELECT v_number_, V_Number FROM p").fetchall() == [(5.0, 7)]
        assert kb.verify()


def test_a_closure_over_terms_has_numbers(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.add_rules(".decl e(x: any, y: any). near(X, Y) :- e(X, Y). near(X, Y) :- near(Y, X)."
                     " near(X, Z) :- near(X, Y), near(Y, Z).")  # fmt: skip
        kb.insert("e", [(TERMS[0], TERMS[1]), (TERMS[1], "abc")])
        sums = kb.sql("SELECT count(*), sum(s_number), sum(o_number) FROM near").fetchall()
        assert sums == [(9, 30.0, 30.0)]
        assert kb.verify()


# --- verify ---------------------------------------------------------------------------------------

RULES = [
    "r(X, V) :- p(X, V), n(V).",
    "r(X, V) :- p(X, V), f(V).",
    "r(X, V) :- p(X, V), c(V).",
    "r(X, V) :- p(X, V), d(V).",
    "r(X, V) :- p(X, V), t(V).",
    "r(X, V) :- p(X, V), b(V).",
    "r(X, V) :- p(X, V), s(V).",
    "r(X, Y) :- p(X, V), q(Y, V).",
    "r(X) :- p(X, 5).",
    'r(X) :- p(X, "abc").',
    "r(X, V) :- p(X, V), V > 5.",
    'r(X) :- p(X, V), V > "2019-01-01"^^xsd:date.',
    'r(X) :- p(X, V), V >= "abc".',
    "r(X, Y) :- p(X, V), p(Y, W), V < W.",
    "r(X, Y) :- p(X, V), p(Y, W), V = W.",
    "r(X, Y) :- p(X, V), p(Y, W), V != W.",
    "r(X, W) :- p(X, V), W = V + 1.",
    "r(X, Y, W) :- p(X, V), q(Y, U), W = V - U.",
    "r(X, W) :- p(X, V), W = V * 2.",
    "r(X, W) :- p(X, V), W = V * 2.5, W < 100.",
    "r(X, W) :- p(X, V), W = V / 2.",
    "r(X, W) :- p(X, V), W = V % 2.",
    "r(X, W) :- p(X, V), W = abs(V).",
    "r(X, W) :- p(X, V), W = floor(V).",
    "r(X, W) :- p(X, V), W = round(V, 1).",
    "r(X, W) :- p(X, V), W = int(V).",
    "r(X, W) :- p(X, V), W = float(V).",
    "r(X, W) :- p(X, V), W = decimal(V).",
    'r(X, W) :- p(X, V), W = concat(V, "!").',
    "r(X, W) :- p(X, V), W = upper(V).",
    "r(X, W) :- p(X, V), W = year(V).",
    "r(X, W) :- p(X, V), W = if(V > 3, V, 0).",
    "r(S) :- AGGREGATE(p(X, V)) WITH SUM(V) AS S.",
    "r(S) :- AGGREGATE(p(X, V), V < 1000) WITH SUM(V) AS S.",
    "r(S) :- AGGREGATE(p(X, V), V < 1000) WITH AVG(V) AS S.",
    "r(S) :- AGGREGATE(p(X, V)) WITH MED(V) AS S.",
    "r(S) :- AGGREGATE(p(X, V)) WITH MIN(V) AS S.",
    "r(S) :- AGGREGATE(p(X, V)) WITH MAX(V) AS S.",
    "r(S, C) :- AGGREGATE(p(X, V), n(V)) WITH SUM(V) AS S, COUNT(V) AS C.",
    "r(X, S) :- AGGREGATE(q(X, V)) ON X WITH SUM(V) AS S.",
    "r(X, S) :- q(X, _), AGGREGATE(p(X, V)) ON X WITH SUM(V) AS S ELSE 0.",
    "r(X) :- p(X, V), not n(V).",
    "r(X, V) :- n(V), p(X, V), not q(X, V).",
    "r(X, 5) :- p(X, V), V = 5. r(X, V) :- q(X, V).",
    "r(X) :- p(X, V), q(Y, W), V + W > 3, V * 1 <= 7.",
    "r(X, V) :- q(X, V). r(X, W) :- r(X, V), W = V + 1, W < 9.",
    "r(X, V) :- p(X, V). r(Y, V) :- r(X, V), q(Y, V), V > 0.",
]


@pytest.mark.parametrize("rule", RULES)
def test_the_second_opinion_agrees(kb: KnowledgeBase, rule: str) -> None:
    kb.add_rules(rule)
    assert kb.verify(), rule
    kb.delete("p", [("x0", TERMS[0]), ("x13", "abc")])
    kb.insert("p", [("y", term("6", "integer")), ("z", "new")])
    assert kb.verify(), rule


def test_a_wrong_value_in_the_dictionary_is_found(open_kb: OpenKb, tmp_path: Path) -> None:
    path = tmp_path / "some.duckdb"
    with open_kb(path) as kb:
        fill(kb)
    assert found(path)
    of_five = f"WHERE id = (SELECT id FROM zodiac.symbol WHERE text = '{TERMS[0]}')"
    tamper(path, f"UPDATE zodiac.symbol_value SET number = 6 {of_five}")
    assert found(path).tables["zodiac.symbol_value"] == (1, 1)
    tamper(path, f"UPDATE zodiac.symbol_value SET number = 5 {of_five}",
           "INSERT INTO zodiac.symbol_value SELECT id, 1, 2, 2, NULL, NULL FROM zodiac.symbol"
           " WHERE text = 'abc'")  # fmt: skip
    assert found(path).tables["zodiac.symbol_value"] == (0, 1)
    tamper(path, f"DELETE FROM zodiac.symbol_value {of_five}")
    assert found(path).tables["zodiac.symbol_value"] == (1, 1)


def test_a_view_with_wrong_numbers_is_found(open_kb: OpenKb, tmp_path: Path) -> None:
    path = tmp_path / "some.duckdb"
    with open_kb(path) as kb:
        fill(kb)
    tamper(path, "CREATE TABLE other AS SELECT x, v, 1.0::DOUBLE AS v_number FROM q",
           'DROP VIEW q', "CREATE VIEW q AS SELECT * FROM other")  # fmt: skip
    assert found(path).tables == {"main.q": (6, 6)}
    tamper(path, "DROP VIEW q", "CREATE VIEW q AS SELECT x, v FROM other")
    assert found(path).tables == {"main.q": (6, 6)}


# --- explanations ---------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_every_fact_is_explained(kb: KnowledgeBase, rule: str) -> None:
    kb.add_rules(rule)
    types = [column.meant for column in kb._session.state.schema["r"].columns]
    for row in kb.table("r").fetchall()[:15]:
        values = [spelled(value, type_) for value, type_ in zip(row, types, strict=True) if type_]
        goal = f"r({', '.join(values)})"
        try:
            told = kb.why(goal)
        except ProgramError:
            # Rules have no such constants, and none with a native datatype for symbols.
            assert '"x"^^' in goal or "99999999999999" in goal or "s(V)" in rule
            continue
        assert str(row) in [str(fact.values) for fact in told.goals]
        assert json.loads(told.json())["goals"]
        assert kb.why(goal, all=True).derivations
    nothing = {
        Type.ANY: "nothing", Type.SYMBOL: "nothing", Type.BOOL: "false",
        Type.DATE: '"1999-01-01"^^xsd:date', Type.TIMESTAMP: '"1999-01-01T00:00:00"^^xsd:dateTime',
    }  # fmt: skip
    wanted = [nothing.get(type_ or Type.SYMBOL, "77") for type_ in types]
    told_not = kb.why_not(f"r({', '.join(wanted)})")
    assert told_not.attempts and told_not.holds is None


def test_an_explanation_shows_the_terms_that_are_stored(kb: KnowledgeBase) -> None:
    kb.add_rules("r: r(X, V) :- p(X, V), n(V).")
    assert str(kb.why("r(x1, 5)")).splitlines()[2] == '├─ p(x1, "5.0"^^xsd:decimal)  explicit'
    assert str(kb.why("r(x0, V)")).splitlines()[2] == "├─ p(x0, 5)  explicit"


def test_a_goal_reads_terms_by_value_unless_there_is_the_literal(kb: KnowledgeBase) -> None:
    assert [str(goal) for goal in kb.why("p(x0, 5)").goals] == ["p(x0, 5)"]
    assert [str(goal) for goal in kb.why("p(x1, 5)").goals] == ['p(x1, "5.0"^^xsd:decimal)']
    assert {str(goal) for goal in kb.why("p(X, 7.25)").goals} == {'p(x3, "7.25"^^xsd:decimal)'}
    with pytest.raises(QueryError, match="does not hold"):
        kb.why("p(x13, 5)")


# --- queries, functions, the feed -----------------------------------------------------------------


def test_queries_answer_terms(kb: KnowledgeBase) -> None:
    assert set(kb.query("p(X, 5)").fetchall()) == {("x0",), ("x1",), ("x2",)}
    assert set(kb.query("q(X, V), V > 2").fetchall()) == {
        ("x0", term("2.5", "decimal")), ("x1", TERMS[0]), ("x1", term("6", "double")),
    }  # fmt: skip
    assert kb.query("q(x1, V), W = V + 1").column_names == ["V", "W"]
    assert str(kb.query("q(x1, V)").schema.field("V").type) == "string"


def test_functions_get_values_of_their_parameters(kb: KnowledgeBase) -> None:
    kb.register_function("doubled", lambda n: 2 * n, parameters=[int], returns=int)
    kb.register_function("shouted", lambda s: s + "!", parameters=[str], returns=str)
    kb.register_aggregate("spread", lambda some: max(some) - min(some), parameter=float,
                          returns=float)  # fmt: skip
    kb.add_rules("r(X, W) :- p(X, V), W = doubled(V). u(X, W) :- q(X, V), W = shouted(V)."
                 " m(S) :- AGGREGATE(q(X, V)) WITH spread(V) AS S."
                 " k(S) :- AGGREGATE(q(x2, V)) WITH spread(V) AS S.")  # fmt: skip
    assert kb.table("m").fetchall() == [(9.0,)] and not kb.table("k").fetchall()
    assert set(kb.query("r(X, 10)").fetchall()) == {("x0",), ("x1",), ("x2",)}
    assert set(kb.table("u").fetchall()) == {("x2", "abc!"), ("x2", "n/a!")}
    assert kb.verify()


def test_the_feed_keeps_terms(kb: KnowledgeBase) -> None:
    kb.keep_feed(["q"])
    kb.insert("q", [("new", TERMS[3])])
    kb.delete("q", [("x2", "abc")])
    told = kb.changes("q").table("q").select(["x", "v", "_change_type"]).to_pylist()
    assert told == [
        {"x": "new", "v": TERMS[3], "_change_type": "insert"},
        {"x": "x2", "v": "abc", "_change_type": "delete"},
    ]
    assert kb.verify()


def test_predicates_tell_the_type(kb: KnowledgeBase) -> None:
    told = {row["predicate"]: row["columns"] for row in kb.predicates().to_pylist()}
    assert told["p"] == "x: symbol, v: any"
