"""What says nothing of a head is not multiplied out: else none of this would come to an end."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., KnowledgeBase]

MANY = 20_000
RULES = """
    h(X) :- a(X), b(Y), c(Z).
    less(X) :- a(X), b(Y), c(Z), W = Y + 1, Z < W.
    but(X) :- a(X), b(Y), c(Z), not d(Y), not d(Z).
    some() :- a(X), b(Y), c(Z).
    both(X) :- a(X), b(Y), a(Y), c(_).
"""


@pytest.fixture
def kb(open_kb: OpenKb) -> KnowledgeBase:
    kb = open_kb(timeout=120)
    for name in ("a", "b", "c"):
        kb.insert(name, [(number,) for number in range(MANY)])
    kb.insert("d", [(1,)])
    kb.add_rules(RULES)
    return kb


def counts(kb: KnowledgeBase) -> list[int]:
    return [kb.table(name).num_rows for name in ("h", "less", "but", "some", "both")]


def test_from_scratch_and_after_changes(kb: KnowledgeBase) -> None:
    assert counts(kb) == [MANY, MANY, MANY, 1, MANY]
    kb.insert("a", [(-1,)])
    kb.delete("b", [(7,)])
    assert counts(kb) == [MANY + 1, MANY + 1, MANY + 1, 1, MANY + 1]
    kb.replace("b", [(1,)])
    assert counts(kb) == [MANY + 1, MANY + 1, 0, 1, MANY + 1]
    assert kb.verify()
    kb.delete("b", [(1,)])
    assert counts(kb) == [0, 0, 0, 0, 0]


def test_goals(kb: KnowledgeBase) -> None:
    assert kb.query("a(X), b(_), c(_)").num_rows == MANY
    assert kb.query("a(_), b(_), c(_)").fetchall() == [(True,)]
    assert kb.query("g(X), X < 3", rules="g(X) :- a(X), b(_), h(Y).").num_rows == 3
