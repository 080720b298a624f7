"""The command explain: which operators evaluate hypernodes, and what that takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
from zodiac_sql.cli.options import ComingRules, Database, GoingRules, Json, RowsOf
from zodiac_sql.cli.output import print_json, print_notes
from zodiac_sql.cli.reading_options import Reading
from zodiac_sql.cli.tables import print_table
from zodiac_sql.cli.terminal import echo, terminal_width

if TYPE_CHECKING:
    from zodiac_sql.read.explain.decisions import Decisions
    from zodiac_sql.read.time_profile import TimeProfile

ComingFacts = Annotated[
    list[Path] | None,
    typer.Option("--insert", metavar="FILE", help="Facts that would come; may be repeated."),
]
GoingFacts = Annotated[
    list[Path] | None,
    typer.Option("--delete", metavar="FILE", help="Facts that would go; may be repeated."),
]


@limited_answer
def explain(
    db: Database,
    added: ComingRules = None,
    dropped: GoingRules = None,
    inserted: ComingFacts = None,
    deleted: GoingFacts = None,
    predicate: RowsOf = None,
    as_json: Json = False,
) -> None:
    """Tell how rules are evaluated, and what that takes.

    Evaluates everything once more, aside; the file stays as it is. For each hypernode it tells the
    operator that ran, what that took in milliseconds, and how many facts it derived; behind a slash
    stands what was expected. Then, where there was a choice, all operators. Then each rule: how
    long it took, or, of several that depend on each other, its body by itself over all that holds
    in the end. With --add, --drop, --insert or --delete, it tells the same of that
    change, which is only previewed. `zodiac profile` tells which rules take the time.

    \b
    Examples:
      zodiac explain farm.duckdb
      zodiac explain farm.duckdb --delete monday.csv -p hasTemperature
      zodiac explain farm.duckdb --add more.rules --drop r4 --json
    """
    wanted = wanted_of(added, dropped, inserted, deleted, predicate)
    found, notes = _of_change(db, wanted) if wanted else (_from_scratch(db), ())
    print_tables(found, notes, as_json)


def wanted_of(
    added: list[Path] | None,
    dropped: list[str] | None,
    inserted: list[Path] | None,
    deleted: list[Path] | None,
    predicate: str | None,
) -> Wanted | None:
    """The change that is to be told of; None if there is none."""
    if not (added or dropped or inserted or deleted):
        return None
    require_files([*(added or []), *(inserted or []), *(deleted or [])])
    return Wanted(
        dropped=names_and_files(dropped or []),
        rules=added or [],
        data=inserted or [],
        unloaded=deleted or [],
        reading=Reading(predicate),
        drops_known=True,
    )


def print_tables(found: Decisions | TimeProfile, notes: Sequence[str], as_json: bool) -> None:
    """Print the tables of an answer, what is said below them, and notes; or all as JSON."""
    if as_json:
        print_json(found.to_dict())
        return
    for names, rows in found.shown(whole=terminal_width() is None):
        print_table(names, rows)
        echo()
    echo(found.caption())
    print_notes(notes)


def _from_scratch(db: str) -> Decisions:
    from zodiac_sql.cli.progress import reported

    with reading(db) as kb, reported() as report:
        return kb.explain(progress=report)


def _of_change(db: str, wanted: Wanted) -> tuple[Decisions, tuple[str, ...]]:
    """What a change would do, and the notes of its preview."""
    require_database(db)
    with changing(db) as opened:
        change = opened.preview(wanted)
        return opened.kb.explain(change), change.notes
