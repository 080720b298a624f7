"""Bodies of several atoms are joined two at a time where little is left of two."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING

import pytest
from support.as_if_large import as_if_large

from zodiac_sql.cost import join_steps
from zodiac_sql.evaluate import early_projection

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

PATHS = """
    two(X, Z) :- e(X, Y), e(Y, Z).
    three(X, W) :- e(X, Y), e(Y, Z), e(Z, W).
"""


def _steps(kb: KnowledgeBase) -> list[str]:
    """The statements that join atoms before others, as they come."""
    seen: list[str] = []

    def note(statement: str, _: object) -> None:
        if '"step_0_' in statement and statement.startswith("CREATE"):
            seen.append(statement)

    kb.trace(note)
    return seen


@pytest.mark.parametrize(("nodes", "expected"), [(40, True), (1_600, False)])
def test_sizes_decide(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, nodes: int, expected: bool
) -> None:
    """1,600 edges among few nodes have many more paths than pairs of ends; among many nodes not."""
    monkeypatch.setattr(early_projection, "is_worth_counting", lambda *sides: min(sides) >= 100)
    monkeypatch.setattr(join_steps, "COUNTING", 0.07)
    chance = Random(3)
    edges = {(chance.randrange(nodes), chance.randrange(nodes)) for _ in range(1_600)}
    after: dict[int, set[int]] = {}
    for a, b in edges:
        after.setdefault(a, set()).add(b)
    kb = open_kb()
    kb.insert("e", sorted(edges))
    seen = _steps(kb)
    kb.add_rules(PATHS)
    assert bool(seen) == expected
    two = {(a, c) for a, b in edges for c in after.get(b, ())}
    assert set(kb.table("two")) == two
    assert set(kb.table("three")) == {(a, d) for a, c in two for d in after.get(c, ())}


def test_no_table_is_left_behind(open_kb: OpenKb) -> None:
    with as_if_large(True), open_kb() as kb:
        kb.insert("e", [(1, 2), (2, 3), (3, 4)])
        seen = _steps(kb)
        kb.add_rules(PATHS)
        assert seen
        assert (
            kb.sql("SELECT * FROM duckdb_tables() WHERE table_name LIKE 'step%'").fetchall() == []
        )


def test_a_head_that_is_in_its_own_body(open_kb: OpenKb, strategy: str) -> None:
    """The candidate is not the atom of the body, though both look the same: p(2, 2) has no proof
    but itself.
    """
    with as_if_large(True), open_kb(strategy=strategy) as kb:
        kb.insert("e", [(1, 0), (2, 2), (2, 0), (0, 0)])
        kb.insert("f", [(1, 1), (0, 1), (2, 1)])
        kb.add_rules("""
            p(X, Y) :- e(X, Y).
            p(Y, Z) :- p(Y, X), p(Y, Z), f(Z, W).
        """)
        kb.delete("e", [(2, 2)])
        assert set(kb.table("p")) == {(1, 0), (2, 0), (0, 0)}


def test_bodies_without_variables(open_kb: OpenKb) -> None:
    with as_if_large(True), open_kb() as kb:
        kb.insert("e", [(1, 2), (2, 3), (3, 4)])
        kb.add_rules("yes() :- e(1, 2), e(2, 3), e(3, 4). no() :- e(1, 2), e(2, 3), e(4, 4).")
        kb.add_rules("r() :- yes(), yes(), yes().")
        assert [len(kb.table(name)) for name in ("yes", "no", "r")] == [1, 0, 1]
