"""Notes on terms that a comparison or a function passed over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., KnowledgeBase]

VALUES = [("a", 9), ("b", 35), ("c", 100), ("d", "n/a"), ("e", "http://e/x"), ("f", '"x"@de')]

ASKED: dict[str, Any] = {
    "big(X) :- p(X, A), A > 10.": ("A > 10", "3 facts of p that have no number"),
    "big(X) :- p(X, A), limit(L), A > L.": ("A > L", "3 facts of p that have no number"),
    "big(X, N) :- AGGREGATE(p(X, A), A > 10) ON X WITH COUNT(A) AS N.":
        ("A > 10", "3 facts of p that have no number"),
    "big(X, W) :- p(X, A), W = if(A > 10, 1, 0).": ("(A > 10)", "3 facts of p that have no number"),
    "big(X, W) :- p(X, A), limit(L), W = least(A, L).":
        ("least(A, L)", "3 facts of p that have no number"),
    "big(X, W) :- p(X, A), W = A + 1.": ("(A + 1)", "3 facts of p that have no number"),
    'early(X) :- p(X, A), A < "z".': ("A < z", "5 facts of p that have no plain text"),
    "less(X, Y) :- p(X, A), p(Y, B), A < B.":
        ("A < B", "2 facts of p that have no value with an order"),
    "same(X, Y) :- p(X, A), p(Y, B), A = B.": None,
}  # fmt: skip


@pytest.mark.parametrize("rule", ASKED)
def test_a_new_rule_and_new_facts(open_kb: OpenKb, rule: str) -> None:
    kb = open_kb()
    kb.insert("p", VALUES)
    kb.insert("limit", [(20,)])
    found = [note for note in kb.add_rules(f"r: {rule}").notes if "passed over" in note]
    if ASKED[rule] is None:
        assert not found
        return
    told, what = ASKED[rule]
    assert set(found) == {f"rule r: {told} passed over {what} there"}
    (again,) = set(kb.insert("p", [("g", "_:b")]).notes)
    assert again.startswith(f"rule r: {told} passed over 1 fact of p that has no ")
    assert kb.verify()


def test_only_plain_texts_have_an_order(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.insert("p", [*VALUES, ("g", "abc"), ("h", '"09:00"^^<http://e/t>')])
    kb.add_rules('r: early(X) :- p(X, A), A < "z".\nt: less(X, Y) :- p(X, A), p(Y, B), A < B.')
    assert {x for (x,) in kb.table("early").fetchall()} == {"d", "g"}
    assert {pair for pair in kb.table("less").fetchall()} == {
        ("a", "b"), ("a", "c"), ("b", "c"), ("g", "d"),
    }  # fmt: skip
    assert kb.verify()
