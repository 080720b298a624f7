"""What tests of maintenance start from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.closed_relations import NEAR, fill
from support.maintained import Start, opened

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]


@pytest.fixture
def file(tmp_path: Path, open_kb: OpenKb) -> Path:
    path = tmp_path / "near.duckdb"
    with open_kb(path) as kb:
        fill(kb, NEAR)
    return path


@pytest.fixture
def start(open_kb: OpenKb, strategy: str) -> Iterator[Start]:
    """Opens a knowledge base in memory with a program; it is verified when the test is over."""
    with opened(open_kb, strategy) as begin:
        yield begin
