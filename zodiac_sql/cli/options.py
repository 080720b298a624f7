"""The arguments and options that several commands have."""

from __future__ import annotations

import enum
from typing import Annotated

import typer


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


Database = Annotated[str, typer.Argument(metavar="DB", help="The database file.")]
NewDatabase = Annotated[
    str, typer.Argument(metavar="DB", help="The database file, made if it is missing.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Leave bad lines out, and say how many and which.")
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
