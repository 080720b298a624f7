"""What tests of streams start from."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from support.edge_streams import start

from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., KnowledgeBase]


@pytest.fixture
def kb(open_kb: OpenKb) -> Iterator[KnowledgeBase]:
    """Edges a-b-c, and the paths along them."""
    with open_kb() as opened:
        start(opened)
        yield opened
