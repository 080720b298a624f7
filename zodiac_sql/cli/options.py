"""The arguments and options that several commands have."""

from __future__ import annotations

import enum
import re
from pathlib import Path
from typing import Annotated

import typer

from zodiac_sql.database.settings import StorageVersion


class Format(enum.StrEnum):
    """The file formats of export."""

    PARQUET = "parquet"
    CSV = "csv"
    NT = "nt"
    TTL = "ttl"


class What(enum.StrEnum):
    """The lists that show can print."""

    RULES = "rules"
    SETS = "sets"
    PREDICATES = "predicates"
    HYPERNODES = "hypernodes"
    CONSTRAINTS = "constraints"
    VIOLATIONS = "violations"
    FEED = "feed"


WrittenFor = Annotated[
    StorageVersion | None,
    typer.Option("--storage-version", help="The oldest DuckDB that is to read the file."),
]
Ticking = Annotated[
    str | None,
    typer.Option(
        "--tick", metavar="TIME", help="Let the clock tick by itself, so often: 1s, 500ms, 1m."
    ),
]
Database = Annotated[str, typer.Argument(metavar="DB", help="The database file.")]
NewDatabase = Annotated[
    str, typer.Argument(metavar="DB", help="The database file, made if it is missing.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]
ComingRules = Annotated[
    list[Path] | None,
    typer.Option("--add", metavar="FILE", help="Rules that would come; may be repeated."),
]
GoingRules = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="NAME|FILE", help="Rules that would go; may be repeated."),
]
RowsOf = Annotated[
    str | None,
    typer.Option("-p", metavar="PREDICATE", help="What the rows of tables are facts of."),
]
Preview = Annotated[
    bool, typer.Option("--preview", help="Only tell what would change, and change nothing.")
]
Samples = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="N",
        help="Facts of each predicate that a preview shows, 5 if this is not given.",
    ),
]
WhyMoved = Annotated[
    str | None,
    typer.Option(
        "--why", metavar="FACT", help="With a preview: why this fact would come, or would go."
    ),
]
ExportFormat = Annotated[
    Format, typer.Option("--format", help="One file per predicate, or one for all (nt, ttl).")
]

Host = Annotated[
    str, typer.Option(metavar="HOST", help="The address; others than loopback are for a network.")
]
Port = Annotated[int, typer.Option(min=0, max=65_535, metavar="PORT", help="0: one that is free.")]
Origins = Annotated[
    list[str] | None,
    typer.Option("--allow-origin", metavar="URL", help="A page that may ask; may be repeated."),
]


_TICK = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|)")
_SECONDS = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0}


def seconds_of(tick: str | None) -> float | None:
    """What --tick says, in seconds."""
    if tick is None:
        return None
    found = _TICK.fullmatch(tick.strip())
    if found is None or not float(found[1]):
        raise typer.BadParameter(f"--tick is a time such as 1s, 500ms or 1m, not {tick}")
    return float(found[1]) * _SECONDS[found[2]]
