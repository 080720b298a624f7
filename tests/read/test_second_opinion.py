"""`verify` derives facts in a way of its own: an error in how rules become SQL is found by it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from sqlglot import exp

from zodiac_sql import KnowledgeBase
from zodiac_sql.evaluate.operators import rules as evaluated_rules
from zodiac_sql.language.syntax import Rule
from zodiac_sql.sql import plan
from zodiac_sql.sql.joins import Joins
from zodiac_sql.sql.plan import Plan, delta_variants
from zodiac_sql.sql.values import Values

OpenKb = Callable[..., KnowledgeBase]

FACTS = {"e": [("a", "b"), ("b", "c"), ("b", "d")], "n": [(1,), (2,)], "stop": [("b",)]}


def filled(kb: KnowledgeBase, rules: str) -> KnowledgeBase:
    for predicate, rows in FACTS.items():
        kb.insert(predicate, rows)
    kb.add_rules(rules)
    return kb


def test_joins_that_forget_their_kind(open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch) -> None:
    join = Joins.join

    def forgetful(
        self: Joins, item: exp.Expr, conditions: Sequence[exp.Expr], kind: str = ""
    ) -> None:
        join(self, item, conditions)

    monkeypatch.setattr(Joins, "join", forgetful)
    with open_kb() as kb:
        result = filled(kb, "p(X, Y) :- e(X, Y), not stop(X).").verify()
    assert (result.missing, result.surplus) == ({"p": 1}, {"p": 2})


def test_rules_of_which_a_delta_is_forgotten(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forgetful(rule: Rule, recursive: set[str]) -> tuple[Plan, ...]:
        return delta_variants(rule, recursive)[:-1]

    monkeypatch.setattr(plan, "delta_variants", forgetful)
    rules = "p(X, Y) :- e(X, Y). p(X, Z) :- q(X, Y), p(Y, Z). q(X, Y) :- p(X, Y)."
    with open_kb() as kb:
        result = filled(kb, rules).verify()
    assert result.missing == {"q": 2}


def test_rows_that_are_wrongly_held_to_be_distinct(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluated_rules, "has_duplicates", lambda *_: False)
    with open_kb() as kb:
        result = filled(kb, "p(X) :- e(X, _).").verify()
    assert (result.missing, result.surplus) == ({}, {"p": 1})


def test_comparisons_that_are_forgotten(open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Values, "compared", lambda *_: exp.true())
    with open_kb() as kb:
        result = filled(kb, "p(X) :- n(X), X > 1.").verify()
    assert (result.missing, result.surplus) == ({}, {"p": 1})


RULES = """
twice(X, Y) :- e(X, Y), e(Y, _), X != Y.
made(X, T) :- e(X, _), T = concat(upper(X), "!"), not stop(X).
again(T, U) :- made(_, T), U = lower(T).
half(X, H) :- n(X), H = X / 2, H < 1.
none(X) :- n(X), Y = 1 / (X - 1), Y > 0.
many(X, N) :- AGGREGATE(e(X, Y), not stop(Y)) ON X WITH COUNT(Y) AS N.
last(Z) :- AGGREGATE(e(_, Y)) WITH MAX(Y) AS Z.
all(M) :- AGGREGATE(n(X), Z = X * 1.5) WITH SUM(Z) AS M.
only(X) :- X = "b", not e(X, X), stop(X).
fresh(X) :- X = 7, not n(X).
yes() :- stop(_), not n(3).
path(X, Y) :- e(X, Y).
path(X, Z) :- path(X, Y), path(Y, Z).
near(X, Y) :- e(X, Y).
near(Y, X) :- near(X, Y).
near(X, Z) :- near(X, Y), near(Y, Z), X != Z.
ring(A, C) :- near(A, B), near(B, C), near(C, D), near(D, A), V = concat(A, D), V != "ab".
"""


@pytest.mark.parametrize("largest", [0, 1000])
def test_it_agrees(open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, largest: int) -> None:
    """Whether modules and trees are evaluated or not."""
    monkeypatch.setattr("zodiac_sql.read.verify.expected.AFFORDABLE_FACTS", largest)
    monkeypatch.setattr("zodiac_sql.read.verify.expected.AFFORDABLE_BODY", largest)
    with open_kb() as kb:
        result = filled(kb, RULES).verify()
        assert result, result
        kb.insert("e", [("d", "a"), ("a", "e")])
        kb.delete("n", [(1,)])
        result = kb.verify()
    assert result, result


GATES = """
val(X) :- low(X).
val(G) :- gate(G, A, B), other(A), val(B).
other(X) :- val(X).
"""


@pytest.mark.parametrize("surplus", [None, 250, 251])
def test_many_rounds_of_rules_with_two_recursive_atoms(
    open_kb: OpenKb, surplus: int | None
) -> None:
    """A statement with a key finds what hundreds of rounds would, and a fact that rests on itself
    is noticed.
    """
    with open_kb() as kb:
        kb.insert("gate", [(n, n - 1, n - 2) for n in range(2, 300) if n != 200])
        kb.insert("low", [(0,), (1,)])
        kb.add_rules(GATES)
        assert len(kb.table("val")) == 200
        if surplus is not None:
            for name in ("val", "other"):
                kb._session.store.run(f"INSERT INTO idb.{_table(kb, name)} VALUES ({surplus}, 999)")
        seen: list[str] = []
        kb.trace(lambda statement, _: seen.append(statement))
        result = kb.verify()
        assert bool(result) == (surplus is None)
        assert len(seen) < 200


def _table(kb: KnowledgeBase, name: str) -> str:
    """The table of the recursive hypernode."""
    found = kb.sql(
        "SELECT table_name FROM duckdb_columns() WHERE schema_name = 'idb'"
        f" AND column_name = '$rank' AND table_name LIKE '%_{name}'"
    ).fetchall()
    return str(found[0][0])
