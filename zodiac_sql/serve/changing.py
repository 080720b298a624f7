"""Changes that are asked for: facts in and out, updates as in streams, rules, previews."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from starlette.requests import Request
from starlette.responses import Response

from zodiac_sql.change.as_json import change_as_json
from zodiac_sql.change.change import Change
from zodiac_sql.errors import DataError
from zodiac_sql.read.why.why_violated import fact_of
from zodiac_sql.serve.answers import ARROW, CSV, json_response
from zodiac_sql.serve.requests import (
    Asked,
    is_set,
    json_of,
    limits_of,
    number,
    read,
    text_of_rules,
    wanted,
)
from zodiac_sql.serve.service import Service
from zodiac_sql.stream.updates import Item

if TYPE_CHECKING:
    import pyarrow as pa

    from zodiac_sql.knowledge_base import KnowledgeBase
    from zodiac_sql.language.schema import Predicate

Verb = Literal["insert", "delete"]


async def insert(service: Service, request: Request) -> Response:
    """Insert facts."""
    return await _facts(service, request, "insert")


async def delete(service: Service, request: Request) -> Response:
    """Delete explicit facts."""
    return await _facts(service, request, "delete")


async def _facts(service: Service, request: Request, verb: Verb) -> Response:
    """JSON has rows by predicate; CSV and Arrow are rows of the predicate in the address."""
    asked = await read(request)
    limits = limits_of(asked.parameters, service.limits)
    check = not is_set(asked.parameters, "no_check")
    if asked.kind in (CSV, ARROW):
        predicate = wanted(asked.parameters, "predicate", "?predicate=reading")
        made = partial(_from_table, asked, verb, predicate, check)
    else:
        made = partial(_updated, {verb: json_of(asked.text())}, check)
    return _told(await service.change(request, limits, made))


def _from_table(
    asked: Asked, verb: Verb, predicate: str, check: bool, kb: KnowledgeBase
) -> dict[str, Any]:
    if asked.kind == ARROW:
        rows = _arrow(asked.body)
        change = getattr(kb, verb)(predicate, rows, check=check)
        return change_as_json(change)
    with tempfile.TemporaryDirectory(prefix="zodiac_") as folder:
        file = Path(folder, "body.csv")
        file.write_bytes(asked.body)
        load = kb.load if verb == "insert" else kb.unload
        return change_as_json(load(file, predicate, check=check))


def _arrow(body: bytes) -> object:
    """The table in a stream of Arrow's IPC format. Raises DataError."""
    import pyarrow as pa

    try:
        return pa.ipc.open_stream(body).read_all()
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"the body is no stream of Arrow's IPC format: {error}") from None


async def update(service: Service, request: Request) -> Response:
    """One update, as a line of a stream has it. With `preview`, nothing is changed."""
    asked = await read(request)
    limits = limits_of(asked.parameters, service.limits)
    given = json_of(asked.text())
    if is_set(asked.parameters, "preview"):
        made = partial(_previewed, given, 0, None)
    else:
        made = partial(_updated, given, not is_set(asked.parameters, "no_check"))
    return _told(await service.change(request, limits, made))


async def rules(service: Service, request: Request) -> Response:
    """Add a text of rules, drop some, or replace all of a set; or preview that.

    A preview shows up to `samples` facts of each predicate that would enter or leave, and why one
    of them would: the goal `why`.
    """
    asked = await read(request)
    fields = asked.fields("add")
    given = {
        key: fields[name]
        for name, key in (("add", "add_rules"), ("drop", "drop_rules"), ("set", "set"),
                          ("replace", "replace_rules"))
        if name in fields
    }  # fmt: skip
    if not given.keys() - {"set"}:
        raise DataError('a text of rules is missing: "add", "drop" or "replace"')
    if is_set(fields, "preview"):
        made = partial(_previewed, given, number(fields, "samples") or 0, fields.get("why"))
    else:
        made = partial(_updated, given, not is_set(fields, "no_check"))
    return _told(await service.change(request, limits_of(fields, service.limits), made))


def _told(change: dict[str, Any]) -> Response:
    return json_response(change)


def _updated(given: Any, check: bool, kb: KnowledgeBase) -> dict[str, Any]:
    """Make an update one change."""
    return change_as_json(_tell(given, kb._updates.streaming({"check": check})))


def _previewed(given: Any, samples: int, why: str | None, kb: KnowledgeBase) -> dict[str, Any]:
    """What an update would do, and why it would do that to a fact."""
    with kb.preview() as preview:
        Item(_harmless(given)).step_for(kb._session.state).tell(preview)
    change = preview.change
    told = {"preview": True, **change_as_json(change)}
    if why:
        told["why"] = str(change.why(why))
    return {**told, "samples": _samples(change, samples)} if samples else told


def _tell(given: Any, updating: Any) -> Change:
    with updating as streamed:
        Item(_harmless(given)).step_for(streamed.state).tell(streamed)
    change: Change = streamed.change
    return change


def _samples(change: Change, most: int) -> dict[str, Any]:
    """Facts that would move, by predicate, and how each is written as a goal."""
    sides = change.sides()
    before, after = sides.before.facts.schema, sides.after.facts.schema
    told: dict[str, Any] = {}
    for name in sorted({*change.inserted, *change.deleted}):
        enters = change.inserted_facts(name, most) if change.inserted.get(name) else None
        leaves = change.deleted_facts(name, most) if change.deleted.get(name) else None
        told[name] = {
            "inserted": enters.to_pylist() if enters else [],
            "deleted": leaves.to_pylist() if leaves else [],
            "inserted_goals": _goals(after.get(name), enters),
            "deleted_goals": _goals(before.get(name), leaves),
        }
    return told


def _goals(known: Predicate | None, facts: pa.Table | None) -> list[str]:
    """Facts as goals."""
    if known is None or not facts:
        return []
    columns = [column.to_pylist() for column in facts.columns] if known.columns else []
    rows = zip(*columns, strict=True) if columns else [()] * facts.num_rows
    return [fact_of(known, row) for row in rows]


def _harmless(given: Any) -> Any:
    """An update without what would make this process read files. Raises DataError."""
    if not isinstance(given, Mapping):
        return given
    for key in ("add_rules", "drop_rules", "replace_rules"):
        texts = given.get(key, ())
        for text in texts if isinstance(texts, list) else [texts]:
            text_of_rules(key, text)
    for key in ("insert", "delete"):
        facts = given.get(key, {})
        if isinstance(facts, Mapping):
            for predicate, rows in facts.items():
                if not isinstance(rows, list):
                    raise DataError(f"{key}: the rows of {predicate} are a list of lists")
    return given
