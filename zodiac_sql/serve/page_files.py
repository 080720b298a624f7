"""The files of the page. They hold nothing of a database, so they need no token.

Rule: the page runs only its own files and asks only its own server, and the headers make browsers
see to that. Reason: names and values in a database may come from anywhere.
"""

from __future__ import annotations

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from zodiac_sql.serve.service import Service

_FOLDER = Path(__file__).parent / "page"

_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml; charset=utf-8",
}

_FILES = {f"/page/{file.name}": file for file in sorted(_FOLDER.iterdir()) if file.suffix in _KINDS}

OPEN_PATHS = frozenset(("/", *_FILES))
"""The addresses of the page."""

_HEADERS = {
    "content-security-policy": "default-src 'self'; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-cache",
}


async def page(service: Service, request: Request) -> Response:
    """A file of the page; at the root of the server, its document."""
    path = request.url.path
    file = _FILES.get("/page/index.html" if path == "/" else path)
    if file is None:
        raise HTTPException(404)
    return Response(file.read_bytes(), media_type=_KINDS[file.suffix], headers=_HEADERS)
