"""Hypernodes whose rules only copy facts: what they derive, without recursion."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from support import budget

from zodiac_sql.rewrite import copies

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]
Facts = dict[str, set[tuple[int, ...]]]


def test_facts_have_the_least_ranks(open_kb: OpenKb) -> None:
    """p21 to p20 as in RS2, where all facts come from one predicate."""
    with open_kb() as kb:
        kb.add_rules(
            "p(X, Y) :- f(X, Y). q(X, Y) :- p(X, Y). r(X, Y) :- q(Y, X). p(X, Y) :- r(Y, X)."
        )
        change = kb.insert("f", [(1, 2), (3, 4)])
        assert "copies" in {stats["method"] for stats in change.stats["hypernodes"].values()}
        ranks = {
            row
            for (name,) in kb._session.store.rows(
                "SELECT table_name FROM duckdb_columns() WHERE column_name = '$rank'"
                " AND schema_name = 'idb' AND data_type = 'BIGINT'"
            )
            for row in kb._session.store.rows(f'SELECT \'{name}\', "$rank" FROM idb."{name}"')
        }
        assert {(name[-1], rank) for name, rank in ranks} == {("q", 1), ("r", 2), ("p", 3)}
        assert set(kb.table("r")) == {(2, 1), (4, 3)}
        assert kb.verify()


@pytest.mark.parametrize(
    "rules",
    [
        "p(X, X) :- p(X, Y).",
        "p(X, 1) :- q(X, Y). q(X, Y) :- p(X, Y).",
        "p(X, X) :- q(X, Y). q(X, Y) :- p(X, Y).",
        "p(X, Y) :- q(X, Y), X < Y. q(X, Y) :- p(Y, X).",
        "p(X, Y) :- q(X, Y), not f(X, Y). q(X, Y) :- p(Y, X).",
    ],
)
def test_other_rules_do_more(open_kb: OpenKb, rules: str) -> None:
    with open_kb() as kb:
        kb.add_rules(rules)
        change = kb.insert("p", [(1, 2), (3, 3)])
        assert "copies" not in {stats["method"] for stats in change.stats["hypernodes"].values()}
        assert kb.verify()


@pytest.mark.fuzz
@pytest.mark.parametrize("arity", [0, 1, 2, 3])
@pytest.mark.parametrize("most", [1, 16])
def test_random_copies(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, arity: int, most: int
) -> None:
    """Rules in circles, each with an order of its own; facts of some predicates come and go."""
    monkeypatch.setattr(copies, "MOST_SOURCES", most)
    chance = random.Random(f"{arity} {most} {budget.seed(2038)}")
    strategies = set[str]()
    for number in range(budget.either(ci=3, fuzz=15)):
        strategy = chance.choice(("bf", "dred", "support")) if number % 2 else "auto"
        names = [f"p{place}" for place in range(chance.randrange(1, 5))]
        rules = [(names[n - 1], names[n], _order(chance, arity)) for n in range(len(names))]
        for _ in range(chance.randrange(3)):
            rules.append((chance.choice(names), chance.choice(names), _order(chance, arity)))
        rules.append(("out", chance.choice(names), _order(chance, arity)))
        rules.append((chance.choice(names), "in", _order(chance, arity)))
        given: Facts = {name: set() for name in (*names, "in", "out")}
        sources = names if number > 1 else ["in"]
        with open_kb(strategy=strategy) as kb:
            kb.add_rules(" ".join(map(_written, rules)))
            for _ in range(6):
                name, rows = chance.choice(sources), _rows(chance, arity)
                with kb.update() as update:
                    if chance.random() < 0.4:
                        update.delete(name, rows & given[name])
                        given[name] -= rows
                    else:
                        update.insert(name, rows)
                        given[name] |= rows
                known = [name for name, *_ in kb.predicates().fetchall()]
                found = {name: {row[:arity] for row in kb.table(name).fetchall()} for name in known}
                assert {n: r for n, r in found.items() if r} == _closed(rules, given)
                budget.tried("changes of facts that are copied")
                hypernodes = update.change.stats["hypernodes"].values()
                strategies |= {stats["strategy"] for stats in hypernodes}
            assert kb.verify()
    assert most == 1 or "copies" in strategies


def _order(chance: random.Random, arity: int) -> tuple[int, ...]:
    return tuple(chance.sample(range(arity), arity))


def _rows(chance: random.Random, arity: int) -> set[tuple[int, ...]]:
    return {tuple(chance.randrange(3) for _ in range(arity)) for _ in range(chance.randrange(1, 5))}


def _written(rule: tuple[str, str, tuple[int, ...]]) -> str:
    head, body, order = rule
    if not order:
        return f"{head} :- {body}."
    columns = [f"X{place}" for place in range(len(order))]
    return (
        f"{head}({', '.join(columns[place] for place in order)}) :- {body}({', '.join(columns)})."
    )


def _closed(rules: list[tuple[str, str, tuple[int, ...]]], given: Facts) -> Facts:
    """What the rules say, step by step."""
    known = {name: set(rows) for name, rows in given.items()}
    while True:
        before = sum(map(len, known.values()))
        for head, body, order in rules:
            known[head] |= {tuple(row[place] for place in order) for row in known[body]}
        if sum(map(len, known.values())) == before:
            return {name: rows for name, rows in known.items() if rows}
