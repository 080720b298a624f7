"""Proofs in large databases, found going down with one derivation for each fact."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from support.as_if_large import as_if_large
from support.explained import searched_as_if_large

from zodiac_sql import QueryError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase


@pytest.fixture
def kb(open_kb: Callable[..., KnowledgeBase]) -> KnowledgeBase:
    return open_kb()


@pytest.fixture(autouse=True)
def large() -> Iterator[None]:
    with searched_as_if_large(True):
        yield


def statements(kb: KnowledgeBase, goal: str) -> int:
    """How many statements a proof takes."""
    asked: list[str] = []
    kb.trace(lambda text, _: asked.append(text))
    kb.why(goal)
    kb.trace(None)
    return len(asked)


def test_rules_that_copy_are_looked_up_together(kb: KnowledgeBase) -> None:
    kb.add_rules("".join(f"r{n}: a(X, Y) :- b{n}(Y, X). " for n in range(1, 31)))
    kb.add_rules('fix: a(X, "t") :- c(X, "k"). same: a(X, X) :- d(X). cut: a(X, Y) :- e(X, Y, 1).')
    kb.insert("b19", [("v", "u")])
    kb.insert("c", [("u", "k"), ("v", "other")])
    kb.insert("d", [("w",)])
    kb.insert("e", [("e1", "e2", 1), ("e1", "e3", 2)])
    with kb.update() as update:
        for number in range(1, 31):
            update.insert(f"b{number}", [("x", f"y{number}")])
    for goal, rule in (("u, v", "r19"), ('u, "t"', "fix"), ("w, w", "same"), ("e1, e2", "cut")):
        found = kb.why(f"a({goal})")
        (step,) = found.derivations[found.goals[0]]
        assert step.rule == rule
    assert statements(kb, "a(y30, x)") <= 9, "one for each eight rules, not one for each"
    with pytest.raises(QueryError, match="does not hold"):
        kb.why('a(v, "t")')


def test_copies_that_go_in_circles_are_followed_by_rank(kb: KnowledgeBase) -> None:
    kb.add_rules("ab: a(X) :- b(X). bc: b(X) :- c(X). ca: c(X) :- a(X). in: c(X) :- given(X).")
    kb.insert("given", [("x",), ("y",)])
    assert str(kb.why("a(x)")).count("by ") == 3
    kb.insert("a", [("z",)])
    assert [str(fact) for fact in kb.why("b(z)").facts()] == ["b(z)", "c(z)", "a(z)"]


def test_edges_are_those_of_the_state_that_is_asked(kb: KnowledgeBase) -> None:
    kb.add_rules("t: tc(X, Z) :- tc(X, Y), tc(Y, Z). e: tc(X, Y) :- edge(X, Y).")
    kb.insert("edge", [("a", "b"), ("b", "c")])
    assert kb.why("tc(a, c)").height == 2
    kb.replace("edge", [("a", "d"), ("d", "e"), ("e", "c")])
    assert {str(fact) for fact in kb.why("tc(a, c)").explicit} == {
        "edge(a, d)", "edge(d, e)", "edge(e, c)",
    }  # fmt: skip
    kb.insert("edge", [("a", "c")])
    assert [str(fact) for fact in kb.why("tc(a, c)").explicit] == ["edge(a, c)"]


def test_what_is_denied_is_looked_for_by_shape(kb: KnowledgeBase) -> None:
    kb.add_rules(
        "r: ok(X) :- n(X, V), not bad(X, _), not pair(A, A), not at(X, V), not day(X, D), m(X, D)."
    )
    kb.insert("n", [("a", 1.5), ("b", float("nan"))])
    kb.insert("m", [("a", 2), ("b", 3)])
    kb.insert("bad", [("c", "x")])
    kb.insert("pair", [("p", "q")])
    kb.insert("at", [("a", 2.5)])
    kb.insert("day", [("a", 1)])
    for goal in ("ok(a)", "ok(b)"):
        found = kb.why(goal)
        (step,) = found.derivations[found.goals[0]]
        assert len(step.absent) == 4


def test_a_path_from_one_cycle_to_another(kb: KnowledgeBase) -> None:
    """The closure is kept as classes, the cycles, and which of them lead to which."""
    kb.insert("edge", [("a", "b"), ("b", "a"), ("b", "c"), ("c", "d"), ("d", "c")])
    with as_if_large(True):
        kb.add_rules("reach(X, Y) :- edge(X, Y). reach(X, Z) :- reach(X, Y), reach(Y, Z).")
    modules = [one.kind for row in kb._session.state.hypernodes for one in row.modules]
    assert modules == ["scc"]
    assert kb.why("reach(b, a)").height == 1
    assert kb.why("reach(a, d)").height == 2
