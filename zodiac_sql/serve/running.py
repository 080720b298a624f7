"""Work of requests in threads, which ends when its client goes away."""

from __future__ import annotations

import asyncio
from asyncio import Future, Task
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from starlette.requests import Request

from zodiac_sql.database.watch import PAUSE
from zodiac_sql.serve.resources import Cancelling

_Done = TypeVar("_Done")

_THREADS = 64
"""Requests wait for readers, and for their turn to change, rather than for threads."""


class Running:
    """The threads of a server, and what they are at."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, "zodiac-serve")
        self._under_way: set[Cancelling] = set()
        self._leaving: set[Task[None]] = set()
        self.ending = False
        """Whether the server ends, so that answers without end must."""

    async def run(self, request: Request, work: Callable[[Cancelling], _Done]) -> _Done:
        """The result of some work, for which a client waits. If it goes, the work is cancelled."""
        cancelling = Cancelling()
        done = self.start(lambda: work(cancelling), cancelling)
        leaving = asyncio.ensure_future(_gone(request))
        try:
            await asyncio.wait((done, leaving), return_when=asyncio.FIRST_COMPLETED)
            await _end(done, cancelling)
            return await done
        finally:
            leaving.cancel()

    def start(self, work: Callable[[], _Done], cancelling: Cancelling) -> Future[_Done]:
        """Begin some work in a thread."""
        self._under_way.add(cancelling)
        done = asyncio.get_running_loop().run_in_executor(self._threads, work)
        done.add_done_callback(lambda _: self._under_way.discard(cancelling))
        return done

    def leave(self, done: Future[Any], cancelling: Cancelling) -> None:
        """Let some work end without anybody who waits for it."""
        if not done.done():
            task = asyncio.ensure_future(_end(done, cancelling))
            self._leaving.add(task)
            task.add_done_callback(self._leaving.discard)

    async def aside(self, work: Callable[[Cancelling], _Done]) -> _Done:
        """The result of some short work for an answer that has begun."""
        cancelling = Cancelling()
        return await self.start(lambda: work(cancelling), cancelling)

    def cancel(self) -> None:
        """Cancel what is under way: the server ends."""
        self.ending = True
        for one in tuple(self._under_way):
            one.cancel()

    def close(self) -> None:
        """Wait for what is under way."""
        self._threads.shutdown()


async def _end(done: Future[Any], cancelling: Cancelling) -> None:
    """Cancel some work until it is done."""
    while not done.done():
        cancelling.cancel()
        await asyncio.wait((done,), timeout=PAUSE)


async def _gone(request: Request) -> None:
    """Wait until the client has gone away. The body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
