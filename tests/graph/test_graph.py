"""RDG and HRDG as paper 1 defines them: which rules belong together, what depends on what."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from support.places import CASES

from zodiac_sql.graph.hypergraph import Hypergraph, hypergraph
from zodiac_sql.graph.matching import covers, may_match
from zodiac_sql.graph.restructuring import kept_rules
from zodiac_sql.graph.rule_graph import components, negative_cycles, rule_graph
from zodiac_sql.language.parse import parse
from zodiac_sql.language.syntax import Rule

PAPERS = CASES / "papers"

# Figure 1 of paper 1, as printed. (Its r5 is not safe, which does not matter to the graph.)
FIGURE_1 = """
r1: p1(X,Y) :- p0(X,Y).           r2: p2(X,Z) :- p1(X,Y) ∧ p3(Y,Z).
r3: p3(X,Y) :- p4(X,Y).           r4: p4(X,Y) :- p2(X,Y).
r5: p5(X,Y) :- p6(Y,Z) ∧ not p2(X,Z).
r6: p6(X,Y) :- p5(X,Y).           r7: p7(X,Z) :- p3(X,Y) ∧ p5(Y,Z).
"""

Names = frozenset[str]
Shape = tuple[frozenset[Names], frozenset[tuple[Names, Names]], frozenset[tuple[Names, Names]]]


def rules(text: str) -> tuple[Rule, ...]:
    return parse(text).rules


def paper_rules(name: str) -> tuple[Rule, ...]:
    return rules((PAPERS / name / "program.rules").read_text(encoding="utf-8"))


def members(graph: Hypergraph) -> dict[int, Names]:
    return {h.id: frozenset(rule.name for rule in h.rules) for h in graph.hypernodes}


def shape(graph: Hypergraph) -> Shape:
    """A graph without its numbers: hypernodes and edges by the names of the rules."""
    names = members(graph)
    return (
        frozenset(names.values()),
        frozenset((names[a], names[b]) for a, b in graph.positive),
        frozenset((names[a], names[b]) for a, b in graph.negative),
    )


def strata(graph: Hypergraph) -> dict[str, int]:
    return {rule.name: h.stratum for h in graph.hypernodes for rule in h.rules}


def numbers(graph: Hypergraph) -> dict[Names, int]:
    return {names: id_ for id_, names in members(graph).items()}


# --- Figure 1 -------------------------------------------------------------------------------------

HN1, HN2 = frozenset({"r1"}), frozenset({"r2", "r3", "r4"})
HN3, HN4 = frozenset({"r5", "r6"}), frozenset({"r7"})


def test_rule_dependency_graph_of_figure_1() -> None:
    graph = rule_graph(rules(FIGURE_1))
    assert graph.positive == {
        ("r1", "r2"), ("r3", "r2"), ("r4", "r3"), ("r2", "r4"), ("r6", "r5"), ("r5", "r6"),
        ("r3", "r7"), ("r5", "r7"),
    }  # fmt: skip
    assert graph.negative == {("r2", "r5")}


def test_components_of_figure_1() -> None:
    found = components(rule_graph(rules(FIGURE_1)))
    assert found == [("r1",), ("r2", "r3", "r4"), ("r5", "r6"), ("r7",)]


def test_hypergraph_of_figure_1_is_figure_3a() -> None:
    graph = hypergraph(rules(FIGURE_1), {}, 1)
    assert shape(graph) == (
        {HN1, HN2, HN3, HN4},
        {(HN1, HN2), (HN2, HN4), (HN3, HN4)},
        {(HN2, HN3)},
    )
    assert [h.recursive for h in graph.hypernodes] == [False, True, True, False]
    assert strata(graph) == {"r1": 0, "r2": 0, "r3": 0, "r4": 0, "r5": 1, "r6": 1, "r7": 1}


def test_what_hypernodes_derive_and_read() -> None:
    graph = hypergraph(rules(FIGURE_1), {}, 1)
    second, third = graph.hypernodes[1:3]
    assert (second.name, second.derives) == ("h2", ("p2", "p3", "p4"))
    assert second.reads == {"p1", "p2", "p3", "p4"}
    assert third.reads == {"p2", "p5", "p6"}
    assert graph.deriving("p3") == (second,)


# --- the rule sets of the paper -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "count"), [("zodiac_rs1", 5), ("zodiac_rs2", 14), ("zodiac_rs3", 14)]
)
def test_hypernodes_of_rule_sets(name: str, count: int) -> None:
    graph = hypergraph(paper_rules(name), {}, 1)
    assert len(graph.hypernodes) == count
    assert sorted(members(graph)) == list(range(1, count + 1))


def test_the_recursive_hypernodes_of_rs2() -> None:
    graph = hypergraph(paper_rules("zodiac_rs2"), {}, 1)
    recursive = {names for id_, names in members(graph).items() if len(names) > 1}
    assert recursive == {
        frozenset({"r2", "r3"}), frozenset({"r7", "r8"}), frozenset({"r12", "r13", "r14"})
    }  # fmt: skip
    alone = {r.name for h in graph.hypernodes if h.recursive for r in h.rules if len(h.rules) == 1}
    assert alone == {"r5"}


def test_a_predicate_may_be_derived_in_several_hypernodes() -> None:
    graph = hypergraph(paper_rules("zodiac_rs2"), {}, 1)
    deriving = {frozenset(r.name for r in h.rules) for h in graph.deriving("p20")}
    assert deriving == {
        frozenset({"r9"}), frozenset({"r10"}), frozenset({"r11"}),
        frozenset({"r12", "r13", "r14"}),
    }  # fmt: skip


def test_rs2_is_semipositive_and_rs3_is_not() -> None:
    second, third = (hypergraph(paper_rules(f"zodiac_rs{n}"), {}, 1) for n in (2, 3))
    assert not second.negative
    assert set(strata(second).values()) == {0}
    names = members(third)
    assert {(names[a], names[b]) for a, b in third.negative} == {
        (frozenset({"r6"}), frozenset({"r10new"})),
        (frozenset({"r7", "r8"}), frozenset({"r10new"})),
    }
    above = {name for name, stratum in strata(third).items() if stratum == 1}
    assert above == {"r10new", "r12", "r13", "r14", "r17"}


# --- strata and order -----------------------------------------------------------------------------


def test_aggregates_go_up_a_stratum_like_negation() -> None:
    graph = hypergraph(paper_rules("zodiac_rs1"), {}, 1)
    assert strata(graph) == {"r1": 0, "r2": 0, "r3": 1, "r4": 1, "r5": 1, "r6": 1}
    assert len(graph.negative) == 2


def test_the_least_stratification() -> None:
    graph = hypergraph(
        rules(
            "a: p(X) :- e(X), not f(X). b: q(X) :- e(X), not p(X). c: s(X) :- p(X), q(X)."
            "d: t(X) :- e(X), not s(X), not p(X). e: u(X) :- e(X)."
        ),
        {},
        1,
    )
    assert strata(graph) == {"a": 0, "b": 1, "c": 1, "d": 2, "e": 0}


def test_a_negated_and_positive_dependency_are_two_edges() -> None:
    graph = hypergraph(rules("a: p(X) :- e(X). b: q(X) :- p(X), f(X, Y), not p(Y)."), {}, 1)
    assert graph.positive == graph.negative == {(1, 2)}


@pytest.mark.parametrize("name", ["figure 1", "zodiac_rs1", "zodiac_rs2", "zodiac_rs3"])
def test_the_order_of_the_rules_does_not_matter(name: str) -> None:
    given = list(rules(FIGURE_1) if name == "figure 1" else paper_rules(name))
    expected = hypergraph(given, {}, 1)
    chance = random.Random(name)
    for _ in range(20):
        chance.shuffle(given)
        graph = hypergraph(given, {}, 1)
        assert shape(graph) == shape(expected)
        assert strata(graph) == strata(expected)
        assert_topological(graph)


def test_random_rules_in_any_order() -> None:
    for seed in range(30):
        chance = random.Random(seed)
        given = random_rules(chance)
        expected = hypergraph(given, {}, 1)
        assert_topological(expected)
        for _ in range(5):
            chance.shuffle(given)
            graph = hypergraph(given, {}, 1)
            assert (shape(graph), strata(graph)) == (shape(expected), strata(expected))
            assert_topological(graph)


def random_rules(chance: random.Random) -> list[Rule]:
    """Rules over p0 to p7; a negation reads a predicate of a lower half, so they are stratified."""
    lines = []
    for number in range(chance.randint(3, 14)):
        head = chance.randrange(8)
        half = range(4) if head < 4 else range(8)
        body = [f"p{chance.choice(half)}(X)" for _ in range(chance.randint(1, 2))]
        if head >= 4 and chance.random() < 0.4:
            body.append(f"not p{chance.randrange(4)}(X)")
        lines.append(f"r{number}: p{head}(X) :- {', '.join(body)}.")
    return list(rules("\n".join(lines)))


def assert_topological(graph: Hypergraph) -> None:
    place = {h.id: index for index, h in enumerate(graph.hypernodes)}
    stratum = {h.id: h.stratum for h in graph.hypernodes}
    for a, b in graph.positive:
        assert place[a] < place[b] and stratum[a] <= stratum[b]
    for a, b in graph.negative:
        assert place[a] < place[b] and stratum[a] < stratum[b]


# --- numbers --------------------------------------------------------------------------------------


def grown(before: Hypergraph, given: Sequence[Rule]) -> Hypergraph:
    """The graph of other rules, where hypernodes that stay keep their numbers."""
    return hypergraph(given, kept_rules(before, given), max(members(before)) + 1)


def test_unchanged_hypernodes_keep_their_numbers() -> None:
    before = hypergraph(rules(FIGURE_1), {}, 1)
    # r8 is a second way around through r2, and becomes a part of its hypernode.
    after = grown(before, rules(FIGURE_1 + "r8: p1(X,Y) :- p3(X,Y)."))
    larger = HN2 | {"r8"}
    assert set(numbers(after)) == {HN1, larger, HN3, HN4}
    for kept in (HN1, HN3, HN4):
        assert numbers(after)[kept] == numbers(before)[kept]
    assert numbers(after)[larger] == numbers(before)[HN2]


def test_a_split_makes_new_numbers_for_all_but_one() -> None:
    before = hypergraph(rules(FIGURE_1), {}, 1)
    # Figure 3c: without r4 nothing holds r2 and r3 together.
    after = grown(before, [rule for rule in rules(FIGURE_1) if rule.name != "r4"])
    assert set(members(after).values()) == {HN1, HN3, HN4, frozenset({"r2"}), frozenset({"r3"})}
    for kept in (HN1, HN3, HN4):
        assert numbers(after)[kept] == numbers(before)[kept]
    assert {numbers(after)[frozenset({name})] for name in ("r2", "r3")} == {
        numbers(before)[HN2],
        5,
    }


def test_a_merged_hypernode_keeps_the_number_of_most_of_its_rules() -> None:
    before = hypergraph(rules(FIGURE_1), {}, 1)
    after = grown(before, rules(FIGURE_1 + "r8: p0(X,Y) :- p4(X,Y)."))
    assert numbers(after)[HN1 | HN2 | {"r8"}] == numbers(before)[HN2]


def test_a_rule_with_another_body_is_another_rule() -> None:
    before = hypergraph(rules("a: p(X) :- e(X). b: q(X) :- p(X)."), {}, 1)
    after = grown(before, rules("a: p(X) :- f(X). b: q(X) :- p(X)."))
    assert numbers(after) == {frozenset("a"): 3, frozenset("b"): 2}


def test_numbers_do_not_depend_on_the_order_of_the_rules() -> None:
    given = list(paper_rules("zodiac_rs2"))
    before = hypergraph(given, {}, 1)
    for seed in range(5):
        random.Random(seed).shuffle(given)
        assert numbers(grown(before, given)) == numbers(before)


# --- by constants ---------------------------------------------------------------------------------

STATUS = """
r1: status(X, bad) :- part(X), broken(X).
r2: status(X, good) :- part(X), not status(X, bad).
r3: status(X, S) :- fitted(X, Y), status(Y, S).
"""


def test_negation_by_constants() -> None:
    """What is stratified by predicates is so; else atoms that match decide."""
    graph = hypergraph(rules(STATUS.replace("r3:", "%")), {}, 1)
    assert graph.by_constants
    assert shape(graph) == (
        {frozenset({"r1"}), frozenset({"r2"})},
        frozenset(),
        {(frozenset({"r1"}), frozenset({"r2"}))},
    )
    assert not any(h.recursive for h in graph.hypernodes)
    positive = hypergraph(rules(STATUS.replace("not ", "")), {}, 1)
    assert not positive.by_constants
    assert set(members(positive).values()) == {frozenset({"r1"}), frozenset({"r2", "r3"})}
    assert negative_cycles(rule_graph(rules(STATUS))) == [("r2", "r3")]


@pytest.mark.parametrize(("head", "read", "matches", "covers_it"), [
    ("p(X, a)", "p(X, a)", True, True),
    ("p(X, a)", "p(X, b)", False, False),
    ("p(X, a)", "p(X, Y)", True, False),
    ("p(X, Y)", "p(X, a)", True, True),
    ("p(a, Y)", "p(X, b)", True, False),
    ("p(X, 1)", "p(X, 2)", False, False),
    ("p(X, 1)", "p(X, 1.0)", True, True),
    ("p(X, 9007199254740992)", "p(X, 9007199254740993)", True, True),  # one float
    ("p(X, true)", "p(X, false)", False, False),
    ('p(X, "a"@en)', 'p(X, "a"@EN)', True, True),
    ('p(X, "2026-01-31"^^<http://www.w3.org/2001/XMLSchema#date>)',
     'p(X, "2026-01-31T00:00:00"^^<http://www.w3.org/2001/XMLSchema#dateTime>)', True, True),
    ("p(X, a)", 'p(X, "b")', False, False),
    ("p(X, a)", 'p(X, "a")', True, True),
])  # fmt: skip
def test_atoms_that_match(head: str, read: str, matches: bool, covers_it: bool) -> None:
    one, other = (parse(f"{atom} :- q(X, Y).").rules[0].head for atom in (head, read))
    assert (may_match(one, other), covers(one, other)) == (matches, covers_it)
