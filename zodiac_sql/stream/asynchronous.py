"""Asynchronous streams: updates arrive in the event loop, and one worker thread applies them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from zodiac_sql.change.change import Change
from zodiac_sql.database.guard import Guard
from zodiac_sql.stream.channel import Channel
from zodiac_sql.stream.loop import Begin, StreamLoop, StreamOptions, ended_early, is_told
from zodiac_sql.stream.sources import AHEAD
from zodiac_sql.stream.ticks import Ticks
from zodiac_sql.stream.updates import Item


async def changes_of(
    updates: Any,
    begin: Begin,
    position: Callable[[str], int | None],
    guard: Guard,
    options: StreamOptions,
) -> AsyncIterator[Change]:
    """Yield the changes that the updates of an asynchronous iterable make.

    The worker has the knowledge base only while the consumer awaits the next change and an update
    is there. During that time, calls from other tasks of the event loop are refused. If the
    consumer is cancelled during that time, the update is still finished.
    """
    loop = asyncio.get_running_loop()
    moved = asyncio.Event()
    channel = Channel(options.queue or AHEAD, lambda: loop.call_soon_threadsafe(moved.set))
    done = options.passed_over(position)
    pump = asyncio.create_task(_pump(updates, channel, moved, options.name, done))
    ticks = options.ticks()
    changes = StreamLoop(channel, begin, options, done, ticks).changes()
    try:
        with ThreadPoolExecutor(1, "zodiac-stream") as worker:
            while True:
                await _until(lambda: channel.ready, moved, ticks)
                change = await _next(worker, changes, guard)
                if change is None:
                    return
                if is_told(change):
                    yield change
    finally:
        pump.cancel()
        await asyncio.wait([pump])


async def _pump(
    updates: Any, channel: Channel, moved: asyncio.Event, name: str | None, done: int
) -> None:
    """Put updates into a channel whenever it has room, except the first `done` ones."""
    number = 0
    try:
        async for update in updates:
            number += 1
            if number > done:
                channel.put(Item(update))
                await _until(lambda: not channel.full, moved)
        channel.end(ended_early(name, done, number) if number < done else None)
    except BaseException as error:
        channel.end(error)
        if not isinstance(error, Exception):
            raise


async def _until(
    true: Callable[[], bool], moved: asyncio.Event, ticks: Ticks | None = None
) -> None:
    """Wait until something is true, or it is time for a tick."""
    while not true():
        moved.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(moved.wait(), None if ticks is None else ticks.left)
        if ticks is not None and ticks.is_due:
            return


async def _next(
    worker: ThreadPoolExecutor, changes: Iterator[Change], guard: Guard
) -> Change | None:
    """The next change, computed by the worker; None at the end."""
    loop = asyncio.get_running_loop()
    working = loop.run_in_executor(worker, guard.lent(lambda: next(changes, None)))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait([working])
        if not working.cancelled():
            working.exception()  # retrieve it here, because nobody else will
        raise
