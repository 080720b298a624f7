"""`;` in bodies: a rule for each choice, and what these are called."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import share

import zodiac_sql
from zodiac_sql import KnowledgeBase, ProgramError, QueryError

FACTS = "t(x, 1). t(y, 2). t(z, 3). u(x). v(y). w(z)."


@pytest.fixture
def kb() -> KnowledgeBase:
    kb = zodiac_sql.connect()
    kb.add_rules(FACTS)
    return kb


def stored(kb: KnowledgeBase) -> dict[str, str]:
    return {row["name"]: row["rule"] for row in kb.rules().to_pylist()}


@pytest.mark.parametrize(("rule", "parts"), [
    ("p(X) :- u(X) ; v(X).", {"r1.1": "p(X) :- u(X).", "r1.2": "p(X) :- v(X)."}),
    ("p(X) :- t(X, _), (u(X) ; w(X)).",
     {"r1.1": "p(X) :- t(X, _), u(X).", "r1.2": "p(X) :- t(X, _), w(X)."}),
    ("mine: p(X + 1) :- t(_, X), (X > 2 ; (X < 2, not v(x)) ; BIND(X AS Y), Y = 2).",
     {"mine.1": "p(X + 1) :- t(_, X), X > 2.", "mine.2": "p(X + 1) :- t(_, X), X < 2, not v(x).",
      "mine.3": "p(X + 1) :- t(_, X), BIND(X AS Y), Y = 2."}),
    ("one: p(X) :- (u(X), (t(X, _))).", {"one": "p(X) :- u(X), (t(X, _))."}),
])  # fmt: skip
def test_parts(kb: KnowledgeBase, rule: str, parts: dict[str, str]) -> None:
    kb.add_rules(rule)
    assert stored(kb) == parts and kb.verify()
    assert len(kb.add_rules(rule).notes) == len(parts)  # all are there already
    kb.drop_rules(rule)
    assert stored(kb) == {}


def test_a_name_stands_for_all_parts(kb: KnowledgeBase) -> None:
    kb.add_rules("a: p(X) :- u(X) ; v(X). b: p(X) :- w(X). c.1: q(X) :- u(X). c.2: q2(X) :- v(X).")
    assert kb.drop_rules("a").deleted == {"p": 2}
    assert list(stored(kb)) == ["b", "c.1", "c.2"]
    with pytest.raises(QueryError, match="no rule named c"):
        kb.drop_rules("c", strict=True)  # they are no parts of one rule
    kb.add_rules("d: p(X) :- u(X) ; v(X).")
    kb.drop_rules("d.1")
    assert list(stored(kb)) == ["b", "c.1", "c.2", "d.2"]


def test_dropped_in_the_same_update(kb: KnowledgeBase) -> None:
    with kb.update() as update:
        update.add_rules("a: p(X) :- u(X) ; v(X).")
        update.drop_rules("a")
    assert stored(kb) == {} and not update.change.notes


def test_replaced_as_a_whole(kb: KnowledgeBase) -> None:
    kb.add_rules("a: p(X) :- u(X) ; v(X) ; w(X).")
    kb.add_rules("a: p(X) :- u(X) ; t(X, 2).", replace=True)
    assert stored(kb) == {"a.1": "p(X) :- u(X).", "a.2": "p(X) :- t(X, 2)."}
    kb.add_rules("a: p(X) :- w(X).", replace=True)
    assert stored(kb) == {"a": "p(X) :- w(X)."}
    kb.add_rules("a: p(X) :- u(X) ; v(X).", replace=True)
    assert list(stored(kb)) == ["a.1", "a.2"] and kb.table("p").num_rows == 2


def test_numbers_of_rules_without_names(kb: KnowledgeBase) -> None:
    kb.add_rules("p(X) :- u(X) ; v(X). q(X) :- u(X). s(X) :- v(X) ; w(X).")
    assert list(stored(kb)) == ["r1.1", "r1.2", "r2", "r3.1", "r3.2"]
    kb.drop_rules("r1.1")
    kb.add_rules("o(X) :- u(X) ; v(X).")
    assert list(stored(kb)) == ["r1.2", "r2", "r3.1", "r3.2", "r4.1", "r4.2"]


def test_in_sets_and_files(tmp_path: Path) -> None:
    rules, path = tmp_path / "some.rules", tmp_path / "kb.duckdb"
    rules.write_text("a: p(X) :- u(X)\n  ; v(X). // two\nq(X) :- p(X), (u(X) ; /* or */ v(X)).\n")
    with zodiac_sql.connect(path) as kb:
        kb.add_rules(FACTS)
        kb.add_rules(rules, set="some")
        assert list(stored(kb)) == ["some/a.1", "some/a.2", "some/r1.1", "some/r1.2"]
    with zodiac_sql.connect(path) as kb:
        assert "by some/a.2: p(X) :- v(X)." in str(kb.why("p(y)"))
        assert kb.replace_rules(rules, set="some").hypernodes.created == ()
        kb.drop_rules("some/a")
        assert list(stored(kb)) == ["some/r1.1", "some/r1.2"] and kb.verify()


def test_named_columns_in_parts(kb: KnowledgeBase) -> None:
    kb.add_rules(".decl at(place: symbol, n: int) at(x, 7).")
    kb.add_rules("p(X) :- t(X, _), (at(n: 7, place: X) ; at(n: 8, place: X), u(X)).")
    assert stored(kb) == {
        "r1.1": "p(X) :- t(X, _), at(X, 7).", "r1.2": "p(X) :- t(X, _), at(X, 8), u(X).",
    }  # fmt: skip


def test_best_values(kb: KnowledgeBase) -> None:
    kb.add_rules("edge(a, b, 1). edge(b, c, 1). edge(a, c, 5).")
    kb.add_rules("dist(Y, MIN(D)) :- Y = a, D = 0 ; dist(X, E), edge(X, Y, W), D = E + W.")
    assert stored(kb)["r1.2"] == "dist(Y, MIN(D)) :- dist(X, E), edge(X, Y, W), D = E + W."
    assert sorted(kb.table("dist").fetchall()) == [("a", 0), ("b", 1), ("c", 2)] and kb.verify()


@pytest.mark.parametrize(("rule", "message"), [
    ("p(X) :- u(X) ; v(Y).", "unsafe: X in the head of r1.2 has no value"),
    ("n(N) :- AGGREGATE((u(X) ; v(X))) WITH COUNT(X) AS N.", "alternatives cannot stand under"),
    ("p(X) :- " + ", ".join(["(u(X) ; v(X))"] * 7) + ".", "stands for more than 64 rules"),
    ("p(X) :- u(X) ; .", "syntax error"),
    ("n(N) :- AGGREGATE(u(X)) WITH COUNT(X) AS N ; t(_, N).", "belongs to its rule alone"),
])  # fmt: skip
def test_what_is_refused(kb: KnowledgeBase, rule: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        kb.add_rules(rule)


# --- random bodies --------------------------------------------------------------------------------

Holds = Callable[[int], bool]


def formula(rng: Random, depth: int) -> tuple[str, Holds]:
    """A random body, and whether it holds of a number; the text may need parentheses."""
    kind = rng.choice(("atom", "test", "not", "and", "or", "or")) if depth else "atom"
    limit = rng.randrange(6)
    if kind == "atom":
        return f"d{limit}(X)", lambda x: x % (limit + 2) == 0
    if kind == "test":
        return f"X > {limit}", lambda x: x > limit
    if kind == "not":
        return f"not d{limit}(X)", lambda x: x % (limit + 2) != 0
    several = [formula(rng, depth - 1) for _ in range(rng.choice((2, 2, 3)))]
    sign, holds = (", ", all) if kind == "and" else (" ; ", any)
    text = sign.join(one for one, _ in several)
    return f"({text})", lambda x: holds(one(x) for _, one in several)


@settings(max_examples=share(2))
@given(seed=st.integers(0, 2**32 - 1))
def test_random_bodies(seed: int) -> None:
    rng = Random(seed)
    text, holds = formula(rng, 3)
    with zodiac_sql.connect() as kb:
        kb.add_rules("n(0..30).")
        for d in range(6):
            kb.add_rules(f"d{d}(X) :- n(X), X % {d + 2} = 0.")
        try:
            kb.add_rules(f"it: p(X) :- n(X), {text}.")
        except ProgramError as refused:
            assert "more than 64 rules" in str(refused)
            return
        expected = [(x,) for x in range(31) if holds(x)]
        assert sorted(kb.table("p").fetchall()) == expected
        kb.drop_rules("it")
        assert kb.rules().num_rows == 6


def test_queries_have_alternatives() -> None:
    with zodiac_sql.connect() as kb:
        kb.add_rules("p(1). p(2). q(2). q(3). f(2.5). s(a).")
        for text, found in {
            "p(X) ; q(X)": {(1,), (2,), (3,)},
            "(p(X) ; q(X)), X > 1": {(2,), (3,)},
            "p(X), not q(X) ; q(X), not p(X).": {(1,), (3,)},
            "p(X) ; f(X)": {(1.0,), (2.0,), (2.5,)},
            "p(7) ; q(3)": {(True,)},
            "p(7) ; q(7)": set(),
        }.items():
            answer = kb.query(text).fetchall()
            assert (set(answer), len(answer)) == (found, len(found)), text
        for text, said in {
            "p(X) ; q(Y)": "X, Y must have a value in each alternative",
            "p(X) ; s(X)": "X has values of type int and of type symbol",
            "AGGREGATE(p(X) ; q(X)) WITH SUM(X) AS S": "cannot stand under AGGREGATE",
        }.items():
            with pytest.raises((QueryError, ProgramError), match=said):
                kb.query(text)
        with pytest.raises(QueryError, match="alternatives are for queries"):
            kb.why("p(1) ; q(2)")
