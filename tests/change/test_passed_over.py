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


PAIRS = [
    ("a", 5, 9), ("b", 5, "n/a"), ("c", "x", "n/a"), ("d", "http://e/x", "http://e/x"),
    ("e", "_:b", 3), ("f", 2.5, 7), ("g", True, 1), ("h", '"x"@de', "x"), ("i", 9, 5),
]  # fmt: skip

WITHOUT_ORDER = [x for x, *_ in PAIRS if x not in "acfi"]

IN_ONE_ATOM = {
    "r(X) :- p(X, A, B), A < B.": "A < B",
    "r(X, W) :- p(X, A, B), W = if(A >= B, 1, 0).": "(A >= B)",
    "r(N) :- AGGREGATE(p(X, A, B), A > B) WITH COUNT(X) AS N.": "A > B",
    "r(X) :- p(X, A, B), q(A), A < B.": "A < B",
    "r(X) :- p(X, A, _), p(X, A, B), A < B.": "A < B",
}


@pytest.mark.parametrize("rule", IN_ONE_ATOM)
def test_a_comparison_of_two_columns_of_an_atom(open_kb: OpenKb, rule: str) -> None:
    kb = open_kb()
    kb.add_rules(".decl p(x: symbol, a: any, b: any). .decl q(a: any).")
    kb.insert("p", PAIRS)
    notes = kb.add_rules(f"r: {rule}").notes
    told = f"rule r: {IN_ONE_ATOM[rule]} passed over"
    expected = [f"{told} {len(WITHOUT_ORDER)} facts of p that have no order there"]
    assert [note for note in notes if "passed over" in note] == expected
    assert kb.insert("p", [("k", 1, "y"), ("l", 1, 2)]).notes == (
        f"{told} 1 fact of p that has no order there",
    )
    assert not kb.insert("p", [("m", 1, 2)]).notes
    assert kb.verify()


def test_the_least_of_two_columns(open_kb: OpenKb) -> None:
    """It has a value for numbers, and for dates and times, alone."""
    kb = open_kb()
    kb.add_rules(".decl p(x: symbol, a: any, b: any).")
    kb.insert("p", PAIRS)
    (note,) = kb.add_rules("r: r(X, W) :- p(X, A, B), W = least(A, B).").notes
    assert note == "rule r: least(A, B) passed over 6 facts of p that have no order there"
    assert kb.table("r").num_rows == 3


def test_only_facts_that_the_atom_names_are_counted(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.add_rules(".decl p(x: symbol, a: any, b: any). .decl o(x: symbol, a: any, b: symbol).")
    kb.insert("p", PAIRS)
    kb.insert("o", [(x, a, str(b)) for x, a, b in PAIRS])
    found = kb.add_rules("r: r(A) :- p(b, A, B), A < B.\ns: s(X) :- o(X, A, B), A < B.").notes
    assert set(found) == {
        "rule r: A < B passed over 1 fact of p that has no order there",
        "rule s: A < B passed over 8 facts of o that have no order there",
    }


def test_what_several_rules_derive_is_counted_once(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.add_rules(".decl e(x: symbol, a: any, b: any). p(X, A, B) :- e(X, A, B).")
    kb.insert("e", PAIRS)
    kb.insert("p", PAIRS)
    notes = kb.add_rules("r: r(X) :- p(X, A, B), A < B.").notes
    assert f"{len(WITHOUT_ORDER)} facts of p that have no order" in " ".join(notes)


def test_values_that_are_computed_are_not_computed_for_a_note(open_kb: OpenKb) -> None:
    """Of the fact of b the product has no room: but no rule computes it."""
    kb = open_kb()
    kb.add_rules(".decl p(x: symbol, a: any, n: int).")
    kb.insert("p", [("a", 5, 2), ("b", 5, 2**62)])
    kb.insert("q", [("a",)])
    kb.add_rules("r: r(X) :- q(X), p(X, A, N), A > N * N.")
    assert kb.table("r").num_rows == 1
