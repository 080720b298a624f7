"""How a server begins and ends, and how it survives a failure."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from zodiac_sql.database.turns import Turns

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]


def health(url: str, token: str) -> int:
    headers = {"authorization": f"Bearer {token}"}
    return httpx.get(f"{url}/health", headers=headers, timeout=10).status_code


def test_it_ends_with_the_knowledge_base(kb: KnowledgeBase) -> None:
    server = kb.serve()
    assert health(server.url, server.reading_token) == 200
    kb.close()
    assert server.stopped
    with pytest.raises(httpx.ConnectError):
        health(server.url, server.reading_token)
    assert "stopped" in repr(server)


def test_again_and_again(tmp_path: Path, open_kb: OpenKb) -> None:
    for number in range(3):
        with open_kb(tmp_path / "a.duckdb") as kb:
            for _ in range(2):
                with kb.serve() as server:
                    assert health(server.url, server.writing_token) == 200
                    kb.insert("v", [(number,)])
            assert len(kb.table("v")) == number + 1


def test_nothing_keeps_it(kb: KnowledgeBase) -> None:
    with kb.serve() as server:
        gone = weakref.ref(server._service)
    del server
    gc.collect()
    assert gone() is None
    kb.insert("edge", [(5, 6)])
    assert kb.verify()


def test_after_the_server_the_file_opens(tmp_path: Path, open_kb: OpenKb) -> None:
    with open_kb(tmp_path / "a.duckdb") as kb:
        kb.insert("v", [(1,)])
        with kb.serve() as server:
            assert health(server.url, server.writing_token) == 200
    with open_kb(tmp_path / "a.duckdb") as kb:
        assert len(kb.table("v")) == 1
        kb.compact()


def test_after_a_damaged_connection(kb: KnowledgeBase) -> None:
    """All connections are made anew, when the next request comes."""
    with kb.serve() as server:
        headers = {"authorization": f"Bearer {server.writing_token}"}
        with httpx.Client(base_url=server.url, headers=headers) as client:
            assert client.get("/health").status_code == 200
            assert client.post("/insert", json={"edge": [[8, 9]]}).status_code == 200
            if kb._session.held.file.in_memory:
                return
            kb._session.held.connection.instance.damaged = True
            for _ in range(20):
                kb.position("")
                if client.get("/health").status_code == 200:
                    break
            assert client.get("/query?goals=edge(8,X)").json()["rows"] == [{"X": 9}]
            assert client.post("/insert", json={"edge": [[9, 10]]}).status_code == 200
            kb.insert("edge", [(10, 11)])
            assert client.get("/metrics").text.count("zodiac_changes_total 3") == 1


def test_turns_are_fair() -> None:
    turns, order = Turns(), []
    ready = threading.Event()

    def take(name: str) -> None:
        with turns.turn(), turns.turn():
            order.append(name)

    threads = []
    with turns.turn():
        for name in "abc":
            thread = threading.Thread(target=take, args=(name,))
            thread.start()
            threads.append(thread)
            while len(turns._waiting) < len(threads):
                time.sleep(0.001)
        ready.set()
    take("d")
    for thread in threads:
        thread.join()
    assert order == ["a", "b", "c", "d"]
    assert turns._thread is None
