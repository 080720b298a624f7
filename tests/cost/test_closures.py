"""The estimator of closures: exact where its sample has all nodes, near where it has some."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING

import pytest
from sqlglot import exp, parse_one

import zodiac_sql
from zodiac_sql.cost import closures
from zodiac_sql.cost.closures import Follows, follows, layers_of
from zodiac_sql.cost.components import LINKS, components_of_links

if TYPE_CHECKING:
    from zodiac_sql.database.store import Store

Pairs = list[tuple[int, int]]


@pytest.fixture
def store() -> Iterator[Store]:
    with zodiac_sql.connect() as kb:
        yield kb._session.store


def table(store: Store, name: str, columns: str, rows: Pairs) -> None:
    values = ", ".join(map(str, rows))
    store.run(
        f'CREATE OR REPLACE TEMP TABLE "{name}" AS SELECT * FROM (VALUES {values}) t({columns})'
    )


def reached(edges: Pairs, nodes: set[int]) -> set[int]:
    found: set[int] = set()
    waiting = {b for a, b in edges if a in nodes}
    while waiting:
        found |= waiting
        waiting = {b for a, b in edges if a in waiting} - found
    return found


def told(store: Store, edges: Pairs, starts: Pairs) -> Follows:
    table(store, LINKS, "a, b", edges)
    table(store, "starts", "value, node", starts)
    query = parse_one('SELECT * FROM temp."starts"', dialect="duckdb")
    assert isinstance(query, exp.Select)
    return follows(store, components_of_links(store), query, len(starts))


def expected(edges: Pairs, starts: Pairs) -> Follows:
    facts = heads = 0
    for value in {value for value, _ in starts}:
        nodes = {node for other, node in starts if other == value}
        found = reached(edges, nodes)
        facts += len(found)
        heads += sum(a in found | nodes for a, _ in edges)
    return Follows(facts, heads)


@pytest.mark.parametrize("seed", range(4))
def test_what_follows_of_a_small_graph_is_exact(store: Store, seed: int) -> None:
    """A value may begin at several nodes, and nodes may be on cycles, or in no edge."""
    chance = Random(seed)
    nodes, number = chance.choice([(8, 12), (150, 200), (150, 400)])
    edges = sorted({(chance.randrange(nodes), chance.randrange(nodes)) for _ in range(number)})
    starts = sorted({(chance.randrange(20), chance.randrange(nodes + 5)) for _ in range(40)})
    assert told(store, edges, starts) == expected(edges, starts)


def test_of_a_large_graph_it_is_estimated(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closures, "MOST_BITS", 600 * 300)
    monkeypatch.setattr(closures, "MOST_STARTS", 500)
    edges = [(n, n // 3) for n in range(1, 600)]
    starts = [(n, n % 600) for n in range(2_000)]
    found, right = told(store, edges, starts), expected(edges, starts)
    assert found.facts == pytest.approx(right.facts, rel=0.25)
    assert found.heads == pytest.approx(right.heads, rel=0.25)


@pytest.mark.parametrize(
    ("edges", "depth"),
    [
        ([(0, 1), (1, 2), (0, 2), (3, 2)], 2),
        ([(0, 1), (1, 2), (2, 0)], None),
        ([(0, 1), (1, 1)], None),
    ],
)
def test_layers(store: Store, edges: Pairs, depth: int | None) -> None:
    table(store, LINKS, "a, b", edges)
    found = layers_of(components_of_links(store))
    assert (found and found[1]) == depth
    if found:
        numbers = dict(store.rows('SELECT node, number FROM temp."zodiac$nodes"'))
        layer = {node: found[0][number] for node, number in numbers.items()}
        assert all(layer[a] < layer[b] for a, b in edges)
