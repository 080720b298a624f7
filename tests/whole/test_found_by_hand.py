"""What people found by hand: blank nodes in goals and rules, and errors that misled."""

from __future__ import annotations

from pathlib import Path

import pytest

import zodiac_sql
from zodiac_sql import KnowledgeBase
from zodiac_sql.errors import MissingFunctionError, ProgramError, QueryError, StoreError

RULES = "@prefix ex: <http://e/> . q(X) :- ex:p(X, _). c1: !- q(X)."


@pytest.fixture
def kb(tmp_path: Path) -> KnowledgeBase:
    (tmp_path / "b.ttl").write_text("@prefix ex: <http://e/> . _:x ex:p ex:a .")
    kb = zodiac_sql.connect()
    kb.load(tmp_path / "b.ttl")
    kb.add_rules(RULES, check=False)
    return kb


def test_goals_and_queries(kb: KnowledgeBase) -> None:
    ((node,),) = kb.table("q").fetchall()
    assert node.startswith("_:")
    for goal in (f"q({node})", kb.violations().to_pylist()[0]["fact"]):
        assert kb.why(goal).goals
    assert "holds" in str(kb.why_not(f"q({node})"))
    assert kb.query(f"<http://e/p>({node}, X)").fetchall() == [("http://e/a",)]
    with pytest.raises(QueryError, match="does not hold"):
        kb.why("q(_:another)")


def test_rules_and_facts(kb: KnowledgeBase) -> None:
    ((node,),) = kb.table("q").fetchall()
    kb.add_rules(f"known({node}). known(_:b.1-2). both(X) :- known(X), X = {node}.")
    assert sorted(kb.table("known").fetchall()) == sorted([(node,), ("_:b.1-2",)])
    assert kb.table("both").fetchall() == [(node,)]
    kb.insert("known", [(node,)])
    assert len(kb.table("known")) == 2
    assert kb.verify()


def test_no_predicate_is_a_blank_node(kb: KnowledgeBase) -> None:
    with pytest.raises(ProgramError, match="prefix `_:` is not declared"):
        kb.add_rules("r(X) :- _:p(X).")


# --- other things that were found by hand ---------------------------------------------------------


def test_why_not_names_a_function_that_is_not_registered(tmp_path: Path) -> None:
    def half(x: float) -> float:
        return x / 2

    with zodiac_sql.connect(tmp_path / "f.duckdb") as kb:
        kb.register_function("half", half)
        kb.insert("r", [("a", 1.0)])
        kb.add_rules("p(X) :- r(X, V), half(V) > 1.5.")
    with (
        pytest.warns(zodiac_sql.MissingFunctionWarning),
        zodiac_sql.connect(tmp_path / "f.duckdb") as kb,
        pytest.raises(MissingFunctionError, match="needs the function half"),
    ):
        kb.why_not("p(a)")


def test_an_export_to_where_no_folder_can_be(kb: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be made"):
        kb.export(tmp_path / "file" / "out")


def test_less_than_no_inconsistencies(kb: KnowledgeBase) -> None:
    kb.insert("inconsistent", [("a", "b", "c")])
    with pytest.raises(QueryError, match="at most -1"):
        kb.inconsistencies(limit=-1)


def test_a_fact_that_is_refused_has_no_say_in_types() -> None:
    with zodiac_sql.connect() as kb:
        kb.add_rules("p(X, MAX(T)) :- r(X, T). p(X, MAX(T + 1)) :- q(X, T).")
        kb.insert("r", [("a", 1)])
        kb.insert("q", [("a", 4.5)])
        with pytest.raises(ProgramError, match="has no facts of its own") as refusal:
            kb.add_rules("p(a, 4).")
        assert len(refusal.value.problems) == 1


def test_a_goal_with_a_variable_twice() -> None:
    with zodiac_sql.connect() as kb:
        kb.insert("f", [("a",)])
        kb.insert("e", [("a", "b")])
        kb.add_rules(
            "r4: q(2, -1, -1) :- f(Y), f(X). r5: s(X, Y) :- e(X, Y). r6: s(X, c) :- e(X, _)."
        )
        (attempt,) = kb.why_not("q(X, Y, X)").attempts
        assert (attempt.kind, attempt.fails) == ("head", "it derives only q(2, -1, -1)")
        first, second = kb.why_not("s(X, X)").attempts
        assert (first.kind, first.fails) == ("head", "no s(X, Y) is like that")
        assert (second.kind, second.fails) == ("no fact", "no e(c, _)")


def test_a_fact_that_brings_a_group_nothing_is_no_cause() -> None:
    with zodiac_sql.connect() as kb:
        kb.add_rules("p(N) :- AGGREGATE(f(X, _)) WITH COUNT(X) AS N.")
        first = kb.insert("f", [("d", "b")])
        assert "f(d, b)" in str(first.why("p(1)"))
        change = kb.insert("f", [("c", "b"), ("d", "a")])
        assert "f(c, b)" in str(change.why("p(1)"))
        assert "f(d, a)" not in str(change.why("p(1)"))


def test_all_solutions_of_a_group_on_demand() -> None:
    with zodiac_sql.connect() as kb:
        kb.add_rules("n(S, N) :- AGGREGATE(r(S, T)) ON S WITH COUNT(T) AS N. many(S) :- n(S, N).")
        kb.insert("r", [("a", number) for number in range(300)])
        for asked, told in (({}, 5), ({"limit": 1}, 5), ({"limit": 40}, 40), ({"limit": 999}, 300)):
            explanation = kb.why("n(a, N)", **asked)
            ((step,),) = (explanation.derivations[goal] for goal in explanation.goals)
            (group,) = step.groups
            assert (group.count, len(group.members)) == (300, told)
