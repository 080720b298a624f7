"""What explanations say of values that are easily told wrongly."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from zodiac_sql.errors import ConstraintError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

BIG = 2**53


def test_ints_that_meet_floats_keep_their_value(open_kb: OpenKb) -> None:
    """As floats, both ints are the same."""
    with open_kb() as kb:
        kb.add_rules(".decl q(a: int)\n.decl r(a: float)\np(X) :- q(X), r(X).")
        kb.insert("q", [(BIG,), (BIG + 1,)])
        kb.insert("r", [(float(BIG),)])
        told = kb.why(f"p({float(BIG)!r})", all=True)
        uses = [[str(use) for use in step.uses] for step in told.derivations[told.goals[0]]]
        assert uses == [[f"q({one})", f"r({float(BIG)!r})"] for one in (BIG, BIG + 1)]
        assert kb.why("p(X)").height == 1
        change = kb.delete("r", [(float(BIG),)])
        assert f"q({BIG})" in str(change.why(f"p({float(BIG)!r})"))


def test_ints_that_meet_floats_in_a_group(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.add_rules(
            ".decl q(a: int, b: symbol)\n.decl r(a: float)\n"
            "n(X, N) :- AGGREGATE(q(X, Y), r(X)) ON X WITH COUNT(Y) AS N."
        )
        kb.insert("q", [(BIG + 1, "a"), (BIG + 1, "b")])
        change = kb.insert("r", [(float(BIG),)])
        (step,) = kb.why("n(X, 2)").derivations.popitem()[1]  # type: ignore[attr-defined]
        assert [str(fact) for member in step.groups[0].members for fact in member] == [
            f"q({BIG + 1}, a)", f"r({float(BIG)!r})", f"q({BIG + 1}, b)", f"r({float(BIG)!r})",
        ]  # fmt: skip
        assert "r(9007199254740992.0) entered" in str(change.why(f"n({float(BIG)!r}, 2)"))


def test_a_rule_with_nan_in_its_head(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.add_rules('p(X, "NaN"^^xsd:double) :- q(X).')
        kb.insert("q", [(1,)])
        assert kb.why('p(1, "NaN"^^xsd:double)').height == 1


def test_a_negated_atom_with_the_same_variable_twice(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.add_rules("a(X) :- q(X), not e(L, L), not f(_, _).")
        kb.insert("q", [(1,)])
        kb.insert("e", [(3, 4)])
        told = kb.why("a(1)")
        assert "not e(L, L)  absent" in str(told)
        assert "not f(_, _)  absent" in str(told)
        assert told.to_dict()["steps"][0]["absent"][0]["names"] == ["L", "L"]
        change = kb.insert("e", [(5, 5), (2, 6)])
        assert "e(5, 5) entered: inserted" in str(change.why("a(1)"))
        assert "blocked by e(5, 5)" in str(kb.why_not("a(1)"))


def test_a_fact_that_moved_in_a_group_is_part_of_a_solution(open_kb: OpenKb) -> None:
    """near(b, e) moves, too, but e is not hot."""
    with open_kb() as kb:
        kb.add_rules("many(X, N) :- AGGREGATE(near(X, Y), hot(Y)) ON X WITH COUNT(Y) AS N.")
        kb.insert("hot", [("z",)])
        change = kb.insert("near", [("b", "a"), ("b", "z")])
        told = str(change.why("many(b, 1)"))
        assert "near(b, z) entered" in told
        assert "near(b, a)" not in told


def test_a_fact_that_is_negated_in_a_group(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.add_rules("n(X, N) :- AGGREGATE(e(X, Z), not g(X, Z)) ON X WITH COUNT(Z) AS N.")
        kb.insert("e", [(2, 3)])
        change = kb.insert("g", [(2, 1), (2, 3)])
        assert "g(2, 3) entered: inserted" in str(change.why("n(2, 1)"))
        change = kb.delete("g", [(2, 1), (2, 3)])
        assert "g(2, 3) left: deleted" in str(change.why("n(2, 1)"))


def test_expressions_in_atoms_are_told_as_they_are_written(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.insert("q", [(1,), (2,)])
        kb.add_rules("p(X + 1) :- q(X). c(X) :- q(X), p(X + 1), X < 2.")
        told = kb.why("c(1)")
        assert "1 + 1 = 2  (X + 1)" in str(told)
        assert {name for step in told.derivations[told.goals[0]] for name, _ in step.values} == {
            "X"
        }
        assert "X + 1 would be 2, and not 7" in str(kb.why_not("p(7)"))
        assert kb.query("q(X), p(X + 1)").column_names == ["X"]
        violated = kb.add_rules("k: !- q(X), p(X + 1).", check=False).violations[0]
        assert (violated.variables, violated.rows) == (("X",), ((1,), (2,)))
        assert kb.violations()["violation"].to_pylist() == ["X = 1", "X = 2"]
        with pytest.raises(ConstraintError) as refused:
            kb.insert("q", [(3,)])
        assert "p(4) entered" in str(refused.value)
        assert "'" not in str(refused.value)


@pytest.mark.parametrize(
    ("body", "value", "count"),
    [
        ("e(X)", "X", 1), ("e(X), f(3)", "X", 1), ("e(X), f(_)", "X", 2),
        ("e(X), f(_)", "DISTINCT X", 1), ("f(X)", "X", 0),
    ],
)  # fmt: skip
def test_a_group_that_has_all_values(open_kb: OpenKb, body: str, value: str, count: int) -> None:
    """If nothing is left to tell solutions apart by, there is one, or none."""
    with open_kb() as kb:
        kb.add_rules(f"n(X, N) :- e(X), AGGREGATE({body}) ON X WITH COUNT({value}) AS N ELSE 7.")
        kb.insert("f", [(3,), (4,)])
        change = kb.insert("e", [(1,)])
        number = count or 7
        (step,) = kb.why(f"n(1, {number})").derivations.popitem()[1]  # type: ignore[attr-defined]
        assert (step.groups[0].result, step.groups[0].count) == (number, count)
        assert "e(1) entered" in str(change.why(f"n(1, {number})"))


def test_a_value_of_the_question_computes_nothing(open_kb: OpenKb) -> None:
    """Without e(X, Y), nothing gives N a value, so f(Z, X) is the largest part that holds."""
    with open_kb() as kb:
        kb.add_rules("p(Z, Y, N) :- N > 1, e(X, Y), f(Z, X), N = X * 2 + Y.")
        kb.insert("e", [(0, 1)])
        kb.insert("f", [(0, 0)])
        assert "f(0, 0)\n      ✗ no e(0, 0)" in str(kb.why_not("p(0, 0, -1)"))
