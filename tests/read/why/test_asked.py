"""What `why`, `why_not` and `change.why` are asked, and answers that once were wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

import zodiac_sql
from zodiac_sql.errors import MissingFunctionError


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
        kb.add_rules("p(N) :- AGGREGATE(f(X, _)) WITH COUNT(DISTINCT X) AS N.")
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


@pytest.mark.parametrize(
    ("goal", "fails"), [("q(0)", "-1 > 5 is false"), ("r(0)", "no f(-1)"), ("s(0)", "-1 > 5")]
)
def test_what_fails_where_two_things_fail(goal: str, fails: str) -> None:
    """Without the atom that binds X, only the value asked for was left, which holds alone."""
    kb = zodiac_sql.connect()
    kb.insert("e", [(-1,), (2,)])
    kb.insert("f", [(7,)])
    kb.add_rules("q(Y) :- e(X), X > 5, Y = X + 4. r(Y) :- e(X), f(X), Y = X + 4.")
    kb.add_rules("s(Y) :- e(_), e(X), X > 5, Y = X + 4.")
    (attempt,) = kb.why_not(goal).attempts
    assert attempt.fails.startswith(fails)
    assert attempt.holds[0] == "e(-1)"
