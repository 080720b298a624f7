"""In a small database, a proof is at most 2 higher than the lowest, even if facts are many."""

from __future__ import annotations

import pytest

import zodiac_sql
from zodiac_sql.read.why import find_proof

MANY = "many(X) :- left(X, _). many(X) :- right(X, _). "
"""More facts than a first search for a low proof follows: 60 by each rule."""

CHAIN = "p1(X) :- p0(X). p2(X) :- p1(X). p3(X) :- p2(X). p4(X) :- p3(X). p5(X) :- p4(X). "


def height_of_top(rules: str) -> int:
    with zodiac_sql.connect() as kb:
        kb.add_rules(rules)
        kb.insert("p0", [("a",)])
        for side in ("left", "right"):
            kb.insert(side, [("a", number) for number in range(60)])
        return kb.why("top(a)").height


def test_a_high_proof_is_seen_before_a_low_one() -> None:
    """The facts of the chain are all near the top, and those of the low proof are many."""
    high = "top(X) :- p0(X), p1(X), p2(X), p3(X), p4(X), p5(X). "
    assert height_of_top(CHAIN + MANY + high) == 6
    assert height_of_top(CHAIN + MANY + high + "top(X) :- many(X).") == 2


def test_a_search_that_ends_before_it_has_seen_any_proof() -> None:
    """It says nothing of the facts that it has not followed yet: they may all be explicit."""
    high = "top(X) :- p3(X). "
    assert height_of_top(CHAIN + high) == 4
    assert height_of_top(CHAIN + high + MANY.replace("many", "top")) == 1


def test_a_search_that_ends_with_a_higher_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """Going down, a proof of height 4 was found; the search ends when it has seen one of 6."""
    monkeypatch.setattr(find_proof, "MOST_FACTS", 150)
    low = "top(X) :- q3(X). q3(X) :- q2(X). q2(X) :- q1(X). q1(X) :- p0(X). "
    high = "top(X) :- p0(X), p1(X), p2(X), p3(X), p4(X), p5(X). "
    many = (
        "top(X) :- far_left(X, _). far_left(X, Y) :- left(X, Y). "
        "top(X) :- far_right(X, _). far_right(X, Y) :- right(X, Y)."
    )
    assert height_of_top(low + CHAIN + high + many) == 4
