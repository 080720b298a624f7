"""The commands of the change feed: keep-feed, and changes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zodiac_sql.cli.databases import changing, reading, require_database
from zodiac_sql.cli.elsewhere import host
from zodiac_sql.cli.options import Database, Json
from zodiac_sql.cli.output import json_line, print_change
from zodiac_sql.cli.terminal import output
from zodiac_sql.errors import LockedError

if TYPE_CHECKING:
    from zodiac_sql.read.changes import Changes


def keep_feed(
    db: Database,
    predicates: Annotated[
        list[str] | None, typer.Argument(metavar="[PREDICATE]...", help="What is in the feed.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All predicates are in the feed.")] = False,
    off: Annotated[bool, typer.Option("--off", help="End the feed, and delete it.")] = False,
    count: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Keep at least the last N changes.")
    ] = None,
    days: Annotated[
        float | None, typer.Option(metavar="D", help="Keep at least the changes of D days.")
    ] = None,
    size: Annotated[
        int | None,
        typer.Option("--bytes", min=1, metavar="B", help="Keep at least B bytes of entries."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Keep a feed of what enters and leaves predicates.

    From the next change on, what enters and leaves the predicates is kept in the database, where
    `zodiac changes` reads it. Without a limit all is kept; with several, what exceeds one of them
    can go. This replaces what was said before: other predicates leave the feed.

    \b
    Examples:
      zodiac keep-feed farm.duckdb anomaly --days 7
      zodiac keep-feed farm.duckdb --all --count 10000
      zodiac keep-feed farm.duckdb --off
    """
    if (bool(predicates) + every + off) != 1:
        raise typer.BadParameter("give a PREDICATE or more, or --all, or --off")
    require_database(db)
    with changing(db) as opened:
        named = None if every else predicates or []
        change = opened.kb.keep_feed(named, count=count, days=days, bytes=size)
        print_change(change, opened.kb.prefixes, as_json)


def changes(
    db: Database,
    predicates: Annotated[
        list[str] | None, typer.Argument(metavar="[PREDICATE]...", help="By default all.")
    ] = None,
    since: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Only changes after number N.")
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with changes as they come.")
    ] = False,
) -> None:
    """Print what entered and left predicates, as JSON lines.

    What is in the feed, `zodiac keep-feed` says. Each line is a fact that a change has moved; all
    lines with the same _commit are one change. To go on later, give the last _commit as --since.

    To follow, the database is opened when its file has changed, read and closed again, also while
    a program writes it now and then; while a program has it open for writing, this waits, unless
    that serves it (zodiac serve).

    \b
    Examples:
      zodiac changes farm.duckdb anomaly
      zodiac changes farm.duckdb --since 42 --follow
    """
    require_database(db)
    if not follow:
        with reading(db) as kb:
            _print(kb.changes(*predicates or (), since=since))
        return
    for _ in _whenever_changed(Path(db)) if host() is None else _again_and_again():
        try:
            with reading(db) as kb:
                found = kb.changes(*predicates or (), since=since)
        except LockedError:
            continue
        _print(found)
        since = found.position


_SECONDS = 0.5
"""How long to wait before the file is looked at again."""

_SECONDS_SERVED = 0.1
"""The same where a server has it open, which can tell quickly."""


def _whenever_changed(path: Path) -> Iterator[None]:
    """Yields at first, and whenever the file is another than when it was last read."""
    seen: object = None
    while True:
        now = [_stamp(path), _stamp(path.with_name(f"{path.name}.wal"))]
        if now != seen:
            yield
            seen = now
        time.sleep(_SECONDS)


def _again_and_again() -> Iterator[None]:
    """Yields until the client of the server that runs this has gone away."""
    server = host()
    assert server is not None
    while True:
        yield
        server.pause(_SECONDS_SERVED)


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_size


def _print(found: Changes) -> None:
    """Print entries in the order of changes, what has left first."""
    from zodiac_sql.read.printed_answers import entries

    for entry in entries(found):
        output().write(json_line(entry))
    output().flush()
