"""What the page shows beside what others ask, too: changes, pages of facts, texts of rule sets."""

from __future__ import annotations

import time
from dataclasses import asdict
from datetime import datetime
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from zodiac_sql.errors import DataError, QueryError
from zodiac_sql.language.filters import is_label_of_filter
from zodiac_sql.language.functions import AGGREGATES, BUILTINS
from zodiac_sql.names import CHANGE_TYPE, COMMIT, TIME
from zodiac_sql.program.set_facts import is_of_facts
from zodiac_sql.read.some_facts import Page, some_facts
from zodiac_sql.reader import Reader
from zodiac_sql.serve.access import WRITES
from zodiac_sql.serve.answers import json_response
from zodiac_sql.serve.requests import is_set, limits_of, number, read
from zodiac_sql.serve.service import Service

_MOST = 1_000
"""So many facts are on a page, and so many entries of the feed are shown."""


async def recent(service: Service, request: Request) -> Response:
    """The last changes that this server has seen, sums since it began, and what is being computed.

    It waits for nobody, and asks the database nothing.
    """
    asked = await read(request)
    most = number(asked.parameters, "limit")
    history = service.history
    last = history.last(_bounded(most, 50)) if most != 0 else ()
    working = history.working
    return json_response(
        {
            "started": service.started,
            "now": time.time(),
            "totals": asdict(history.totals),
            "working": None if working is None else asdict(working),
            "waiting": service.resources.waiting,
            "changes": [asdict(one) for one in last],
        }
    )


async def names(service: Service, request: Request) -> Response:
    """What a page must know first: prefixes, functions, and whether it may change anything."""
    await read(request)
    told = await service.ask(request, service.limits, partial(_names, service))
    return json_response({**told, "writes": request.scope[WRITES]})


def _names(service: Service, reader: Reader) -> dict[str, Any]:
    functions = {*BUILTINS, *AGGREGATES, *reader._session.functions}
    return {
        "file": service.path,
        "prefixes": dict(reader.prefixes),
        "functions": sorted(name for name in functions if name.isidentifier()),
    }


async def facts(service: Service, request: Request) -> Response:
    """Some facts of a predicate: those with a `text`, in the order of a column `sort`, from
    `offset` on up to `limit`.
    """
    asked = await read(request)
    given, name = asked.parameters, request.path_params["predicate"]
    page = Page(
        given.get("text", "").strip(),
        given.get("sort") or None,
        is_set(given, "descending"),
        _bounded(number(given, "limit"), 50),
        max(number(given, "offset") or 0, 0),
    )
    limits = limits_of(asked.fields("predicate"), service.limits)
    found = await service.ask(request, limits, lambda r: r._read(some_facts, name, page))
    return json_response(asdict(found))


async def moved(service: Service, request: Request) -> Response:
    """The last entries of the feed about a predicate, or those since a time (UTC, ISO 8601)."""
    asked = await read(request)
    name, after = request.path_params["predicate"], _time(asked.parameters.get("after"))
    most = _bounded(number(asked.parameters, "limit"), 200)
    told = await service.ask(request, service.limits, partial(_moved, name, after, most))
    return json_response(told)


def _moved(name: str, after: datetime | None, most: int, reader: Reader) -> dict[str, Any]:
    import pyarrow.compute as pc

    changes = reader.changes(name)
    found = changes.table(changes.predicates[0])
    if after is not None:
        found = found.filter(pc.greater_equal(found[TIME], after))
    last = found.slice(max(found.num_rows - most, 0))
    entries = [
        {**{key: row.pop(key) for key in (COMMIT, TIME, CHANGE_TYPE)}, "fact": row}
        for row in last.to_pylist()
    ]
    return {"entries": entries, "all": found.num_rows}


def _time(given: str | None) -> datetime | None:
    """A moment. Raises DataError."""
    if not given:
        return None
    try:
        found = datetime.fromisoformat(given)
    except ValueError:
        raise DataError(f'"after" is a time such as 2026-01-31T12:30:00Z, not {given!r}') from None
    if found.tzinfo is None:
        raise DataError(f'"after" has no time zone: {given}Z is UTC')
    return found


async def text(service: Service, request: Request) -> Response:
    """The text of a rule set, to edit: its prefixes and rules, and what it calls these rules.

    Of facts and declarations the file keeps no text; they stay when the text is replaced.
    """
    asked = await read(request)
    name = asked.parameters.get("set", "main")
    return json_response(await service.ask(request, service.limits, partial(_text, name)))


def _text(name: str, reader: Reader) -> dict[str, Any]:
    state = reader._session.current()
    found = next((one for one in state.sets if one.name == name), None)
    if found is None:
        raise QueryError(f"there is no rule set {name}")
    texts = {rule.name: rule.text for rule in state.written}
    written = [
        (label, texts[rule])
        for label, rule in found.members
        if not (is_of_facts(label) or is_label_of_filter(label))
    ]
    lines = [f"@prefix {prefix}: <{iri}> ." for prefix, iri in found.prefixes]
    lines += [""] if lines else []
    lines += [one.text for one in state.windows if one.set == name]
    lines += [rule if "." in label else f"{label}: {rule}" for label, rule in written]
    return {"set": name, "text": "\n".join(lines), "rules": [label for label, _ in written]}


async def graph(service: Service, request: Request) -> Response:
    """The graph of hypernodes as SVG."""
    await read(request)
    drawn = await service.ask(request, service.limits, lambda r: r.graph().svg())
    return Response(drawn, media_type="image/svg+xml; charset=utf-8")


async def profile(service: Service, request: Request) -> Response:
    """What each rule and each hypernode took in all changes since the file was opened."""
    await read(request)
    return json_response(
        await service.ask(request, service.limits, lambda r: r.profile().to_dict())
    )


async def explain(service: Service, request: Request) -> Response:
    """Evaluates everything once more, aside: times of hypernodes and of rules."""
    asked = await read(request)
    limits = limits_of(asked.fields("text"), service.limits)
    found = await service.ask(request, limits, lambda r: r.explain().to_dict())
    return json_response(found)


def _bounded(given: int | None, usual: int) -> int:
    return usual if given is None else min(max(given, 1), _MOST)
