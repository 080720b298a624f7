"""Streams of updates from asynchronous sources."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest
from support.edge_streams import edge, facts, gone, numbers, readers

from zodiac_sql import KnowledgeBase, StreamError

Given = dict[str, Any]


async def slowly(updates: Iterable[Any], seconds: float = 0.0) -> AsyncIterator[Any]:
    for update in updates:
        await asyncio.sleep(seconds)
        yield update


def test_an_asynchronous_source(kb: KnowledgeBase) -> None:
    async def consume() -> tuple[list[tuple[int, int]], int]:
        beats = 0

        async def beat() -> None:
            nonlocal beats
            while True:
                beats += 1
                await asyncio.sleep(0.001)

        beating = asyncio.create_task(beat())
        changes = []
        async for change in kb.stream(slowly([edge("cd"), edge("de"), gone("cd")], 0.02), name="s"):
            changes.append(change)
            assert len(kb.query("edge(X, Y)")) in (3, 4)  # the kb is free meanwhile
        beating.cancel()
        return numbers(changes), beats

    seen, beats = asyncio.run(consume())
    assert seen == [(1, 1), (2, 2), (3, 3)] and beats > 10
    assert kb.position("s") == 3 and not readers()


def test_an_asynchronous_source_is_held_back(kb: KnowledgeBase) -> None:
    made = 0

    async def source() -> AsyncIterator[Given]:
        nonlocal made
        for _ in range(20):
            made += 1
            yield edge("cd") if made % 2 else gone("cd")

    async def consume() -> list[tuple[int, int]]:
        seen = []
        async for change in kb.stream(source(), queue=4, coalesce=3):
            await asyncio.sleep(0.01)
            seen.append(change)
            assert made <= change.updates[-1] + 4
        return numbers(seen)

    seen = asyncio.run(consume())
    assert seen[-1][1] == 20 and any(first < last for first, last in seen)


def test_asynchronous_errors_and_names(kb: KnowledgeBase) -> None:
    async def consume(updates: list[Any], **options: Any) -> list[tuple[int, int]]:
        return numbers([change async for change in kb.stream(slowly(updates), **options)])

    async def broken() -> AsyncIterator[Given]:
        yield edge("cd")
        raise OSError("the line is dead")

    async def consume_broken() -> None:
        async for _ in kb.stream(broken()):
            pass

    with pytest.raises(OSError, match="the line is dead"):
        asyncio.run(consume_broken())
    assert len(facts(kb, "edge")) == 3
    updates = [edge("de"), {"insert": 7}, edge("ef")]
    with pytest.raises(StreamError, match="^update 2: "):
        asyncio.run(consume(updates, name="s"))
    assert asyncio.run(consume(updates, name="s", skip_bad=True)) == [(2, 2), (3, 3)]
    with pytest.raises(StreamError, match="this source has only 1"):
        asyncio.run(consume([edge("de")], name="s"))


def test_a_cancelled_consumer_leaves_whole_updates(kb: KnowledgeBase) -> None:
    async def endless() -> AsyncIterator[Given]:
        number = 0
        while True:
            number += 1
            yield edge(f"{number % 2}x") if number % 3 else gone("1x")

    async def consume() -> None:
        async for _ in kb.stream(endless(), name="s"):
            pass

    async def cancelled() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(consume(), 0.3)
        async for _ in kb.stream(endless()):
            break

    asyncio.run(cancelled())
    assert (kb.position("s") or 0) > 0
    assert kb.insert("edge", [("p", "q")]) and kb.verify()
