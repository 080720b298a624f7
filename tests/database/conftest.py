"""What tests of the database start from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support import every_call, paths_with_all

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]


@pytest.fixture
def kb(open_kb: OpenKb, tmp_path: Path) -> Iterator[KnowledgeBase]:
    with open_kb(tmp_path / "e.duckdb") as opened:
        opened.add_rules(every_call.RULES)
        opened.insert("edge", [("a", "b"), ("b", "c")])
        yield opened


@pytest.fixture
def file(tmp_path: Path, open_kb: OpenKb) -> Path:
    path = tmp_path / "graph.duckdb"
    with open_kb(path) as kb:
        kb.add_rules(paths_with_all.RULES)
        kb.insert("edge", paths_with_all.EDGES)
    return path
