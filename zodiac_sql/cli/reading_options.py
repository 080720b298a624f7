"""The options that say how files of facts are read, which several commands have.

They stand in one table. A command that `reads_facts` gets all of them as one `Reading`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from zodiac_sql.cli.options import RowsOf

if TYPE_CHECKING:
    from zodiac_sql.facts.load.options import TableOptions


@dataclass(frozen=True, slots=True)
class Reading:
    """How a command reads files: the predicate of tables, and the keyword arguments of `load`."""

    predicate: str | None = None
    options: TableOptions = field(default_factory=dict)  # type: ignore[assignment]


AS_USUAL = Reading()


def _text(option: str, metavar: str, help_: str) -> Any:
    return Annotated[str | None, typer.Option(option, metavar=metavar, help=help_)]


def _flag(option: str, help_: str) -> Any:
    return Annotated[bool | None, typer.Option(option, help=help_)]


_OPTIONS: Mapping[str, Any] = {
    "predicate": RowsOf,
    "skip_bad": _flag("--skip-bad", "Leave bad lines out, and say how many and which."),
    "nulls": Annotated[
        list[str] | None,
        typer.Option(
            "--nulls",
            metavar="skip-row|COLUMN=VALUE",
            help="What becomes of empty cells of tables; may be repeated. By default, refused.",
        ),
    ],
    "columns": _text(
        "--columns",
        "A,B=C|read",
        "Take only column A, and column B by the name C; or read: those that rules name. "
        "B may be a part of an object: address.city=city.",
    ),
    "explode": Annotated[
        list[str] | None,
        typer.Option(
            "--explode",
            metavar="COLUMN",
            help="Make a fact of each element of the lists in a column; may be repeated.",
        ),
    ],
    "no_header": _flag("--no-header", "The first line of CSV is a fact, too."),
    "delimiter": _text("--delimiter", "CHAR", "What separates cells of CSV."),
    "null_string": _text("--null-string", "TEXT", "An empty cell of CSV."),
    "date_format": _text("--date-format", "FORMAT", 'Of CSV, such as "%d.%m.%Y".'),
    "timestamp_format": _text("--timestamp-format", "FORMAT", 'Such as "%d.%m.%Y %H:%M".'),
    "encoding": _text("--encoding", "NAME", "Of CSV, such as cp1252 or utf-16."),
    "decimal": _text("--decimal", "CHAR", "The mark before decimals in CSV, . or a comma."),
    "thousands": _text("--thousands", "CHAR", "The mark between groups of three digits in CSV."),
    "comment": _text("--comment", "TEXT", "How lines of CSV begin that are comments, such as #."),
    "skip": Annotated[
        int | None,
        typer.Option("--skip", min=0, metavar="N", help="So many lines stand before the CSV."),
    ],
}
"""By the names that they have in a command."""

_AS_THEY_ARE = (
    "skip_bad", "explode", "delimiter", "null_string", "date_format", "timestamp_format",
    "encoding", "decimal", "thousands", "comment", "skip",
)  # fmt: skip
"""Those that mean a keyword argument of `load` of the same name."""


def reads_facts(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameter `reading` comes from the options of this module."""

    @wraps(command)
    def with_reading(**given: Any) -> None:
        asked = {name: given.pop(name) for name in _OPTIONS}
        command(**given, reading=Reading(asked["predicate"], _table_options(asked)))

    # typer reads the options of a command from its signature, and their types from __annotations__.
    signature = inspect.signature(command, eval_str=True)
    others = [one for name, one in signature.parameters.items() if name != "reading"]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=option)
        for name, option in _OPTIONS.items()
    ]
    with_reading.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[
            *(one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in others),
            *added,
        ]
    )
    with_reading.__annotations__ = {
        **{one.name: one.annotation for one in others},
        **_OPTIONS,
    }
    return with_reading


def _table_options(given: Mapping[str, Any]) -> TableOptions:
    """The keyword arguments of `load` that the options of a command mean."""
    found: dict[str, Any] = {name: given[name] for name in _AS_THEY_ARE if given[name]}
    nulls, columns = given["nulls"], given["columns"]
    if nulls and "=" not in nulls[0]:
        if len(nulls) > 1:
            raise typer.BadParameter("--nulls is skip-row, or COLUMN=VALUE, not both")
        found["nulls"] = nulls[0]
    elif nulls:
        found["nulls"] = dict(one.split("=", 1) for one in nulls)
    if columns == "read":
        found["columns"] = columns
    elif columns:
        pairs = (one.partition("=") for one in columns.split(","))
        found["columns"] = {old: new or old for old, _, new in pairs}
    if given["no_header"]:
        found["header"] = False
    return cast("TableOptions", found)
