"""What tests of changes of rules start from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from support.changing_rules import EDGES, PATHS, SAFE, fill

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]


@pytest.fixture
def kb(open_kb: OpenKb) -> Iterator[KnowledgeBase]:
    """A knowledge base in memory."""
    with open_kb() as one:
        yield one


@pytest.fixture
def paths(kb: KnowledgeBase) -> KnowledgeBase:
    kb.add_rules(PATHS)
    kb.insert("edge", EDGES)
    return kb


@pytest.fixture
def figure(kb: KnowledgeBase) -> Iterator[KnowledgeBase]:
    """Figure 1 with facts; it is verified when the test is over."""
    fill(kb, SAFE)
    yield kb
    assert kb.verify()
