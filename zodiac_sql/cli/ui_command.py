"""The command ui: opens the page of a database in a browser."""

from __future__ import annotations

import os
import socket
import tempfile
import time
import webbrowser
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from zlib import crc32

import typer

from zodiac_sql.cli.databases import changing
from zodiac_sql.cli.options import NewDatabase
from zodiac_sql.cli.serve_command import serve_until_stopped, told
from zodiac_sql.cli.terminal import echo, output
from zodiac_sql.serve.place import place_of

if TYPE_CHECKING:
    from zodiac_sql.serve.server import Server

PagePort = Annotated[
    int,
    typer.Option(min=0, max=65_535, metavar="PORT", help="0: the same for a file each time."),
]

_FIRST_PORT, _PORTS = 49_152, 16_384
"""The ports that nobody has registered."""

_READ = 5.0
"""Seconds in which a browser has read the file that leads it to the page."""


def ui(
    db: NewDatabase,
    port: PagePort = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address of the page only.")
    ] = False,
) -> None:
    """Open a page that shows a database.

    It shows changes, facts and why they hold, rules with previews, times, and answers. Serves the
    database as `zodiac serve` does, until Ctrl-C or SIGTERM; if it is served already, it
    opens the page of that server. The address has the token with which one may change the database:
    keep it to yourself.

    \b
    Examples:
      zodiac ui farm.duckdb
      zodiac ui farm.duckdb --port 7474 --no-browser
    """
    place = place_of(db)
    if place is not None:
        _show(_address(place.url, place.writing), no_browser)
        return

    def begun(server: Server) -> None:
        told(server, db)
        _show(_address(server.url, server.writing_token), no_browser)

    with changing(db, {}) as opened:
        serve_until_stopped(opened.kb, db, {"port": port or _usual_port(db)}, begun)


def _usual_port(db: str) -> int:
    """The same port for a file each time, if it is free: browsers keep what was asked before, and
    the texts of rules that are switched off, by the address.
    """
    port = _FIRST_PORT + crc32(os.path.realpath(db).encode()) % _PORTS
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return 0
    return port


def _address(url: str, token: str) -> str:
    """What stands behind # a browser sends to nobody."""
    return f"{url}/#token={token}"


def _show(address: str, no_browser: bool) -> None:
    if no_browser or not _opened(address):
        echo(f"the page is at {address}")
        output().flush()


def _opened(address: str) -> bool:
    """Whether a browser opens the page.

    All users of a machine see the arguments of its processes, so the token is none: the browser
    gets a file that only this user can read, and which leads to the page.
    """
    number, path = tempfile.mkstemp(prefix="zodiac_", suffix=".html")  # mode 0600
    try:
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(f'<meta http-equiv="refresh" content="0; url={escape(address)}">')
        if not webbrowser.open(Path(path).as_uri()):
            return False
        time.sleep(_READ)
        return True
    finally:
        os.unlink(path)
