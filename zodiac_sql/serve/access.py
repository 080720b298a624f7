"""Who may ask a server: whoever has a token, and, of pages in a browser, only its own.

A page of another origin can send requests to this machine, and a name of its own can be made to
point here (DNS rebinding). So a request that names another host, or another origin, is refused
before its token is looked at. Clients that cannot send a header, such as SERVICE of a SPARQL
engine, put the reading token in the address: `/token/TOKEN/sparql`.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from starlette.datastructures import Headers
from starlette.responses import Response

from zodiac_sql.serve.answers import json_response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

WRITES = "zodiac_sql.writes"
"""The key of a scope that tells whether the request may change something."""

BY_SOCKET = "zodiac_sql.by_socket"
"""The key of a scope that tells whether the request came by the Unix socket."""

_IN_ADDRESS = "/token/"


@dataclass(frozen=True, slots=True)
class Access:
    """Lets requests with a token through, which says what they may do.

    `hosts` are the names of this machine by which it may be asked, None for all; `origins` those of
    other pages that may ask. `open_paths` need no token: they hold nothing of the database.
    """

    app: ASGIApp
    reading: str
    writing: str
    hosts: Collection[str] | None
    origins: Collection[str]
    by_socket: bool
    open_paths: Collection[str] = ()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        allowed = origin is not None and origin in self.origins
        refusal = self._refused(headers, origin, allowed)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        if allowed and scope["method"] == "OPTIONS":
            await Response(headers=_cors(origin or "", True))(scope, receive, send)
            return
        scope = dict(scope)
        token = self._token(scope, headers)
        may_write = _same(token, self.writing) and not scope.get("zodiac_sql.in_address")
        if not may_write and not _same(token, self.reading) and not self._is_open(scope):
            told = "a token is needed: Authorization: Bearer TOKEN"
            answer = json_response({"error": told, "kind": "NoAccess"}, 401)
            answer.headers["www-authenticate"] = 'Bearer, Basic realm="zodiac_sql"'
            await answer(scope, receive, send)
            return
        scope[WRITES], scope[BY_SOCKET] = may_write, self.by_socket
        if not allowed:
            await self.app(scope, receive, send)
            return

        async def send_cors(message):  # type: ignore[no-untyped-def]
            if message["type"] == "http.response.start":
                more = [(k.encode(), v.encode()) for k, v in _cors(origin or "", False).items()]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        await self.app(scope, receive, send_cors)

    def _refused(self, headers: Headers, origin: str | None, allowed: bool) -> Response | None:
        """The answer to a request from a page that may not ask, if it is one."""
        host = headers.get("host", "")
        name = urlsplit(f"//{host}").hostname or ""
        if not self.by_socket and self.hosts is not None and name not in self.hosts:
            return json_response({"error": f"this server is not {host!r}", "kind": "NoAccess"}, 421)
        if origin is None or allowed or urlsplit(origin).netloc == host:
            return None
        told = f"pages of {origin} may not ask; --allow-origin {origin} allows it"
        return json_response({"error": told, "kind": "NoAccess"}, 403)

    def _is_open(self, scope: Scope) -> bool:
        return scope["path"] in self.open_paths

    def _token(self, scope: Scope, headers: Headers) -> str:
        """The token of a request: a bearer's, the password of a user, or in the address."""
        path: str = scope["path"]
        if path.startswith(_IN_ADDRESS):
            token, slash, rest = path.removeprefix(_IN_ADDRESS).partition("/")
            scope["path"], scope["raw_path"] = slash + rest, (slash + rest).encode()
            scope["zodiac_sql.in_address"] = True
            return unquote(token)
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return given.strip()
        if kind.lower() == "basic":
            try:
                return base64.b64decode(given).decode().partition(":")[2]
            except (binascii.Error, UnicodeDecodeError):
                return ""
        return ""


def _same(given: str, token: str) -> bool:
    """Whether a token is the right one, in a time that tells nothing about it."""
    return hmac.compare_digest(given.encode(), token.encode())


def _cors(origin: str, is_preflight: bool) -> dict[str, str]:
    told = {"access-control-allow-origin": origin, "vary": "origin"}
    if is_preflight:
        told["access-control-allow-headers"] = "authorization, content-type, accept"
        told["access-control-allow-methods"] = "GET, POST"
        told["access-control-max-age"] = "600"
    return told
