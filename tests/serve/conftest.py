"""A served knowledge base, and a client of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.serve.server import Server

RULES = """
    .decl edge(x: int, y: int).
    path: path(X, Y) :- edge(X, Y).
    longer: path(X, Z) :- path(X, Y), edge(Y, Z).
    loops: !- edge(X, X).
"""


@pytest.fixture(params=["file", "memory"])
def kb(
    request: pytest.FixtureRequest, tmp_path: Path, open_kb: Callable[..., KnowledgeBase]
) -> KnowledgeBase:
    kb = open_kb(tmp_path / "a.duckdb" if request.param == "file" else ":memory:")
    kb.add_rules(RULES)
    kb.insert("edge", [(1, 2), (2, 3)])
    kb.keep_feed(["path"])
    return kb


@pytest.fixture
def server(kb: KnowledgeBase) -> Iterator[Server]:
    with kb.serve() as server:
        yield server


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    headers = {"authorization": f"Bearer {server.writing_token}"}
    with httpx.Client(base_url=server.url, headers=headers) as client:
        yield client
