"""The command that makes an ontology a rule set, or tells what it would become."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zodiac_sql.cli.change_commands import change_and_print, shown_of
from zodiac_sql.cli.databases import Wanted, require_database, require_files
from zodiac_sql.cli.limiting import limited
from zodiac_sql.cli.options import Json, NewDatabase, Preview, Samples, WhyMoved
from zodiac_sql.cli.output import print_json
from zodiac_sql.cli.tables import print_table

if TYPE_CHECKING:
    from zodiac_sql.ontology.translation import Translation


class Rules(enum.StrEnum):
    """Which rules axioms become."""

    RDFS = "rdfs"
    RL = "rl"
    WITHOUT_EQUALITY = "rl-without-equality"


@limited
def ontology(
    db: NewDatabase,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="RDF files of axioms.")],
    set_name: Annotated[
        str, typer.Option("--set", metavar="SET", help="The rule set that the axioms become.")
    ] = "ontology",
    rules: Annotated[Rules, typer.Option(help="Which rules axioms become.")] = Rules.RL,
    report: Annotated[
        bool, typer.Option("--report", help="Only tell what becomes of each axiom, and why not.")
    ] = False,
    preview: Preview = False,
    samples: Samples = None,
    why: WhyMoved = None,
    as_json: Json = False,
) -> None:
    """Make an ontology a rule set: its axioms become rules.

    They are the rules of OWL 2 RL, over the data's classes and properties. A set that is there
    already gets the new version: only what differs is added and dropped. Imported ontologies count
    if their files are given, too. What OWL 2 RL cannot say is left out, and reported. `zodiac
    drop-rules DB --set ontology` takes it away again.

    \b
    Examples:
      zodiac ontology building.duckdb Brick.ttl --set brick
      zodiac ontology building.duckdb Brick.ttl --report
      zodiac ontology building.duckdb Brick-1.5.ttl --set brick --preview
    """
    from zodiac_sql.ontology.translate import translate

    require_files(files)
    shown = shown_of(preview, samples, why)
    translated = translate(*files, profile=rules.value)
    if report:
        _print_report(translated, as_json)
        return
    if preview:
        require_database(db, preview)
    wanted = Wanted(rules=[translated.written()], into=set_name, replace_set=True)
    change_and_print(db, wanted, shown, as_json)


def _print_report(translated: Translation, as_json: bool) -> None:
    if as_json:
        print_json(
            [
                {
                    "axiom": row.axiom, "file": row.file, "line": row.line,
                    "rules": list(row.rules), "left_out": row.why or None,
                }
                for row in translated.report
            ]
        )  # fmt: skip
        return
    rows = (
        (
            row.axiom,
            f"{row.file}:{row.line}" if row.line else row.file,
            ", ".join(row.rules),
            row.why,
        )
        for row in translated.report
    )
    print_table(("axiom", "place", "rules", "left out, because"), rows)
