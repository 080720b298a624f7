"""One edge of a closure less: all pairs of what reached it and what it led to, in one step."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from support import budget
from support.as_if_large import as_if_large
from support.earnings import by_numbers
from support.edges import LEFT, RIGHT, RULES, TRANSITIVE, UNEQUAL, begin, closed, pairs

from zodiac_sql.cost import closures
from zodiac_sql.maintain import registry
from zodiac_sql.maintain.contract import Work
from zodiac_sql.maintain.operators import lost_edge

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.cost.operator import Declined
    from zodiac_sql.maintain.steps.recursion import Recursion

OpenKb = Callable[..., "KnowledgeBase"]


@pytest.mark.fuzz
@pytest.mark.parametrize("name", RULES)
def test_small_graphs(open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """With cycles, loops, edges that are paths of others, and facts that no edge makes."""
    done = counted(monkeypatch)
    chance = random.Random(f"{name} {budget.seed(2037)}")
    for _ in range(budget.either(ci=3, fuzz=15)):
        nodes = chance.choice((4, 6, 9))
        with as_if_large(really=True, forced=("lost edge",)), open_kb() as kb:
            monkeypatch.setattr(closures, "LEAST_PAIRS", 10**15)
            count = chance.randrange(nodes // 2, 2 * nodes)
            edges, seeds = begin(kb, name, chance, nodes, count)
            for edge in chance.sample(sorted(edges), len(edges)):
                if chance.random() < 0.2:
                    edges |= (more := pairs(chance, nodes, 2))
                    kb.insert("edge", more)
                edges.remove(edge)
                kb.delete("edge", [edge])
                assert set(kb.table("tc").fetchall()) == closed(RULES[name], edges, seeds)
                budget.tried("changes of a closure")
            assert kb.verify()
    assert not any(done) or name != "seeds"


@pytest.mark.parametrize("rules", [LEFT, RIGHT, TRANSITIVE, UNEQUAL])
def test_a_chain_breaks(open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, rules: str) -> None:
    """And again where another path leads past the edge, so that all pairs come back."""
    done = counted(monkeypatch)
    monkeypatch.setattr(registry, "FORCED", ("lost edge",))
    monkeypatch.setattr(closures, "LEAST_PAIRS", 10**15)
    with open_kb() as kb:
        kb.add_rules(rules)
        kb.insert("edge", [(i, i + 1) for i in range(200)])
        assert kb.delete("edge", [(100, 101)]).deleted == {"edge": 1, "tc": 101 * 100}
        assert done == [True]
        assert kb.verify()
        kb.insert("edge", [(100, 101)])
        kb.insert("edge", [(99, 102)])
        assert kb.delete("edge", [(101, 102)]).deleted == {"edge": 1, "tc": 198}
        assert kb.verify()
        assert len(kb.table("tc").fetchall()) == 201 * 200 // 2 - 198
        assert done == [True, True]


def test_another_path_leads_past_it(open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then nothing is lost, and it starts over."""
    done = counted(monkeypatch)
    monkeypatch.setattr(registry, "FORCED", ("lost edge",))
    monkeypatch.setattr(closures, "LEAST_PAIRS", 10**15)
    with open_kb() as kb:
        kb.add_rules(UNEQUAL)
        kb.insert("edge", [(i, i + 1) for i in range(200)] + [(100, 500), (500, 101)])
        assert kb.delete("edge", [(100, 101)]).deleted == {"edge": 1}
        assert done == [False]
        assert kb.verify()


def counted(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether it was the one step that did it, for each time that it was tried.

    Copies for look-ups are earned by time, and would do the later changes.
    """
    by_numbers(monkeypatch)
    done: list[bool] = []
    inner = lost_edge.lose_one_edge

    def asked(recursion: Recursion) -> Work | Declined:
        outcome = inner(recursion)
        done.append(isinstance(outcome, Work))
        return outcome

    monkeypatch.setattr(lost_edge, "lose_one_edge", asked)
    return done
