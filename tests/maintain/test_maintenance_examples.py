"""What a change of facts does, on examples small enough to be worked out by hand.

Tests with an argument `strategy` run once for each; `start` has it. These tests look at what a
Change tells, and at the work. What is only about extensions is a case below tests/cases.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.maintained import (
    LEFT,
    SQUARE,
    deleted,
    evaluated,
    facts,
    hypernodes_deriving,
    inserted,
    opened,
    pairs,
)

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.change import Change

OpenKb = Callable[..., "KnowledgeBase"]
Start = Callable[[str], "KnowledgeBase"]

COUNTERS = ("checked", "overdeleted", "rederived", "forward", "backward")
MUTUAL = "r(X, Y) :- e(X, Y). r(X, Z) :- s(X, Y), e(Y, Z). s(X, Y) :- r(X, Y)."
SYMMETRIC = SQUARE + " r(X, Y) :- r(Y, X)."
closures = pytest.mark.parametrize(
    "closure",
    [LEFT, SQUARE, MUTUAL],
    ids=["left-linear", "square", "mutual"],
)

TABLE_1 = """
    R1: TA(X) :- Person(X), Tutor(X, Y), Course(Y).
    R2: Person(X) :- TA(X).
    R3: Person(X) :- Tutor(X, Y).
    R4: Course(Y) :- Tutor(X, Y).
    Tutor(john, math). Tutor(peter, math). Tutor(john, phys).
"""


def work(change: Change, *counters: str) -> int:
    """The sum of counters over all hypernodes."""
    nodes = change.stats["hypernodes"].values()
    return sum(node[counter] for node in nodes for counter in counters)  # type: ignore[index]


# --- the papers -----------------------------------------------------------------------------------


def test_table_1_of_paper_3_keeps_every_derived_fact(start: Start) -> None:
    kb = start(TABLE_1)
    change = kb.delete("Tutor", [("john", "math")])
    assert (change.inserted, change.deleted) == ({}, {"Tutor": 1})
    assert deleted(change, "Tutor") == {("john", "math")}
    assert facts(kb, "TA") == facts(kb, "Person") == {("peter",), ("john",)}
    assert facts(kb, "Course") == {("math",), ("phys",)}


def test_table_1_of_paper_3_then_without_its_other_facts(start: Start) -> None:
    kb = start(TABLE_1)
    kb.delete("Tutor", [("john", "math")])
    change = kb.delete("Tutor", [("john", "phys")])
    assert change.deleted == {"Tutor": 1, "TA": 1, "Person": 1, "Course": 1}
    assert deleted(change, "Person") == {("john",)}
    assert deleted(change, "Course") == {("phys",)}
    change = kb.delete("Tutor", [("peter", "math")])
    assert change.deleted == {"Tutor": 1, "TA": 1, "Person": 1, "Course": 1}


def test_bf_checks_no_more_on_table_1_than_paper_3(open_kb: OpenKb) -> None:
    """Paper 3, Algorithm 1 with E- = {E1 = Tutor(john, math)}, step by step.

    D = {E1}.
    E1: checked; no rule has it as head, so it is disproved. It is a body atom of R1, R3 and R4:
        D gets TA(john) (I5), Person(john) (I4) and Course(math) (I3).
    I5: checked; its one instance of R1 without E1 is Person(john), Tutor(john, phys), Course(phys).
        I4: checked; by R2 it needs I5, which is being checked; by R3 it needs Tutor(john, phys).
            E3 = Tutor(john, phys): checked, and explicit. So I4 is proved, by R3.
        I6 = Course(phys): checked, and proved, because R4 made it a delayed fact. So I5 is proved.
    I4: checked already, and proved.
    I3: checked; R4 gives Tutor(peter, math).
        E2: checked, and explicit. So I3 is proved.

    C = {E1, I5, I4, E3, I6, I3, E2}: 7 facts, in whatever order rules and atoms are taken. Three of
    them are explicit and I6 belongs to a hypernode that loses nothing: 3 remain to be looked at
    where each hypernode maintains its own table, and I4 twice, as two hypernodes derive it.
    """
    with opened(open_kb, "bf") as begin:
        change = begin(TABLE_1).delete("Tutor", [("john", "math")])
        assert work(change, "checked") <= 7


def test_deletion_at_the_foot_of_paper_3s_chain_stops_at_its_first_step(start: Start) -> None:
    """Section 1, n = 50. B/F checks A(a), C1(a) and B(a)."""
    chain = "".join(f"C{n}(X) :- C{n - 1}(X). " for n in range(2, 51))
    kb = start(f"C1(X) :- A(X). C1(X) :- B(X). {chain} A(a). B(a).")
    change = kb.delete("A", [("a",)])
    assert (change.inserted, change.deleted) == ({}, {"A": 1})
    assert facts(kb, "C50") == {("a",)}
    updated = change.hypernodes.updated
    assert set(updated) == set(evaluated(change)) and len(updated) <= 1
    assert hypernodes_deriving(kb, "C1").issuperset(updated)
    assert work(change, "checked") <= 3
    change = kb.delete("B", [("a",)])
    assert change.deleted == {"B": 1, **{f"C{n}": 1 for n in range(1, 51)}}


@closures
def test_a_fact_on_two_cycles_outlives_one_of_them(start: Start, closure: str) -> None:
    """ZodiacEdge's deletion loses r(1, 1) here, because it was derived from r(1, 2), too."""
    kb = start(f"{closure} e(0, 1). e(1, 0). e(1, 2). e(2, 1).")
    change = kb.delete("e", [(1, 2)])
    assert facts(kb, "r") == {(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)}
    assert deleted(change, "r") == {(0, 2), (1, 2), (2, 2)}
    change = kb.insert("e", [(1, 2)])
    assert facts(kb, "r") == pairs(range(3))
    assert inserted(change, "r") == {(0, 2), (1, 2), (2, 2)}


# --- cycles ---------------------------------------------------------------------------------------


@closures
def test_a_bridge_between_two_cycles_goes_and_comes_back(start: Start, closure: str) -> None:
    kb = start(closure)
    kb.insert("e", [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3)])
    across = {(a, b) for a in range(3) for b in range(3, 6)}
    assert facts(kb, "r") == pairs(range(3), range(3, 6)) | across
    for _ in range(2):
        change = kb.delete("e", [(2, 3)])
        assert change.deleted == {"e": 1, "r": 9} | ({"s": 9} if closure is MUTUAL else {})
        assert deleted(change, "r") == across and not change.inserted
        assert facts(kb, "r") == pairs(range(3), range(3, 6))
        change = kb.insert("e", [(2, 3)])
        assert inserted(change, "r") == across and not change.deleted
        assert facts(kb, "r") == pairs(range(3), range(3, 6)) | across


def test_a_clique_falls_in_two_and_grows_together_again(start: Start) -> None:
    kb = start(SYMMETRIC)
    kb.insert("e", [(0, 1), (1, 2), (2, 3), (3, 4), (0, 2), (4, 5)])
    assert facts(kb, "r") == pairs(range(6))
    assert kb.delete("e", [(0, 1)]).deleted == {"e": 1}  # 0 and 1 still meet in 2
    change = kb.delete("e", [(2, 3)])
    assert change.deleted == {"e": 1, "r": 18}
    assert facts(kb, "r") == pairs(range(3), range(3, 6))
    change = kb.insert("e", [(5, 1)])
    assert change.inserted == {"e": 1, "r": 18}
    assert facts(kb, "r") == pairs(range(6))


@closures
def test_an_edge_is_replaced_by_its_opposite_in_one_change(start: Start, closure: str) -> None:
    kb = start(f"{closure} e(0, 1). e(1, 2). e(2, 0).")
    with kb.update() as update:
        update.delete("e", [(2, 0)])
        update.insert("e", [(0, 2)])
    assert facts(kb, "r") == {(0, 1), (0, 2), (1, 2)}
    assert deleted(update.change, "r") == {(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)}
    assert update.change.inserted == {"e": 1}
    with kb.update() as update:
        update.delete("e", [(0, 2)])
        update.insert("e", [(2, 0)])
    assert facts(kb, "r") == pairs(range(3))


LOOP = "p(X) :- q(X). p(X) :- r(X, Y), p(Y). r(1, 2). r(2, 3). r(3, 1)."
LOOP_OF_TWO = "p(X) :- q(X). p(X) :- o(X). o(X) :- r(X, Y), p(Y). r(1, 2). r(2, 3). r(3, 1)."


@pytest.mark.parametrize("loop", [LOOP, LOOP_OF_TWO], ids=["one predicate", "two predicates"])
def test_a_loop_vanishes_with_its_last_support_from_outside(start: Start, loop: str) -> None:
    kb = start(loop + " q(1). q(3).")
    assert facts(kb, "p") == {(1,), (2,), (3,)}
    assert kb.delete("q", [(1,)]).deleted == {"q": 1}
    change = kb.delete("q", [(3,)])
    assert deleted(change, "p") == {(1,), (2,), (3,)} and facts(kb, "p") == set()
    change = kb.insert("q", [(2,)])
    assert inserted(change, "p") == {(1,), (2,), (3,)}
    change = kb.delete("r", [(3, 1)])  # now only 1 leads to 2
    assert deleted(change, "p") == {(3,)} and facts(kb, "p") == {(1,), (2,)}


def test_a_loop_held_by_an_explicit_fact_of_its_own(start: Start) -> None:
    kb = start(LOOP + " q(1). p(2).")
    assert kb.delete("q", [(1,)]).deleted == {"q": 1}
    change = kb.delete("p", [(2,)])
    assert change.deleted == {"p": 3} and facts(kb, "p") == set()


# --- explicit and derived -------------------------------------------------------------------------


@closures
def test_an_explicit_fact_that_is_derived_stays_until_both_are_gone(
    start: Start, closure: str
) -> None:
    kb = start(f"{closure} e(1, 2). e(2, 3). r(1, 3). r(2, 1).")
    assert not kb.delete("r", [(1, 3)])
    assert (1, 3) in facts(kb, "r")
    assert deleted(kb.delete("e", [(2, 3)]), "r") >= {(1, 3), (2, 3)}
    kb.insert("e", [(2, 3)])
    kb.insert("r", [(1, 3)])
    assert (1, 3) not in deleted(kb.delete("e", [(2, 3)]), "r")
    assert deleted(kb.delete("r", [(1, 3)]), "r") >= {(1, 3)}
    assert (1, 3) not in facts(kb, "r")


def test_a_fact_that_derives_itself_is_no_support(start: Start) -> None:
    kb = start("p(X, Z) :- p(X, Y), p(Y, Z). p(1, 1).")
    change = kb.delete("p", [(1, 1)])
    assert change.deleted == {"p": 1} and facts(kb, "p") == set()


def test_a_fact_that_derives_itself_and_is_derived_stays(start: Start) -> None:
    kb = start("p(X, Z) :- p(X, Y), p(Y, Z). p(1, 1). p(1, 2). p(2, 1).")
    assert not kb.delete("p", [(1, 1)])
    assert facts(kb, "p") == pairs((1, 2))
    change = kb.delete("p", [(2, 1)])
    assert deleted(change, "p") == {(1, 1), (2, 1), (2, 2)}


def test_a_symmetric_pair_does_not_hold_itself(start: Start) -> None:
    kb = start("p(X, Y) :- p(Y, X). p(1, 2). p(2, 1).")
    assert not kb.delete("p", [(1, 2)])
    assert kb.delete("p", [(2, 1)]).deleted == {"p": 2}


def test_deleting_a_fact_that_is_only_derived_changes_nothing_and_says_so(start: Start) -> None:
    kb = start(f"{SQUARE} top(X) :- r(X, X). e(1, 2). e(2, 1). r(7, 1).")
    for rows in ([(1, 1)], [(1, 1), (7, 2)]):
        change = kb.delete("r", rows)
        assert not change and not evaluated(change)
        assert any(word in note for note in change.notes for word in ("derive", "explicit"))
    assert facts(kb, "r") == pairs((1, 2)) | {(7, 1), (7, 2)}


def test_a_fact_that_two_hypernodes_hold_goes_when_both_lose_it(start: Start) -> None:
    kb = start("p(X) :- a(X). p(X) :- b(X). c(X) :- p(X). a(1). b(1).")
    assert len(hypernodes_deriving(kb, "p")) == 2
    change = kb.delete("a", [(1,)])
    assert change.deleted == {"a": 1} and hypernodes_deriving(kb, "p").issuperset(evaluated(change))
    assert kb.delete("b", [(1,)]).deleted == {"b": 1, "p": 1, "c": 1}
    assert kb.insert("b", [(1,)]).inserted == {"b": 1, "p": 1, "c": 1}
    assert kb.insert("a", [(1,)]).inserted == {"a": 1}
    with kb.update() as update:
        update.delete("a", [(1,)])
        update.delete("b", [(1,)])
    assert update.change.deleted == {"a": 1, "b": 1, "p": 1, "c": 1}


def test_a_fact_that_moves_from_one_hypernode_to_another_concerns_nobody(start: Start) -> None:
    kb = start(f"{SQUARE} r(X, Y) :- f(X, Y). far(X) :- r(X, X). e(1, 2). e(2, 3). e(3, 1).")
    with kb.update() as update:
        update.delete("e", [(2, 3)])
        update.insert("f", [(2, 3)])
    assert (update.change.inserted, update.change.deleted) == ({"f": 1}, {"e": 1})
    assert hypernodes_deriving(kb, "far").isdisjoint(evaluated(update.change))
    assert facts(kb, "r") == pairs((1, 2, 3))


# --- ranks ----------------------------------------------------------------------------------------


# `support` keeps in the tables when each fact was derived. Whatever else writes them must not leave
# ranks behind that vouch for a derivation which is circular.


def test_another_strategy_leaves_ranks_that_support_can_trust(
    open_kb: OpenKb, strategy: str, tmp_path: Path
) -> None:
    """p(0) is explicit, and derived round about: from p(3), which stands on the explicit p(1).

    It derives p(2), and p(2) derives it. Without the explicit p(0), both stand on p(3); without the
    edge to p(1), all three must go.
    """
    file = tmp_path / "ranks.duckdb"
    with open_kb(file, strategy=strategy) as kb:
        kb.add_rules("p(Y) :- e(Y, X), p(X). p(0). p(1).")
        kb.insert("e", [(0, 3), (2, 0), (3, 1), (0, 2)])
        assert not kb.delete("p", [(0,)])
        assert kb.verify()
    with open_kb(file, strategy="support") as kb:
        change = kb.delete("e", [(3, 1)])
        assert deleted(change, "p") == {(0,), (2,), (3,)} and facts(kb, "p") == {(1,)}
        assert kb.verify()


def test_ranks_are_kept_in_order_over_all_tables_of_a_hypernode(start: Start) -> None:
    """The first fact of m gives its column a type, so that everything is evaluated anew.

    In the hypernode of P and q, that changes P but not q.
    """
    kb = start("""
        r1: p(X, Y) :- e(X, Y).
        r2: p(X, Y) :- f(Y, X), not m(X).
        r3: q(X, Y) :- p(X, Y).
        r4: P(X, Y, Z) :- q(X, Y), p(Y, Z), X != Z.
        r5: q(X, Z) :- P(X, _, Z).
        r6: q(Y, X) :- P(X, Y, Z), m(Z).
    """)
    kb.insert("f", [(2, 3), (2, 4)])
    kb.insert("p", [(2, 4), (4, 0)])
    kb.insert("e", [(1, 2), (4, 1), (1, 0)])
    kb.insert("e", [(2, 3), (3, 1), (4, 3)])
    kb.insert("m", [(4,)])
    assert kb.delete("e", [(2, 3)]).deleted == {"e": 1, "p": 1, "P": 2}


# --- work -----------------------------------------------------------------------------------------


def test_what_changes_nothing_costs_nothing(start: Start) -> None:
    kb = start(f"{SQUARE} top(X) :- r(X, X). e(1, 2). e(2, 1). r(8, 9).")
    nothing = [
        kb.insert("e", [(1, 2)]),
        kb.insert("r", [(8, 9)]),
        kb.delete("e", [(5, 5)]),
        kb.delete("r", [(5, 5)]),
        kb.delete("unheard", [(1,)]),
    ]
    with kb.update() as update:
        update.delete("e", [(1, 2)])
        update.insert("e", [(1, 2)])
    for change in (*nothing, update.change):
        assert not change and not evaluated(change) and not change.hypernodes.updated


def test_what_changes_no_extension_concerns_nobody_else(start: Start) -> None:
    """Facts that were derived become explicit, too, and again only derived."""
    kb = start(f"{SQUARE} top(X) :- r(X, X). e(1, 2). e(2, 1).")
    for change in (kb.insert("r", [(1, 1), (1, 2)]), kb.delete("r", [(1, 1), (1, 2)])):
        assert not change and hypernodes_deriving(kb, "top").isdisjoint(evaluated(change))
    assert facts(kb, "r") == pairs((1, 2))


def test_hypernodes_beside_a_change_are_left_alone(start: Start) -> None:
    kb = start(f"{SQUARE} t(X, Y) :- f(X, Y). t(X, Z) :- t(X, Y), t(Y, Z). e(1, 2). f(1, 2).")
    change = kb.insert("f", [(2, 1)])
    touched = hypernodes_deriving(kb, "t")
    assert touched.issuperset(evaluated(change)) and evaluated(change)
    assert hypernodes_deriving(kb, "r").issubset(change.hypernodes.untouched)


def test_stats_name_the_strategy_and_count_the_work(start: Start, strategy: str) -> None:
    kb = start(f"{SQUARE} back(Y, X) :- r(X, Y). e(1, 2). e(2, 3). e(3, 1). e(3, 4).")
    (recursive,) = (r["hypernode"] for r in kb.hypernodes().arrow().to_pylist() if r["recursive"])
    change = kb.delete("e", [(3, 4)])
    stats: Any = change.stats["hypernodes"]
    assert len(stats) == 3
    for name, node in stats.items():
        allowed = {strategy} if name == recursive else {"candidates", strategy}
        assert strategy == "auto" or node["strategy"] in allowed
        assert all(isinstance(node[counter], int) for counter in COUNTERS)


def test_strategies_differ_in_what_they_look_at(open_kb: OpenKb) -> None:
    """0 reaches 3 through 1 and through 2; behind 3 is a chain of 50 more nodes, 4 to 53.

    When the way through 1 ends, up(3) is the only candidate. What is known of support, or a proof
    backwards over up(2) and up(0), saves it; Delete/Rederive takes 3 and the whole chain away
    (51 facts), and puts them back.
    """
    chain = [(n, n + 1) for n in range(3, 53)]
    told = {}
    for strategy in ("support", "bf", "dred"):
        with opened(open_kb, strategy) as begin:
            kb = begin("up(X) :- start(X). up(Y) :- up(X), e(X, Y). start(0).")
            kb.insert("e", [(0, 1), (0, 2), (1, 3), (2, 3), *chain])
            told[strategy] = kb.delete("e", [(1, 3)])
            assert told[strategy].deleted == {"e": 1}
    assert 1 <= work(told["support"], "checked") <= 3
    assert work(told["support"], "overdeleted") <= 1
    assert 1 <= work(told["bf"], "checked") <= 3
    assert work(told["bf"], "overdeleted") == 0
    assert work(told["dred"], "overdeleted") == work(told["dred"], "rederived") == 51


def test_an_unknown_strategy_is_refused_with_those_there_are(open_kb: OpenKb) -> None:
    with pytest.raises(ValueError, match="recompute"):
        open_kb(strategy="guess")
