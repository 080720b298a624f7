"""The command serve: keeps a database open, and lets others ask and change it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zodiac_sql.cli.databases import changing
from zodiac_sql.cli.endings import Refused
from zodiac_sql.cli.options import Host, NewDatabase, Origins, Port, Ticking, seconds_of
from zodiac_sql.cli.output import say
from zodiac_sql.cli.terminal import echo, output
from zodiac_sql.errors import ZodiacError
from zodiac_sql.serve.place import path_of, place_of
from zodiac_sql.stream.ticks import Ticks

if TYPE_CHECKING:
    from zodiac_sql.knowledge_base import KnowledgeBase
    from zodiac_sql.serve.server import Server


def serve(
    db: NewDatabase,
    host: Host = "127.0.0.1",
    port: Port = 0,
    allow_origin: Origins = None,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", help="The most that one request may take.")
    ] = 60.0,
    max_rows: Annotated[
        int, typer.Option(min=1, metavar="N", help="The most rows that an answer may have.")
    ] = 1_000_000,
    readers: Annotated[
        int, typer.Option(min=1, metavar="N", help="Answer so many questions at the same time.")
    ] = 4,
    tick: Ticking = None,
) -> None:
    """Keep a database open, and let others ask and change it.

    Until Ctrl-C or SIGTERM. All commands of zodiac find this process by themselves, and ask it: the
    file DB.server says where it answers, and with which tokens. Other programs ask by HTTP: /query,
    /sql, /sparql, /why, /insert, /delete, /update, /rules, /changes, /metrics, /health.

    \b
    Examples:
      zodiac serve farm.duckdb --port 7474
      curl -H "Authorization: Bearer TOKEN" localhost:7474/query -d 'anomaly(X)'
    """
    if not timeout > 0:
        raise typer.BadParameter(f"--timeout is a number of seconds above 0, not {timeout:g}")
    options = {"host": host, "port": port, "origins": allow_origin or (), "timeout": timeout,
               "max_rows": max_rows, "readers": readers}  # fmt: skip
    every = seconds_of(tick)
    if place_of(db) is not None:
        raise Refused(f"{db} is served already: {path_of(db)} says where.")
    with changing(db, {}) as opened:
        serve_until_stopped(opened.kb, db, options, partial(told, db=db), every)


def serve_until_stopped(
    kb: KnowledgeBase,
    db: str,
    options: dict[str, Any],
    begun: Callable[[Server], None],
    tick: float | None = None,
) -> None:
    """Serve until a signal comes. `begun` is called when the server answers.

    The clock ticks every `tick` seconds, whatever constraints say: none can refuse that time goes
    on.
    """
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with kb.serve(**options) as server:
        begun(server)
        ticks = None if tick is None else Ticks(tick)
        while not stop.wait(_LOOKS if ticks is None else min(_LOOKS, ticks.left)):
            look_after(kb, ticks)
    say(f"{db} is served no more")


_LOOKS = 1.0
"""How often, in seconds, it is looked whether the database must be opened again."""


def look_after(kb: KnowledgeBase, ticks: Ticks | None = None) -> None:
    """Open the database again if a failure has damaged its connection, and let the clock tick."""
    try:
        if ticks is not None and ticks.is_due:
            ticks.done()
            kb.tick(check=False)
        kb.position("")
    except ZodiacError as error:
        say(f"warning: {error}")


def told(server: Server, db: str) -> None:
    """Say where the server answers."""
    echo(f"{db} is served at {server.url}; {path_of(db)} has the tokens")
    output().flush()
