"""What tests of the façade start from."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from support.paths import PATHS

from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., KnowledgeBase]


@pytest.fixture
def kb(open_kb: OpenKb) -> Iterator[KnowledgeBase]:
    with open_kb() as opened:
        yield opened


@pytest.fixture
def graph(kb: KnowledgeBase) -> KnowledgeBase:
    kb.add_rules(PATHS)
    kb.insert("edge", [("a", "b"), ("b", "c")])
    return kb
