"""Drawings that several tests look at."""

from __future__ import annotations

import pytest
from support.drawings import FIGURE_1

from zodiac_sql.graph.hypergraph import hypergraph
from zodiac_sql.read.drawing.draw import Drawing


@pytest.fixture
def figure_1() -> Drawing:
    return Drawing(hypergraph(FIGURE_1, {}, 1))
