"""Negated atoms without variables in recursions, over predicates whose facts are in several tables.

DuckDB 2.0.1 takes EXISTS of a union for false from the second round of a recursion on, on one
thread.
"""

from __future__ import annotations

import pytest

import zodiac_sql

RULES = """
.decl level(x: int, checked: bool)
.decl first(n: int)
.decl second(n: int)
.decl known(n: int)
alarm(N) :- first(N).
alarm(N) :- second(N).
level(X, C) :- level(X, C), known(X).
level(X, false) :- level(X, _), not alarm(_), alarm(_).
step(0).
step(X + 1) :- step(X), X < 9, not alarm(_).
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_a_negated_atom_is_false_in_all_rounds(threads: int) -> None:
    with zodiac_sql.connect(threads=threads) as kb:
        with kb.update() as update:
            update.add_rules(RULES)
            update.insert("first", [(1,)])
            update.insert("second", [(2,)])
            update.insert("known", [(-1,), (-2,)])
        kb.insert("level", [(-1, True)])
        assert kb.table("level").fetchall() == [(-1, True)]
        assert kb.table("step").fetchall() == [(0,)]
        assert kb.verify()
