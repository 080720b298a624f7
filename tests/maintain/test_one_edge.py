"""One new edge of a closure: all pairs of what reaches it and what it reaches, in one step."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from support import budget
from support.edges import COPY, LEFT, RIGHT, RULES, TRANSITIVE, UNEQUAL, begin, closed, pairs

from zodiac_sql.maintain.steps import one_edge

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]


@pytest.mark.fuzz
@pytest.mark.parametrize("name", RULES)
def test_small_graphs(open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """With cycles, loops, edges that are paths of others, and facts that no edge makes."""
    monkeypatch.setattr(one_edge, "FEWEST", 0)
    done = counted(monkeypatch)
    chance = random.Random(f"{name} {budget.seed(2036)}")
    for _ in range(budget.either(ci=3, fuzz=15)):
        nodes = chance.choice((4, 6, 9))
        with open_kb(strategy=chance.choice(("auto", "support"))) as kb:
            edges, seeds = begin(kb, name, chance, nodes, chance.randrange(1, 2 * nodes))
            for _ in range(12):
                (edge,) = pairs(chance, nodes, 1)
                if edge in edges and chance.random() < 0.7:
                    edges.remove(edge)
                    kb.delete("edge", [edge])
                else:
                    edges.add(edge)
                    kb.insert("edge", [edge])
                assert set(kb.table("tc").fetchall()) == closed(RULES[name], edges, seeds)
                budget.tried("changes of a closure")
            assert kb.verify()
    assert any(done) == (name != "seeds")


@pytest.mark.parametrize("rules", [LEFT, RIGHT, TRANSITIVE, UNEQUAL])
def test_two_chains_are_joined(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, rules: str
) -> None:
    done = counted(monkeypatch)
    with open_kb(strategy="support") as kb:
        kb.add_rules(rules)
        kb.insert("edge", [(i, i + 1) for i in range(120) if i != 60])
        for _ in range(2):
            assert kb.insert("edge", [(60, 61)]).inserted == {"edge": 1, "tc": 61 * 60}
            assert kb.verify()
            assert kb.delete("edge", [(60, 61)]).deleted == {"edge": 1, "tc": 61 * 60}
        assert done == [True, True]
        kb.insert("edge", [(60, 61)])
        kb.insert("edge", [(120, 0)])  # a path leads back: rounds do it
        assert done[-1] is False
        assert len(kb.table("tc").fetchall()) == 121 * (120 if rules == UNEQUAL else 121)
        assert kb.verify()


@pytest.mark.parametrize("rules", [LEFT, RIGHT])
@pytest.mark.parametrize(("links", "place"), [(120, 3), (120, 116), (40, 3)])
def test_many_rounds_are_spared(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, rules: str, links: int, place: int
) -> None:
    """There would be one for each node ahead."""
    monkeypatch.setattr(one_edge, "FEWEST", 0)
    done = counted(monkeypatch)
    with open_kb(strategy="support") as kb:
        kb.add_rules(rules)
        kb.insert("edge", [(i, i + 1) for i in range(links)])
        kb.delete("edge", [(place, place + 1)])
        done.clear()
        change = kb.insert("edge", [(place, place + 1)])
        assert change.inserted == {"edge": 1, "tc": (place + 1) * (links - place)}
        assert done == [True]
        assert kb.verify()


@pytest.mark.parametrize("rules", [LEFT, RIGHT, TRANSITIVE, UNEQUAL])
def test_an_edge_gets_another_path_beside_a_cycle(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, rules: str
) -> None:
    """Before, 2 led to 7 by that edge alone, and 5 led there through 2."""
    monkeypatch.setattr(one_edge, "FEWEST", 0)
    done = counted(monkeypatch)
    for turned in (False, True):
        edges = [(2, 7), (2, 5), (5, 2), (6, 7), (5, 6)]
        *edges, last = [(b, a) if turned else (a, b) for a, b in edges]
        with open_kb(strategy="support") as kb:
            kb.add_rules(rules)
            kb.insert("edge", edges)
            kb.insert("edge", [last])
            kb.delete("edge", edges[:1])
            left = {*edges[1:], last}
            assert set(kb.table("tc").fetchall()) == closed(rules, left, set())
            assert kb.verify()
    assert all(done) and done


@pytest.mark.parametrize("highest", [10, 2**40])
def test_high_ranks_are_no_longer_added(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, highest: int
) -> None:
    """Sums can double with each edge, and would leave 64 bits. Then new ones follow the highest."""
    monkeypatch.setattr(one_edge, "HIGHEST_SUM", highest)
    monkeypatch.setattr(one_edge, "FEWEST", 0)
    done = counted(monkeypatch)
    with open_kb(strategy="support") as kb:
        kb.add_rules(LEFT)
        kb.insert("edge", [(i, i + 1) for i in range(60) if i != 30])
        before = top_rank(kb)
        kb.insert("edge", [(30, 31)])
        assert done == [True]
        assert (top_rank(kb) - before == 31 * 30 - 1) == (highest == 10)
        assert kb.verify()
        kb.delete("edge", [(10, 11)])
        assert kb.verify()


def top_rank(kb: KnowledgeBase) -> int:
    store: Any = kb._session.store
    ((name,),) = store.rows(
        "SELECT table_name FROM duckdb_columns()"
        " WHERE column_name = '$rank' AND schema_name = 'idb'"
    )
    return int(store.rows(f'SELECT max("$rank") FROM idb."{name}"')[0][0])


def counted(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether the one step did it, for each time that it was asked."""
    from zodiac_sql.maintain.steps import extend

    done: list[bool] = []
    inner = one_edge.add_one_edge

    def asked(*args: object) -> int | None:
        rows = inner(*args)  # type: ignore[arg-type]
        done.append(rows is not None)
        return rows

    monkeypatch.setattr(extend, "add_one_edge", asked)
    return done


def test_rules_that_come_with_an_edge(open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was known from outside was something else than the edges before."""
    monkeypatch.setattr(one_edge, "FEWEST", 0)
    onwards = "onwards: tc(X, Z) :- tc(X, Y), edge(Y, Z)."
    with open_kb(strategy="support") as kb:
        kb.add_rules(f"old: tc(X, Y) :- seed(X, Y). {onwards}")
        kb.insert("edge", [(1, 2), (2, 3), (3, 4)])
        kb.insert("seed", [(1, 2)])
        with kb.update() as update:
            update.drop_rules("old")
            update.add_rules(f"copy: {COPY}")
            update.insert("edge", [(4, 5)])
        assert set(kb.table("tc").fetchall()) == closed(
            LEFT, {(1, 2), (2, 3), (3, 4), (4, 5)}, set()
        )
        assert kb.verify()
