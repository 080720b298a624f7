"""The SPARQL 1.1 Protocol, as far as it asks: by GET, by a form, by a query as the body."""

from __future__ import annotations

from functools import partial
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import Response

from zodiac_sql.errors import DataError
from zodiac_sql.read.sparql.answer import SparqlAnswer
from zodiac_sql.read.sparql.results import GRAPHS, RESULTS, serialized
from zodiac_sql.reader import Reader
from zodiac_sql.serve.requests import Asked, Unacceptable, read
from zodiac_sql.serve.service import Service

_FORM, _QUERY = "application/x-www-form-urlencoded", "application/sparql-query"
_SHORT = {"json": 0, "xml": 1, "csv": 2, "tsv": 3}
"""Values of the parameter `format`, for people who cannot set a header."""


async def sparql(service: Service, request: Request) -> Response:
    """Answer a query in the form that is asked for."""
    asked = await read(request)
    if asked.kind == "application/sparql-update" or "update" in _fields(asked):
        raise Unacceptable(
            400, "SPARQL Update is not supported: POST /insert, /delete or /update change facts"
        )
    text = asked.text() if asked.kind == _QUERY else _fields(asked).get("query", "")
    if not text.strip():
        raise DataError('"query" is missing: a text such as SELECT * { ?s ?p ?o } LIMIT 9')
    if {"default-graph-uri", "named-graph-uri"} & {*asked.parameters, *_fields(asked)}:
        raise DataError("there are no named graphs: leave default-graph-uri out")
    return await service.ask(request, service.limits, partial(_answered, asked, text))


def _fields(asked: Asked) -> dict[str, str]:
    """The parameters, and those in a body that is a form."""
    found = dict(asked.parameters)
    if asked.kind == _FORM:
        found |= {name: values[0] for name, values in parse_qs(asked.text()).items()}
    return found


def _answered(asked: Asked, text: str, reader: Reader) -> Response:
    found = reader._sparql(text)
    form = _form(asked, found)
    kind = f"{form}; charset=utf-8" if form.startswith("text/") else form
    return Response(serialized(found, form, reader.prefixes), media_type=kind)


def _form(asked: Asked, found: SparqlAnswer) -> str:
    """The media type of the answer. Raises Unacceptable."""
    forms = tuple(GRAPHS if found.is_graph else RESULTS)
    short = asked.parameters.get("format", "").lower()
    if short in _SHORT and not found.is_graph:
        return forms[_SHORT[short]]
    accept = asked.headers.get("accept", "")
    for one in sorted(accept.split(","), key=_preference):
        wanted = one.partition(";")[0].strip().lower()
        if wanted in ("application/json", "text/json") and not found.is_graph:
            return forms[0]
        if wanted in forms:
            return wanted
        if wanted in ("", "*/*", "application/*", "text/*"):
            return forms[0]
    raise Unacceptable(406, f"the answer of {found.kind} can be {', '.join(forms)}")


def _preference(one: str) -> float:
    """What to sort media types by: those that are wanted most come first."""
    for parameter in one.split(";")[1:]:
        name, _, value = parameter.strip().partition("=")
        if name == "q":
            try:
                return -float(value)
            except ValueError:
                return 0.0
    return -1.0
