"""Random SPARQL queries over random graphs, compared with pyoxigraph as bags."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from generators.sparql_queries import RandomQuery, random_graph
from support import budget
from support.sparql_answers import loaded, ours, theirs

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
        path.write_text(random_graph(chance))
        store = loaded(path)
        with zodiac_sql.connect() as kb:
            kb.load(path)
            for _ in range(8):
                query = RandomQuery(chance).text()
                wanted = theirs(store, query)
                if sum(wanted.values()) > _MOST:
                    continue
                budget.tried("SPARQL queries")
                try:
                    found = ours(kb, query)
                except QueryError as error:
                    assert "variable from outside of EXISTS" in str(error), query
                    continue
                assert found == wanted, f"{path.read_text()}\n{query}"
