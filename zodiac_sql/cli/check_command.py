"""The command that checks files of rules without a database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zodiac_sql.cli.databases import require_files
from zodiac_sql.cli.options import Json
from zodiac_sql.cli.output import print_json, print_text
from zodiac_sql.cli.wording import in_shell

if TYPE_CHECKING:
    from zodiac_sql.errors import Problem
    from zodiac_sql.program.check_files import Checked


def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files of rules.")],
    strict: Annotated[
        bool, typer.Option("--strict", help="Let what looks like a mistake be an error, too.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Check files of rules, without a database.

    They are read as `zodiac add-rules` reads them, all together. The status is 1 if that would
    refuse them. What only looks like a mistake is a note: a predicate of which the files say
    nothing, a function that is not built in, a name in the place of a variable. With --json, each
    has its place: lines and columns count from 1, and the end is the first column after it.

    \b
    Examples:
      zodiac check wind.rules heat.rules
      zodiac check wind.rules --strict
      zodiac check wind.rules --json
    """
    from zodiac_sql.program.check_files import check_files

    require_files(files)
    checked = check_files(files)
    wrong = checked.errors or (strict and (checked.doubts or checked.remarks))
    if as_json:
        print_json(_as_json(checked, strict))
    else:
        _print(checked, strict)
    if wrong:
        raise typer.Exit(1)


def _print(checked: Checked, strict: bool) -> None:
    kind = "error" if strict else "note"
    for severity, problems in (("error", checked.errors), (kind, checked.doubts)):
        for problem in problems:
            print_text(in_shell(f"{severity}: {problem}"))
    for remark in checked.remarks:
        print_text(f"{kind}: {remark.message}")
    count = "1 rule" if checked.rules == 1 else f"{checked.rules} rules"
    print_text(f"{count} read")


def _as_json(checked: Checked, strict: bool) -> dict[str, Any]:
    kind = "error" if strict else "note"
    found = [
        *(_place(problem, "error") for problem in checked.errors),
        *(_place(problem, kind) for problem in checked.doubts),
        *({"severity": kind, "message": remark.message} for remark in checked.remarks),
    ]
    return {"rules": checked.rules, "found": found}


def _place(problem: Problem, severity: str) -> dict[str, Any]:
    told = {"severity": severity, "message": problem.message, "hint": problem.hint or None}
    if (span := problem.span) is None:
        return told
    return {
        **told, "file": span.source.name,
        "line": span.line, "column": span.column,
        "end_line": span.end_line, "end_column": span.end_column,
    }  # fmt: skip
