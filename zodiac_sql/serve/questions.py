"""Answers to questions: goals, SQL, tables, reasons, rules, and how the server is."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from zodiac_sql.errors import DataError
from zodiac_sql.read.query import Answer
from zodiac_sql.reader import Reader
from zodiac_sql.serve.answers import JSON, json_response, table
from zodiac_sql.serve.metrics import metrics_text
from zodiac_sql.serve.requests import is_set, limits_of, number, read, text_of_rules, wanted
from zodiac_sql.serve.service import Service


async def query(service: Service, request: Request) -> Response:
    """Goals in the language of rules, perhaps with rules of their own."""
    asked = await read(request)
    form, fields = asked.form(), asked.fields("goals")
    goals, rules = wanted(fields, "goals", "anomaly(X)"), fields.get("rules")
    if not isinstance(rules, str | None):
        raise DataError('"rules" is a text of rules')
    text_of_rules("rules", rules)

    def question(reader: Reader) -> Response:
        return table(reader.query(goals, rules=rules), form)

    return await service.ask(request, limits_of(fields, service.limits), question)


async def sql(service: Service, request: Request) -> Response:
    """SQL that only reads. `parameters` are the values of ? and $1."""
    asked = await read(request)
    form, fields = asked.form(), asked.fields("sql")
    text, parameters = wanted(fields, "sql", "SELECT * FROM anomaly"), fields.get("parameters")
    if parameters is not None and not isinstance(parameters, list):
        raise DataError('"parameters" is a list of values')

    def question(reader: Reader) -> Response:
        return table(reader.sql(text, parameters), form)

    return await service.ask(request, limits_of(fields, service.limits), question)


async def why(service: Service, request: Request) -> Response:
    """Why a fact holds; with `not`, why it does not."""
    asked = await read(request)
    fields = asked.fields("fact")
    goal, is_not = wanted(fields, "fact", "anomaly(wt2)"), is_set(fields, "not")
    every, limit, depth = is_set(fields, "all"), number(fields, "limit"), number(fields, "depth")
    forms = (JSON, "text/plain") if is_not else (JSON, "text/plain", "text/html", "image/svg+xml")
    form = asked.form(forms)

    def question(reader: Reader) -> Response:
        if is_not:
            absent = reader.why_not(goal, depth=depth or 1)
            return _text(str(absent), form) if form != JSON else json_response(absent.to_dict())
        proof = reader.why(goal, all=every, limit=limit)
        if form == "text/html":
            return _text(proof._repr_html_(), form)
        if form == "image/svg+xml":
            return _text(proof.svg(), form)
        return _text(str(proof), form) if form != JSON else json_response(proof.to_dict())

    return await service.ask(request, limits_of(fields, service.limits), question)


def _text(text: str, form: str) -> Response:
    return Response(text, media_type=f"{form}; charset=utf-8")


LISTS: dict[str, Callable[[Reader], Answer]] = {
    "rules": Reader.rules,
    "sets": Reader.rule_sets,
    "constraints": Reader.constraints,
    "violations": Reader.violations,
    "predicates": Reader.predicates,
    "hypernodes": Reader.hypernodes,
    "feed": Reader.feed,
}
"""What `zodiac show` lists."""


async def listed(service: Service, request: Request, name: str) -> Response:
    """One of the lists."""
    asked = await read(request)
    form = asked.form()
    return await service.ask(request, service.limits, lambda r: table(LISTS[name](r), form))


async def one_table(service: Service, request: Request) -> Response:
    """All facts of a predicate."""
    asked = await read(request)
    form, name = asked.form(), request.path_params["predicate"]
    limits = limits_of(asked.fields("predicate"), service.limits)
    return await service.ask(request, limits, lambda r: table(r.table(name), form))


async def health(service: Service, request: Request) -> Response:
    """Whether the server answers from the file, and from which state."""
    await read(request)
    told = await service.ask(request, service.limits, partial(_health, service))
    return json_response(told)


def _health(service: Service, reader: Reader) -> dict[str, Any]:
    state = reader._session.current()
    return {
        "status": "ok",
        "file": service.path,
        "version": version("zodiac-sql"),
        "pid": os.getpid(),
        "generation": state.generation,
        "rules": len(state.written),
        "predicates": len(state.schema),
    }


async def metrics(service: Service, request: Request) -> Response:
    """Figures for Prometheus."""
    await read(request)
    text = await service.ask(request, service.limits, partial(metrics_text, service))
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")
