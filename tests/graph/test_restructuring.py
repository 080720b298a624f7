"""What becomes of hypernodes when rules come and go: examples of the paper, what tables pass on."""

from __future__ import annotations

from collections.abc import Sequence

from support.figure_1 import FIGURE_1, R8

from zodiac_sql.graph.hypergraph import Hypergraph, hypergraph
from zodiac_sql.graph.restructuring import (
    Restructuring,
    execution_plan,
    kept_rules,
    restructure,
    table_heirs,
    unchanged,
)
from zodiac_sql.language.parse import parse
from zodiac_sql.language.syntax import Rule


def rules(text: str, without: str = "") -> list[Rule]:
    return [rule for rule in parse(text).rules if rule.name not in without.split()]


def change(before: Sequence[Rule], after: Sequence[Rule], rows: int = 1) -> Restructuring:
    """Both HRDGs, hypernodes numbered in the order of rules, and what becomes of the first."""
    old = hypergraph(before, {}, 1)
    new = hypergraph(after, kept_rules(old, after), len(old.hypernodes) + 1)
    return restructure(old, new, lambda hypernode, predicate: rows)


def members(graph: Hypergraph) -> dict[int, str]:
    return {h.id: " ".join(rule.name for rule in h.rules) for h in graph.hypernodes}


def plan(found: Restructuring) -> list[int]:
    return [h.id for h in execution_plan(found.after, found.direct)]


def heritage(found: Restructuring, number: int) -> tuple[dict[str, tuple[int, ...]], str, str]:
    """Whose tables, what rules they have too much, and what rules they lack."""
    one = found.heritages[number]
    return (
        {name: olds for name, olds in one.tables.items() if olds},
        " ".join(rule.name for rule in one.lost),
        " ".join(rule.name for rule in one.new),
    )


# --- the paper ------------------------------------------------------------------------------------


def test_figure_3a() -> None:
    graph = hypergraph(rules(FIGURE_1), {}, 1)
    assert members(graph) == {1: "r1", 2: "r2 r3 r4", 3: "r5 r6", 4: "r7"}


def test_figure_3b_a_rule_joins_a_hypernode() -> None:
    found = change(rules(FIGURE_1), rules(FIGURE_1 + R8))
    assert members(found.after) == {1: "r1", 2: "r2 r3 r4 r8", 3: "r5 r6", 4: "r7"}
    assert found.direct == {2}
    assert plan(found) == [2, 3, 4]
    assert (found.created, found.merged, found.split, found.dropped) == ((), {}, {}, ())
    assert heritage(found, 2) == ({"p2": (2,), "p3": (2,), "p4": (2,)}, "", "r8")


def test_figure_3c_a_hypernode_splits() -> None:
    """Section 4.4.2: DIHN = {hn2, hn3, hn4, hn5, hn6}."""
    found = change(rules(FIGURE_1 + R8), rules(FIGURE_1 + R8, without="r4"))
    assert members(found.after) == {1: "r1", 2: "r2", 5: "r3", 3: "r5 r6", 4: "r7", 6: "r8"}
    assert found.direct == {2, 3, 4, 5, 6}
    assert plan(found) == [5, 2, 6, 3, 4]
    assert found.split == {2: (2, 5, 6)}
    # The table of p2 passes to one of its two rules, and the other one fills a new one.
    assert heritage(found, 2) == ({"p2": (2,)}, "r8", "")
    assert heritage(found, 5) == ({"p3": (2,)}, "", "")
    assert heritage(found, 6) == ({}, "", "r8")


def test_hypernodes_vanish() -> None:
    found = change(rules(FIGURE_1), rules(FIGURE_1, without="r5 r6 r7"))
    assert found.dropped == (3, 4)
    assert found.direct == frozenset() and plan(found) == []


def test_figure_5_a_rule_goes_and_the_structure_stays() -> None:
    """Section 4.4.3: without r7 DIHN = {hn2}, and the plan is hn2, then hn3.

    The figure itself is not in the text that we have: the rules are such that this holds.
    """
    text = (
        "r1: a(X, Y) :- b(X, Y). r2: c(X, Y) :- a(X, Y). r3: d(X, Y) :- c(X, Y). "
        "r4: c(X, Y) :- d(X, Y). r7: c(X, Z) :- c(X, Y), c(Y, Z). r5: e(X, Y) :- d(X, Y)."
    )
    found = change(rules(text), rules(text, without="r7"))
    two, three = (next(n for n, m in members(found.after).items() if r in m) for r in ("r4", "r5"))
    assert members(found.after)[two] == "r3 r4"
    assert found.direct == {two} and plan(found) == [two, three]
    assert heritage(found, two) == ({"c": (two,), "d": (two,)}, "r7", "")


# --- merging --------------------------------------------------------------------------------------

CHAIN = "a: p(X) :- e(X). b: q(X) :- p(X). c: r(X) :- q(X). "


def test_a_rule_closes_a_cycle() -> None:
    found = change(rules(CHAIN), rules(CHAIN + "d: p(X) :- r(X)."))
    (number,) = found.merged
    assert members(found.after) == {1: "a", number: "b c d"}
    assert found.merged[number] == (2, 3)
    assert heritage(found, number) == ({"q": (2,), "r": (3,)}, "", "d")
    assert found.created == found.dropped == ()


def test_the_base_is_the_largest() -> None:
    old = hypergraph(rules(CHAIN), {}, 1)
    after = rules(CHAIN + "d: p(X) :- r(X).")
    new = hypergraph(after, kept_rules(old, after), 4)
    sizes = {(2, "q"): 1, (3, "r"): 2}
    found = restructure(old, new, lambda hypernode, predicate: sizes[hypernode, predicate])
    (heritage_,) = found.heritages.values()
    assert [h.id for h in heritage_.origins] == [2, 3] and heritage_.base == 3


def test_two_cycles_become_one_larger_one() -> None:
    text = (
        "a: p(X) :- q(X). b: q(X) :- p(X). c: r(X) :- s(X). d: s(X) :- r(X). "
        "e: q(X) :- r(X). f: s(X) :- p(X)."
    )
    found = change(rules(text, without="e f"), rules(text, without="b d"))
    (number,) = found.merged
    assert members(found.after) == {number: "a c e f"} and found.merged[number] == (1, 2)
    # No rule for q or s is left that helped to fill their tables.
    assert heritage(found, number) == ({"p": (1,), "r": (2,)}, "", "e f")


# --- who gets what --------------------------------------------------------------------------------


def test_a_table_passes_to_most_of_its_rules() -> None:
    text = "a: p(X) :- q(X). b: q(X) :- p(X). c: p(X) :- p(Y), e(X, Y). d: p(X) :- p(Y), f(X, Y). "
    found = change(rules(text), rules(text, without="b"))
    (closure,) = [h for h in found.after.hypernodes if h.recursive]
    (single,) = [h for h in found.after.hypernodes if not h.recursive]
    assert heritage(found, closure.id) == ({"p": (1,)}, "a", "")
    assert heritage(found, single.id) == ({}, "", "a")
    assert table_heirs(found) == {(1, "p"): closure.id}


def test_nothing_changes() -> None:
    graph = hypergraph(rules(FIGURE_1), {}, 1)
    for found in (unchanged(graph), change(rules(FIGURE_1), rules(FIGURE_1))):
        assert found.direct == frozenset() and not found.heritages
        assert found.created == found.dropped == () and not (found.merged or found.split)
        assert table_heirs(found) == {(h.id, p): h.id for h in graph.hypernodes for p in h.derives}
