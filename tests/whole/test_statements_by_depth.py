"""No way that `auto` takes costs a statement a round: deep recursions take as many as others."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

SHALLOW, DEEP = 60, 400

MORE = 20
"""So many more statements may a deep one take: some of which each does hundreds of rounds."""

PROGRAMS = {
    "denied": "p(X) :- start(X). p(Y) :- p(X), arc(X, Y), not u(Y).",
    "texts": """
        p(X, S) :- start(X), S = "a".
        p(Y, S) :- p(X, _), arc(X, Y), S = concat("n", Y).
    """,
    "texts of several": """
        p(X, S) :- start(X), S = "a".
        q(S, Y) :- p(X, _), arc(X, Y), S = concat("n", Y).
        p(Y, S) :- q(_, X), arc(X, Y), S = concat("m", Y).
    """,
    "best of texts": """
        d(X, S, MIN(0)) :- start(X), S = "a".
        d(Y, S, MIN(D + 1)) :- d(X, _, D), arc(X, Y), S = concat("n", Y).
    """,
    "functions": "p(X) :- start(X). p(Z) :- p(X), arc(X, Y), Z = same(Y).",
    "texts of functions": """
        p(X, S) :- start(X), S = "a".
        p(Y, S) :- p(X, _), arc(X, Y), S = named(Y).
    """,
    "best of functions": """
        d(X, MIN(0)) :- start(X).
        d(Z, MIN(D + 1)) :- d(X, D), arc(X, Y), Z = same(Y).
    """,
    "one": "p(X) :- start(X). p(Y) :- p(X), arc(X, Y).",
    "several": "p(X) :- start(X). q(Y) :- p(X), arc(X, Y). p(Y) :- q(X), arc(X, Y).",
    "two atoms": """
        p(X) :- start(X).
        q(Y) :- p(X), arc(X, Y).
        p(Y) :- q(Y), p(X), arc(X, Y).
    """,
    "two atoms of other types": """
        p(X, 0) :- start(X).
        q(Y, 0.5) :- p(X, _), arc(X, Y).
        p(Y, 1) :- q(Y, _), p(X, _), arc(X, Y).
    """,
    "computed": "p(X, 0) :- start(X). p(Y, N + 1) :- p(X, N), arc(X, Y).",
    "best": "d(X, MIN(0)) :- start(X). d(Y, MIN(D + 1)) :- d(X, D), arc(X, Y).",
    "mutual best": """
        d(X, MIN(0)) :- start(X).
        c(Y, MIN(D + 1)) :- d(X, D), arc(X, Y).
        d(Y, MIN(D + 1)) :- c(X, D), arc(X, Y).
    """,
    "best of other types": """
        d(X, MIN(0)) :- start(X).
        c(Y, 0.5, MIN(D + 0.5)) :- d(X, D), arc(X, Y).
        d(Y, MIN(0)) :- c(X, _, D), arc(X, Y), D < 7.0.
    """,
    "best of two": """
        d(X, MIN(0)) :- start(X).
        c(Y, MIN(D)) :- d(X, D), arc(X, Y).
        d(Y, MIN(C + D + 1)) :- c(Y, C), d(X, D), arc(X, Y), X < 40.
        d(Y, MIN(greatest(C, D))) :- c(Y, C), d(X, D), arc(X, Y), X >= 40.
    """,
}


LOOKED_UP = ("two atoms", "two atoms of other types")

IN_ROUNDS = {
    "two atoms of texts": """
        p(X, S) :- start(X), S = "a".
        q(Y, S) :- p(X, _), arc(X, Y), S = concat("n", Y).
        p(Y, S) :- q(Y, S), p(X, _), arc(X, Y).
    """,
}
"""A change of these goes on in rounds, 14 statements each, until it is better to start over. So do
those that would be looked up, if there are limits.
"""

LIMITS: dict[str, dict[str, int]] = {
    "no limit": {},
    "counted": {"max_rows": 10**6, "max_iterations": 10**6},
    "timed": {"timeout": 600},
}


@pytest.mark.parametrize(
    ("name", "limits"),
    [*((name, "no limit") for name in IN_ROUNDS), *((name, "counted") for name in LOOKED_UP)],
)
def test_rounds_end_when_starting_over_costs_no_more(
    open_kb: OpenKb, name: str, limits: str
) -> None:
    shallow, deep = _both(open_kb, (PROGRAMS | IN_ROUNDS)[name], limits)
    rounds = (DEEP - SHALLOW) // 2  # half of the chain is lost, and comes back
    assert all(deep[what] < count + 2 * rounds for what, count in shallow.items()), (shallow, deep)
    same = ("rules", "verify")
    assert all(deep[what] <= shallow[what] + MORE for what in same), (shallow, deep)


FED = """
    r(X, Y) :- start(X), arc(X, Y).
    r(X, Z) :- r(X, Y), r(Y, Z).
    r(Y, Z) :- r(X, Y), arc(Y, Z).
"""


CLASSES = """
    same(X, Y) :- same(Y, X).
    same(X, Z) :- same(X, Y), same(Y, Z).
    same(X, Y) :- p(X), arc(X, Y), X < 2.
    p(X) :- start(X).
    p(Y) :- p(X), arc(X, Y).
    p(Y) :- p(X), same(X, Y).
"""


@pytest.mark.parametrize("limits", ["no limit", "counted"])
def test_classes_that_a_deep_recursion_feeds_take_no_more(open_kb: OpenKb, limits: str) -> None:
    shallow, deep = _both(open_kb, CLASSES, limits)
    assert all(deep[what] <= count + MORE for what, count in shallow.items()), (shallow, deep)


def test_a_closure_that_feeds_itself_is_evaluated_in_as_many(open_kb: OpenKb) -> None:
    shallow, deep = (_statements(open_kb, FED, depth, changes=False) for depth in (50, 150))
    assert deep["rules"] <= shallow["rules"] + MORE


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        *((name, "no limit") for name in PROGRAMS),
        *((name, "counted") for name in PROGRAMS if name not in LOOKED_UP),
        ("computed", "timed"),
    ],
)
def test_deep_ones_take_no_more(open_kb: OpenKb, name: str, limits: str) -> None:
    shallow, deep = _both(open_kb, PROGRAMS[name], limits)
    assert all(deep[what] <= count + MORE for what, count in shallow.items()), (shallow, deep)


def _both(open_kb: OpenKb, rules: str, limits: str) -> tuple[dict[str, int], dict[str, int]]:
    """How many statements a shallow recursion takes, and a deep one."""
    limited = partial(open_kb, **LIMITS[limits])
    return _statements(limited, rules, SHALLOW), _statements(limited, rules, DEEP)


def _statements(open_kb: OpenKb, rules: str, depth: int, changes: bool = True) -> dict[str, int]:
    """How many statements it takes to evaluate rules, to follow changes, and to verify."""
    seen: list[str] = []
    middle = [(depth // 2, depth // 2 + 1)]
    with open_kb() as kb:
        kb.register_function("same", lambda value: value, ["int"], "int")
        kb.register_function("named", lambda value: f"n{value}", ["int"], "symbol")
        kb.insert("start", [(0,)])
        kb.insert("u", [(-1,)])
        kb.insert("arc", [(n, n + 1) for n in range(depth)])
        kb.trace(lambda text, _: seen.append(text))
        counts = {}
        for what, act in (
            ("rules", lambda: kb.add_rules(rules)),
            ("delete", lambda: kb.delete("arc", middle)),
            ("insert", lambda: kb.insert("arc", middle)),
            ("verify", kb.verify),
        )[: 4 if changes else 1]:
            seen.clear()
            assert act()
            counts[what] = len(seen)
        kb.trace(None)
    return counts
