"""Changes as they come: lines of JSON, or events of a page."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from zodiac_sql.facts.printed_values import as_json
from zodiac_sql.names import COMMIT
from zodiac_sql.read.changes import Changes
from zodiac_sql.read.printed_answers import entries
from zodiac_sql.reader import Reader
from zodiac_sql.serve.requests import is_set, number, read
from zodiac_sql.serve.service import Service

LINES, EVENTS = "application/x-ndjson", "text/event-stream"

_PAUSE = 0.1
"""Seconds after which it is looked for changes again."""

_BEAT = 15.0
"""After so many seconds without a change, a line without meaning shows that the server is there."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Which entries of the feed, and in which form."""

    predicates: tuple[str, ...]
    form: str

    def lines(self, found: Changes) -> str:
        """The entries in the order of changes, what has left first."""
        told = _lines(found)
        if self.form == LINES:
            return "".join(f"{line}\n" for _, line in told)
        return "".join(f"id: {commit}\ndata: {line}\n\n" for commit, line in told)

    @property
    def beat(self) -> str:
        return "\n" if self.form == LINES else ": \n\n"


def _lines(found: Changes) -> list[tuple[int, str]]:
    """The number of the change of each entry, and the entry as JSON."""
    return [(one[COMMIT], json.dumps(as_json(one), ensure_ascii=False)) for one in entries(found)]


async def changes(service: Service, request: Request) -> Response:
    """Entries of the feed after change number `since`. Events, and `follow`, go on for ever."""
    asked = await read(request)
    form = asked.form((LINES, EVENTS))
    since = number(asked.parameters, "since")
    last_event = asked.headers.get("last-event-id", "")
    if form == EVENTS and last_event.isdigit():
        since = int(last_event)
    wanted = _Wanted(tuple(asked.parameters.getlist("predicate")), form)
    first = await service.ask(request, service.limits, partial(_found, wanted, since))
    if form != EVENTS and not is_set(asked.parameters, "follow"):
        return Response(wanted.lines(first), media_type=form)
    body = _following(service, request, wanted, first)
    return StreamingResponse(body, media_type=form, headers={"cache-control": "no-store"})


def _found(wanted: _Wanted, since: int | None, reader: Reader) -> Changes:
    return reader.changes(*wanted.predicates, since=since)


async def _following(
    service: Service, request: Request, wanted: _Wanted, first: Changes
) -> AsyncIterator[str]:
    """Entries as they come. (Starlette ends this when the client has gone.)"""
    yield wanted.lines(first)
    position, quiet = first.position, 0.0
    while not service.running.ending:
        await asyncio.sleep(_PAUSE)
        quiet += _PAUSE
        last = await service.running.aside(partial(_position, service))
        if last != position:
            found = await service.running.aside(partial(_next, service, wanted, position))
            position, quiet = found.position, 0.0
            yield wanted.lines(found)
        elif quiet >= _BEAT:
            quiet = 0.0
            yield wanted.beat


def _position(service: Service, cancelling: Any) -> int:
    with service.resources.reading(service.limits, cancelling) as reader:
        return reader._session.current().feed.last


def _next(service: Service, wanted: _Wanted, since: int, cancelling: Any) -> Changes:
    with service.resources.reading(service.limits, cancelling) as reader:
        return _found(wanted, since, reader)
