"""What a change of facts does to negation and aggregates, on examples worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from support.maintained import (
    LEFT,
    SQUARE,
    deleted,
    evaluated,
    facts,
    hypernodes_deriving,
    inserted,
    pairs,
)

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

Start = Callable[[str], "KnowledgeBase"]


# start verifies, and finds an idb.q that holds a fact too many, seen in no extension


def test_an_insertion_takes_conclusions_away_through_negation(start: Start) -> None:
    kb = start(f"{SQUARE} cut(X, Y) :- n(X), n(Y), not r(X, Y). alone(X) :- n(X), not cut(X, X).")
    kb.insert("n", [(1,), (2,)])
    kb.insert("e", [(1, 2)])
    assert facts(kb, "cut") == {(1, 1), (2, 1), (2, 2)} and facts(kb, "alone") == set()
    change = kb.insert("e", [(2, 1)])
    assert deleted(change, "cut") == {(1, 1), (2, 1), (2, 2)}
    assert inserted(change, "alone") == {(1,), (2,)}
    assert change.inserted == {"e": 1, "r": 3, "alone": 2} and change.deleted == {"cut": 3}


def test_a_deletion_adds_conclusions_through_negation(start: Start) -> None:
    kb = start("up(X) :- s(X). up(Y) :- up(X), e(X, Y). down(X) :- n(X), not up(X).")
    kb.insert("n", [(1,), (2,), (3,)])
    kb.insert("e", [(1, 2), (2, 3), (3, 2)])
    kb.insert("s", [(1,)])
    assert facts(kb, "down") == set()
    change = kb.delete("e", [(1, 2)])
    assert deleted(change, "up") == inserted(change, "down") == {(2,), (3,)}
    change = kb.insert("s", [(3,)])
    assert inserted(change, "up") == deleted(change, "down") == {(2,), (3,)}


def test_a_variable_only_under_a_negation_counts_all_its_values(start: Start) -> None:
    kb = start("sink(X) :- n(X), not e(X, L). none() :- not e(L, M). n(1). e(1, 2). e(1, 3).")
    assert kb.delete("e", [(1, 2)]).inserted == {}
    assert kb.delete("e", [(1, 3)]).inserted == {"sink": 1, "none": 1}
    assert kb.insert("e", [(1, 1)]).deleted == {"sink": 1, "none": 1}


def test_recursion_under_and_above_a_negation(start: Start) -> None:
    """An edge that is inserted below closes a gap above, and what had spread there must go."""
    kb = start(f"""{LEFT}
        gap(X, Y) :- n(X), n(Y), not r(X, Y).
        far(X, Y) :- gap(X, Y). far(X, Z) :- far(X, Y), gap(Y, Z).
    """)
    kb.insert("n", [(1,), (2,), (3,)])
    kb.insert("e", [(1, 2), (2, 1)])
    assert facts(kb, "gap") == {(1, 3), (2, 3), (3, 1), (3, 2), (3, 3)}
    assert facts(kb, "far") == pairs((1, 2, 3))
    change = kb.insert("e", [(1, 3)])
    assert facts(kb, "gap") == facts(kb, "far") == {(3, 1), (3, 2), (3, 3)}
    assert deleted(change, "far") == {(a, b) for a in (1, 2) for b in (1, 2, 3)}
    change = kb.delete("e", [(1, 3)])
    assert inserted(change, "far") == {(a, b) for a in (1, 2) for b in (1, 2, 3)}


def test_groups_of_an_aggregate_appear_change_and_vanish(start: Start) -> None:
    kb = start("n(X, N) :- AGGREGATE(e(X, Y)) ON X WITH COUNT(Y) AS N. e(1, 2).")
    change = kb.insert("e", [(2, 1), (1, 3)])
    assert inserted(change, "n") == {(1, 2), (2, 1)} and deleted(change, "n") == {(1, 1)}
    change = kb.delete("e", [(2, 1), (1, 2)])
    assert inserted(change, "n") == {(1, 1)} and deleted(change, "n") == {(1, 2), (2, 1)}
    change = kb.delete("e", [(1, 3)])
    assert change.deleted == {"e": 1, "n": 1} and facts(kb, "n") == set()


def test_an_aggregate_that_keeps_its_value_concerns_nobody(start: Start) -> None:
    kb = start("""
        top(X, M) :- AGGREGATE(v(X, Y)) ON X WITH MAX(Y) AS M.
        high(X) :- top(X, M), M > 3.
        v(1, 5). v(1, 4). v(2, 5).
    """)
    change = kb.delete("v", [(1, 4)])
    assert change.deleted == {"v": 1}
    assert hypernodes_deriving(kb, "high").isdisjoint(evaluated(change))
    change = kb.delete("v", [(1, 5)])
    assert change.deleted == {"v": 1, "top": 1, "high": 1}


def test_an_aggregate_without_groups_over_a_closure(start: Start) -> None:
    kb = start(f"size(N) :- AGGREGATE(r(X, Y)) WITH COUNT(X) AS N. {SQUARE} e(1, 2).")
    change = kb.insert("e", [(2, 1)])
    assert inserted(change, "size") == {(4,)} and deleted(change, "size") == {(1,)}
    change = kb.delete("e", [(1, 2), (2, 1)])
    assert deleted(change, "size") == {(4,)} and facts(kb, "size") == set()


def test_recursion_over_what_an_aggregate_selects(start: Start) -> None:
    """1 -> 2 -> 3 -> 1 are hubs with two edges each; without 2 -> 4, the way through 2 is shut."""
    kb = start("""
        degree(X, N) :- AGGREGATE(e(X, Y)) ON X WITH COUNT(Y) AS N.
        hub(X) :- degree(X, N), N >= 2.
        way(X, Y) :- e(X, Y), hub(X), hub(Y).
        way(X, Z) :- way(X, Y), way(Y, Z).
    """)
    kb.insert("e", [(1, 2), (2, 3), (3, 1), (1, 4), (2, 4), (3, 4)])
    assert facts(kb, "way") == pairs((1, 2, 3))
    change = kb.delete("e", [(2, 4)])
    assert facts(kb, "way") == {(3, 1)} and deleted(change, "hub") == {(2,)}
    change = kb.insert("e", [(2, 5)])
    assert inserted(change, "way") == pairs((1, 2, 3)) - {(3, 1)}
