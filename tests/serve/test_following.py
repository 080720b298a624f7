"""Changes as they come, as lines of JSON and as events."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import httpx

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.serve.server import Server

EVENTS = {"accept": "text/event-stream"}


def entries(lines: Iterator[str], many: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for line in lines:
        text = line.removeprefix("data: ")
        if text.startswith("{"):
            found.append(json.loads(text))
        if len(found) == many:
            return found
    return found


def test_lines(client: httpx.Client, kb: KnowledgeBase) -> None:
    assert client.get("/changes").text == ""
    kb.insert("edge", [(3, 4)])
    answer = client.get("/changes", params={"predicate": "path"})
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    told = [json.loads(line) for line in answer.text.splitlines()]
    assert {tuple(one["fact"].values()) for one in told} == {(1, 4), (2, 4), (3, 4)}
    position = told[-1]["_commit"]
    assert client.get("/changes", params={"since": position}).text == ""
    assert client.get("/changes", params={"since": 999}).json()["kind"] == "QueryError"
    assert client.get("/changes", params={"since": "x"}).json()["kind"] == "DataError"
    assert client.get("/changes", params={"predicate": "edge"}).json()["kind"] == "QueryError"


def test_following(client: httpx.Client, kb: KnowledgeBase) -> None:
    timer = threading.Timer(0.3, client.post, ("/insert",), {"json": {"edge": [[3, 4]]}})
    for headers, follow in (({}, "true"), (EVENTS, "false")):
        since = kb.changes().position
        with client.stream("GET", f"/changes?follow={follow}&since={since}", headers=headers) as s:
            if timer.ident is None:
                timer.start()
            else:
                kb.insert("edge", [(4, 5)])
            found = entries(s.iter_lines(), 3)
        assert {one["_change_type"] for one in found} == {"insert"}
    timer.join()


def test_events_go_on_where_they_ended(client: httpx.Client, kb: KnowledgeBase) -> None:
    kb.insert("edge", [(3, 4)])
    first = kb.changes().position
    kb.insert("edge", [(4, 5)])
    headers = {**EVENTS, "last-event-id": str(first)}
    with client.stream("GET", "/changes", headers=headers) as stream:
        found = entries(stream.iter_lines(), 4)
    assert {one["fact"]["o"] for one in found} == {5}


def test_the_end_of_the_server_ends_them(server: Server, kb: KnowledgeBase) -> None:
    headers = {"authorization": f"Bearer {server.reading_token}", **EVENTS}
    with httpx.stream("GET", f"{server.url}/changes", headers=headers) as stream:
        lines = stream.iter_lines()
        threading.Timer(0.2, server.stop).start()
        assert list(lines) == []
    assert kb.query("edge(1, X)").num_rows == 1
