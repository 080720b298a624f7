"""The command explain: which operators evaluate hypernodes, and what that takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zodiac_sql.cli.databases import (
    Wanted,
    changing,
    names_and_files,
    reading,
    require_database,
    require_files,
)
from zodiac_sql.cli.limiting import limited_answer
from zodiac_sql.cli.options import Database, Json
from zodiac_sql.cli.output import print_json, print_notes
from zodiac_sql.cli.tables import print_table


@limited_answer
def explain(
    db: Database,
    added: Annotated[
        list[Path] | None,
        typer.Option("--add", metavar="FILE", help="Rules that would come; may be repeated."),
    ] = None,
    dropped: Annotated[
        list[str] | None,
        typer.Option("--drop", metavar="NAME|FILE", help="Rules that would go; may be repeated."),
    ] = None,
    inserted: Annotated[
        list[Path] | None,
        typer.Option("--insert", metavar="FILE", help="Facts that would come; may be repeated."),
    ] = None,
    deleted: Annotated[
        list[Path] | None,
        typer.Option("--delete", metavar="FILE", help="Facts that would go; may be repeated."),
    ] = None,
    predicate: Annotated[
        str | None,
        typer.Option("-p", metavar="PREDICATE", help="What the rows of tables are facts of."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Tell how rules are evaluated, and what that takes.

    Evaluates everything once more, aside; the file stays as it is. For each hypernode it tells the
    operator that ran, what that took in milliseconds and what it had expected to take, how many
    facts it derived and how many were expected, and the operators that were not taken. Then each
    rule: how long it took, or, of several that depend on each other, its body by itself over all
    that holds in the end. With --add, --drop, --insert or --delete, it tells the same of that
    change, which is only previewed.

    \b
    Examples:
      zodiac explain farm.duckdb
      zodiac explain farm.duckdb --delete monday.csv -p hasTemperature
      zodiac explain farm.duckdb --add more.rules --drop r4 --json
    """
    from zodiac_sql.cli.progress import reported

    files = [*(added or []), *(inserted or []), *(deleted or [])]
    notes: tuple[str, ...] = ()
    if files or dropped:
        require_database(db)
        require_files(files)
        wanted = Wanted(
            dropped=names_and_files(dropped or []),
            rules=added or [],
            data=inserted or [],
            unloaded=deleted or [],
            predicate=predicate,
            drops_known=True,
        )
        with changing(db) as opened:
            change = opened.preview(wanted)
            found, notes = opened.kb.explain(change), change.notes
    else:
        with reading(db) as kb, reported() as report:
            found = kb.explain(progress=report)
    if as_json:
        print_json(found.to_dict())
        return
    for names, rows in found.shown():
        print_table(names, rows)
        typer.echo()
    typer.echo(found.caption())
    print_notes(notes)
