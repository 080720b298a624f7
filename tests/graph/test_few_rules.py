"""The HRDG after a change of few rules, made of the one before: it is the one made anew."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from zodiac_sql.graph.few_rules import with_few_others
from zodiac_sql.graph.hypergraph import Hypergraph, hypergraph
from zodiac_sql.graph.restructuring import kept_rules
from zodiac_sql.graph.rule_graph import negative_cycles, rule_graph
from zodiac_sql.language.parse import parse
from zodiac_sql.language.syntax import Rule

PREDICATES = st.sampled_from("abcdefgh")
RULES = st.tuples(
    PREDICATES,
    st.lists(PREDICATES, min_size=1, max_size=2, unique=True),
    st.lists(PREDICATES, max_size=1),
)
"""The head, what is read, and what is negated."""


Drawn = tuple[str, list[str], list[str]]


def rules_of(drawn: list[Drawn]) -> list[Rule]:
    texts = [
        f"{h}(X) :- {', '.join([f'{p}(X)' for p in body] + [f'not {p}(X)' for p in negated])}."
        for h, body, negated in drawn
    ]
    named = "".join(f"r{i}: {text}\n" for i, text in enumerate(dict.fromkeys(texts)))
    return list(parse(named).rules)


def members(graph: Hypergraph) -> dict[frozenset[str], bool]:
    return {frozenset(rule.name for rule in h.rules): h.recursive for h in graph.hypernodes}


def edges(graph: Hypergraph) -> set[tuple[frozenset[str], frozenset[str], str]]:
    names = {h.id: frozenset(rule.name for rule in h.rules) for h in graph.hypernodes}
    assert len(names) == len(graph.hypernodes)
    return {(names[a], names[b], sign) for sign in "+-" for a, b in signed(graph, sign)}


def signed(graph: Hypergraph, sign: str) -> frozenset[tuple[int, int]]:
    return graph.positive if sign == "+" else graph.negative


def assert_in_order(graph: Hypergraph) -> None:
    assert all(graph.places[a] < graph.places[b] for a, b in graph.positive)


@given(drawn=st.lists(RULES, min_size=1, max_size=10), data=st.data())
def test_the_same_as_anew(drawn: list[Drawn], data: st.DataObject) -> None:
    rules = rules_of(drawn)
    assume(not negative_cycles(rule_graph(rules)))
    old = data.draw(st.lists(st.sampled_from(rules), unique_by=lambda r: r.name))
    new = data.draw(st.lists(st.sampled_from(rules), unique_by=lambda r: r.name))
    before = hypergraph(old, {}, 1)
    came, gone = [r for r in new if r not in old], [r for r in old if r not in new]
    found = with_few_others(before, came, gone, 100)
    if found is None:
        return
    expected = hypergraph(new, kept_rules(before, new), 100)
    assert members(found) == members(expected)
    assert edges(found) == edges(expected)
    assert {h.stratum for h in found.hypernodes} == {h.stratum for h in expected.hypernodes}
    assert_in_order(found)
    kept = {
        h.id for h in before.hypernodes if not {r.name for r in h.rules} & {r.name for r in gone}
    }
    assert {h.id for h in found.hypernodes if h.id < 100} == kept


CHAIN = "r1: b(X) :- a(X). r2: c(X) :- b(X). r3: d(X) :- c(X)."


@pytest.mark.parametrize(
    ("before", "came", "is_simple"),
    [
        (CHAIN, "r4: e(X) :- c(X).", True),
        (CHAIN, "r4: c(X) :- a(X).", True),
        (CHAIN, "r4: a(X) :- d(X).", False),
        (CHAIN, "r4: e(X) :- e(X), a(X).", False),
        (CHAIN, "r4: e(X) :- a(X), not b(X).", False),
        (CHAIN, "r4: e(X) :- a(X), not f(X).", True),
        (CHAIN + "r5: f(X) :- a(X), not e(X).", "r4: e(X) :- a(X).", False),
        (CHAIN + "r5: e(X) :- a(X), not b(X).", "r4: f(X) :- a(X).", False),
        (CHAIN + "r5: c(X) :- d(X).", "r4: f(X) :- d(X).", True),
        ("", "r4: f(X) :- d(X).", False),
    ],
)
def test_what_is_simple(before: str, came: str, is_simple: bool) -> None:
    graph = hypergraph(parse(before).rules, {}, 1)
    found = with_few_others(graph, parse(came).rules, (), 100)
    assert (found is not None) is is_simple


def test_a_part_of_a_hypernode_is_not_simply_dropped() -> None:
    rules = parse(CHAIN + "r4: a(X) :- d(X). r5: e(X) :- a(X).").rules
    graph = hypergraph(rules, {}, 1)
    assert with_few_others(graph, (), [r for r in rules if r.name in ("r4", "r5")], 100) is None
    assert with_few_others(graph, (), [r for r in rules if r.name == "r5"], 100) is not None
