"""Commands of `zodiac` for a file that this process has open (cli/elsewhere.py is the client).

Only the Unix socket takes them: its clients are the user that runs the server, so a command reads
and writes no file that its client could not.
"""

from __future__ import annotations

import asyncio
import io
import json
import traceback
from asyncio import AbstractEventLoop, Queue
from collections.abc import AsyncIterator, Iterator, Mapping
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from zodiac_sql.database.limits import Limits
from zodiac_sql.errors import DataError
from zodiac_sql.reader import Reader
from zodiac_sql.serve.access import BY_SOCKET, WRITES
from zodiac_sql.serve.following import LINES
from zodiac_sql.serve.requests import Unacceptable, read
from zodiac_sql.serve.resources import Cancelling
from zodiac_sql.serve.service import Service

if TYPE_CHECKING:
    from zodiac_sql.knowledge_base import KnowledgeBase

_FRAMES = 64
"""So many pieces of output wait for a slow client; then the command waits, too."""

_LONG = 32_768
"""Output is sent in pieces of about so many characters."""


async def command(service: Service, request: Request) -> Response:
    """Run a command, and send what it prints, at last its status."""
    if not request.scope[BY_SOCKET] or not request.scope[WRITES]:
        raise Unacceptable(403, "commands come by the Unix socket, with the writing token")
    fields = (await read(request)).fields("arguments")
    arguments, folder, width = fields.get("arguments"), fields.get("folder"), fields.get("width")
    if not isinstance(arguments, list) or not arguments or not isinstance(folder, str):
        raise DataError('a command has "arguments", a list, and "folder", a path')
    frames: Queue[str | None] = Queue(_FRAMES)
    cancelling = Cancelling()
    loop = asyncio.get_running_loop()
    work = partial(_run, service, [*map(str, arguments)], folder, width)
    running = partial(work, frames, loop, cancelling)
    return StreamingResponse(_sent(service, frames, cancelling, running), media_type=LINES)


async def _sent(
    service: Service, frames: Queue[str | None], cancelling: Cancelling, work: Any
) -> AsyncIterator[str]:
    """What a command prints, as it comes. If the client goes away, the command ends."""
    done = service.running.start(work, cancelling)
    try:
        while (frame := await frames.get()) is not None:
            yield frame
        await asyncio.wait((done,))
        if (error := done.exception()) is not None:  # a fault of ours
            told = "".join(traceback.format_exception(error))
            yield json.dumps({"err": told}) + "\n" + json.dumps({"status": 1}) + "\n"
    finally:
        service.running.leave(done, cancelling)


def _run(
    service: Service,
    arguments: list[str],
    folder: str,
    width: Any,
    frames: Queue[str | None],
    loop: AbstractEventLoop,
    cancelling: Cancelling,
) -> None:
    # Commands are a room above this one, which only they know: so they are found by their name.
    cli = import_module("zodiac_sql.cli.hosting")
    out, err = (_Output(name, frames, loop, cancelling) for name in ("out", "err"))
    terminal = cli.Terminal(out, err, width if isinstance(width, int) else None, folder)
    status = 1
    try:
        status = cli.run_hosted(arguments, folder, _Host(service, cancelling), terminal)
        for one in (out, err):
            one.flush()
        err.send({"status": status})
    except BrokenPipeError:
        return  # the client has gone away
    finally:
        loop.call_soon_threadsafe(_end, frames)


def _end(frames: Queue[str | None]) -> None:
    """Say that nothing comes any more. If the queue is full, its client is slow, or gone."""
    asyncio.ensure_future(frames.put(None))


class _Output(io.TextIOBase):
    """Standard output, or standard error, of a client."""

    def __init__(
        self, name: str, frames: Queue[str | None], loop: AbstractEventLoop, cancelling: Cancelling
    ) -> None:
        self._name, self._frames, self._loop, self._cancelling = name, frames, loop, cancelling
        self._parts: list[str] = []
        self._length = 0

    def write(self, text: str) -> int:
        self._parts.append(text)
        self._length += len(text)
        if self._length >= _LONG or self._name == "err":
            self.flush()
        return len(text)

    def flush(self) -> None:
        if self._parts:
            told, self._parts, self._length = "".join(self._parts), [], 0
            self.send({self._name: told})

    def send(self, told: Mapping[str, Any]) -> None:
        """Send a piece. Raises BrokenPipeError if the client has gone away."""
        frame = json.dumps(told) + "\n"
        sent = asyncio.run_coroutine_threadsafe(self._frames.put(frame), self._loop)
        while not self._cancelling.gone.is_set():
            try:
                sent.result(0.1)
                return
            except NotYet:
                continue
        sent.cancel()
        raise BrokenPipeError


class _Host:
    """What a command is lent."""

    def __init__(self, service: Service, cancelling: Cancelling) -> None:
        self._resources, self._cancelling = service.resources, cancelling

    @contextmanager
    def reading(self, limits: Mapping[str, Any]) -> Iterator[Reader]:
        with self._resources.reading(Limits(**limits), self._cancelling) as reader:
            yield reader

    @contextmanager
    def changing(self, limits: Mapping[str, Any]) -> Iterator[KnowledgeBase]:
        with self._resources.changing(Limits(**limits), self._cancelling) as kb:
            try:
                yield kb
            finally:
                kb.trace(None)

    def pause(self, seconds: float) -> None:
        if self._cancelling.gone.wait(seconds):
            raise BrokenPipeError
