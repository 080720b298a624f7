"""Random SPARQL queries over random graphs, compared with pyoxigraph as bags."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from generators.sparql_queries import (
    RandomQuery,
    declared,
    mixed_columns,
    passed_on,
    random_graph,
)
from support import budget
from support.sparql_answers import in_order, loaded, ours, theirs

import zodiac_sql
from zodiac_sql.errors import QueryError

SEED = 1900
_MOST = 5_000
"""Larger answers are not compared."""


@pytest.mark.fuzz
def test_random_queries(tmp_path: Path) -> None:
    chance = random.Random(budget.seed(SEED))
    for _ in range(10):
        path = tmp_path / "graph.ttl"
        graph = random_graph(chance)
        path.write_text(graph)
        rules, derived = passed_on(chance, graph)
        whole = tmp_path / "whole.ttl"
        whole.write_text(f"{graph}\n{derived}")
        store = loaded(whole)
        with zodiac_sql.connect() as kb:
            mixed = mixed_columns(chance)
            early = chance.random() < 0.5
            kb.add_rules(declared(mixed) + "\n" + rules * early)
            kb.load(path)
            kb.add_rules(rules * (not early))
            for _ in range(8):
                query, reading = RandomQuery(chance, mixed).pair()
                wanted = theirs(store, reading)
                if sum(wanted.values()) > _MOST:
                    continue
                budget.tried("SPARQL queries")
                try:
                    found = ours(kb, query)
                except QueryError as error:
                    assert "variable from outside of EXISTS" in str(error), query
                    continue
                assert found == wanted, f"{graph}\n{rules}\n{query}"


@pytest.mark.fuzz
def test_random_orders(tmp_path: Path) -> None:
    """Unbound values first, then blank nodes, IRIs and literals; numbers by their value."""
    chance = random.Random(budget.seed(SEED + 1))
    for _ in range(5):
        path = tmp_path / "graph.ttl"
        path.write_text(random_graph(chance))
        with zodiac_sql.connect() as kb:
            mixed = mixed_columns(chance)
            kb.add_rules(declared(mixed))
            kb.load(path)
            for _ in range(8):
                query, down = RandomQuery(chance, mixed).ordered()
                try:
                    rows = in_order(kb.sparql(query))
                except QueryError as error:
                    assert "variable from outside of EXISTS" in str(error), query
                    continue
                budget.tried("SPARQL queries")
                values = [row[0] for row in (reversed(rows) if down else rows)]
                places = [_place(value) for value in values]
                assert places == sorted(places), f"{path.read_text()}\n{query}\n{values}"


def _place(value: object) -> tuple[int, float]:
    """Where a value stands among others of other kinds, and a number among numbers."""
    if value is None:
        return 0, 0
    if isinstance(value, float):
        return 3, value
    kinds = {"_:": 1, "ht": 2}
    return kinds.get(str(value)[:2], 4), 0
