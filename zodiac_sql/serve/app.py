"""What is asked by which address. An error is JSON: what is wrong, and of which kind."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zodiac_sql.errors import ZodiacError
from zodiac_sql.serve import changing, following, looking, questions, sparql_protocol
from zodiac_sql.serve.answers import error_response, json_response
from zodiac_sql.serve.commands import command
from zodiac_sql.serve.page_files import page
from zodiac_sql.serve.requests import Unacceptable
from zodiac_sql.serve.service import Service

if TYPE_CHECKING:
    from starlette.types import ASGIApp

Answering = Callable[[Service, Request], Awaitable[Response]]

_ASKED: tuple[tuple[str, tuple[str, ...], Answering], ...] = (
    ("/query", ("GET", "POST"), questions.query),
    ("/sql", ("GET", "POST"), questions.sql),
    ("/sparql", ("GET", "POST"), sparql_protocol.sparql),
    ("/why", ("GET", "POST"), questions.why),
    ("/table/{predicate:path}", ("GET",), questions.one_table),
    ("/insert", ("POST",), changing.insert),
    ("/delete", ("POST",), changing.delete),
    ("/update", ("POST",), changing.update),
    ("/rules", ("POST",), changing.rules),
    ("/changes", ("GET",), following.changes),
    ("/metrics", ("GET",), questions.metrics),
    ("/health", ("GET",), questions.health),
    ("/command", ("POST",), command),
    ("/", ("GET",), page),
    ("/page/{file}", ("GET",), page),
    ("/recent", ("GET",), looking.recent),
    ("/names", ("GET",), looking.names),
    ("/facts/{predicate:path}", ("GET",), looking.facts),
    ("/moved/{predicate:path}", ("GET",), looking.moved),
    ("/text", ("GET",), looking.text),
    ("/graph", ("GET",), looking.graph),
    ("/explain", ("POST",), looking.explain),
    ("/profile", ("GET",), looking.profile),
    *((f"/{name}", ("GET",), partial(questions.listed, name=name)) for name in questions.LISTS),
)


def app_of(service: Service) -> ASGIApp:
    """The application that answers for a service."""
    return Starlette(
        routes=[
            Route(path, _endpoint(service, answering), methods=list(methods))
            for path, methods, answering in _ASKED
        ],
        exception_handlers={HTTPException: _not_there},
    )


def _endpoint(service: Service, answering: Answering) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            return await answering(service, request)
        except Unacceptable as error:
            return json_response({"error": str(error), "kind": "Refused"}, error.status)
        except ZodiacError as error:
            return error_response(error)

    return endpoint


async def _not_there(request: Request, error: Exception) -> Response:
    """An address that is none, or a method that it does not take."""
    assert isinstance(error, HTTPException)
    paths = ", ".join(sorted({path for path, _, _ in _ASKED}))
    told = f"{request.method} {request.url.path}: {error.detail}. There is {paths}"
    return json_response({"error": told, "kind": "Refused"}, error.status_code)
