"""The commands that explain: why, why-not and inconsistencies."""

from __future__ import annotations

import enum
import shlex
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zodiac_sql.cli.databases import reading
from zodiac_sql.cli.limiting import limited_answer
from zodiac_sql.cli.options import Database, Json
from zodiac_sql.cli.output import print_json, print_text
from zodiac_sql.cli.terminal import about_paths, echo, output, terminal_width

if TYPE_CHECKING:
    from zodiac_sql.read.why.proof import Explanation, Fact
    from zodiac_sql.read.why.show_outline import OutlineLimits
    from zodiac_sql.read.why.show_text import Row


class ProofFormat(enum.StrEnum):
    """The forms in which an explanation is printed."""

    TEXT = "text"
    JSON = "json"
    SVG = "svg"
    MERMAID = "mermaid"
    DOT = "dot"
    HTML = "html"


class Told(enum.StrEnum):
    """The forms in which it is printed what is missing."""

    TEXT = "text"
    JSON = "json"


Goal = Annotated[str, typer.Argument(metavar="FACT", help="As in rules: 'anomaly(wt2)'.")]


@limited_answer
def why(
    db: Database,
    fact: Goal,
    every: Annotated[
        bool, typer.Option("--all", help="Show all rules that derive the fact, not one proof.")
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Show at most N ways to derive the fact."),
    ] = None,
    form: Annotated[
        ProofFormat, typer.Option("--format", help="How it is printed.")
    ] = ProofFormat.TEXT,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", metavar="FILE", help="A .svg, .mmd (Mermaid), .dot or .json file."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Tell why a fact holds.

    Prints a proof: the rules that derive the fact, with the values put in, and what they use, down
    to explicit facts. A fact with variables is explained for its first answers. With --all, all
    that derives the fact directly; ask for the facts below one by one. Every proof is checked
    before it is shown.

    \b
    Examples:
      zodiac why farm.duckdb 'anomaly(wt2)'
      zodiac why farm.duckdb 'near(wt1, wt3)' --all
      zodiac why farm.duckdb 'anomaly(wt2)' -o why.svg
    """
    if as_json and form not in (ProofFormat.TEXT, ProofFormat.JSON):
        raise typer.BadParameter("--json and --format exclude each other")
    if out and (as_json or form is not ProofFormat.TEXT):
        raise typer.BadParameter("the suffix of FILE says the format: leave --format out")
    with reading(db) as kb:
        explanation = kb.why(fact, all=every, limit=limit)
    if out:
        explanation.save(out)
        echo(about_paths(f"wrote {out}"))
    elif form is ProofFormat.TEXT and not as_json:
        from zodiac_sql.read.why.show_text import rows

        _print_rows(rows(explanation, _limits(db)))
    else:
        echo(_formed(explanation, ProofFormat.JSON if as_json else form), nl=False)


@limited_answer
def why_not(
    db: Database,
    fact: Goal,
    depth: Annotated[
        int, typer.Option(min=1, metavar="N", help="Explain facts that are missing, too.")
    ] = 1,
    form: Annotated[Told, typer.Option("--format", help="How it is printed.")] = Told.TEXT,
    as_json: Json = False,
) -> None:
    """Tell why a fact does not hold.

    Prints each rule that could derive the fact: the largest part of its body that holds, with the
    values it then has, and what fails. With a depth of 2, the facts that are missing are explained
    in the same way, and so on. If the fact does hold, says so, and why.

    \b
    Examples:
      zodiac why-not farm.duckdb 'anomaly(wt3)'
      zodiac why-not farm.duckdb 'anomaly(wt3)' --depth 3
    """
    with reading(db) as kb:
        told = kb.why_not(fact, depth=depth)
    if as_json or form is Told.JSON:
        print_json(told.to_dict())
    else:
        from zodiac_sql.read.why.absence import rows

        _print_rows(rows(told, _limits(db)))


@limited_answer
def inconsistencies(
    db: Database,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="Explain at most N of them.")] = 20,
    as_json: Json = False,
) -> None:
    """Tell what contradicts itself by the axioms of ontologies.

    Prints the axiom, the individuals, and a proof: a member of two disjoint classes, things that
    are the same and different, and the like. `zodiac ontology` makes the rules that find them.

    \b
    Examples:
      zodiac inconsistencies building.duckdb
      zodiac inconsistencies building.duckdb --limit 1 --json
    """
    with reading(db) as kb:
        found = kb.inconsistencies(limit=limit)
    if as_json:
        print_json(found.to_dict())
        return
    from zodiac_sql.read.why.show_text import rows

    if not found:
        print_text(str(found))
    for one in found:
        print_text(one.headline)
        _print_rows(rows(one.proof, _limits(db)))
    if left := found.total - len(found):
        print_text(f"and {left} more: --limit {found.total} shows all")


def _formed(explanation: Explanation, form: ProofFormat) -> str:
    """The text of an explanation in a form that programs read."""
    if form is ProofFormat.HTML:
        from zodiac_sql.read.why.show_html import html_form

        return html_form(explanation) + "\n"
    forms = {
        ProofFormat.JSON: explanation.json,
        ProofFormat.SVG: explanation.svg,
        ProofFormat.MERMAID: explanation.mermaid,
        ProofFormat.DOT: explanation.dot,
    }
    return forms[form]()


def _limits(db: str) -> OutlineLimits:
    """How much is printed, and which command shows more."""
    from dataclasses import replace

    from zodiac_sql.read.why.show_parts import goal_text
    from zodiac_sql.read.why.show_text import LIMITS

    def ask(fact: Fact, explanation: Explanation, whole: bool = False) -> str:
        text = goal_text(fact, explanation)
        options = (" --all" if explanation.every else "") + (" --json" if whole else "")
        if text is None:
            return f"zodiac why{options} of this fact"
        return f"zodiac why {shlex.quote(db)} {shlex.quote(text)}{options}"

    return replace(LIMITS, ask=ask)


STYLES = {
    "fact": "bold",
    "rule": "cyan",
    "step": "cyan",
    "absent": "red",
    "group": "magenta",
    "bound": "magenta",
    "fold": "dim",
}
"""How the parts of a tree look on a terminal."""

NARROWEST = 30
"""Nothing is put on several lines if there is less room for it beside the branches."""


def _lines(row: Row, width: int) -> Iterator[Row]:
    """A row on as many lines as it needs beside the branches.

    Facts, and commands that show more, stay on one line, so that they can be pasted.
    """
    from dataclasses import replace

    room = width - len(row.branches)
    if row.kind in ("fact", "fold") or len(row.text) <= room or room < NARROWEST:
        yield row
        return
    below = row.branches.replace("├─", "│ ").replace("└─", "  ")
    lines = textwrap.wrap(row.text, room, subsequent_indent=" " * 6, break_on_hyphens=False)
    for place, line in enumerate(lines, 1):
        branches = row.branches if place == 1 else below
        yield replace(row, branches=branches, text=line, note=row.note * (place == len(lines)))


def _print_rows(rows: Iterable[Row]) -> None:
    """Print a tree, on a terminal in colours, and on lines of its width."""
    width = terminal_width()
    if width is None:
        print_text("\n".join(map(str, rows)))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(
        file=output(), force_terminal=True, width=width, soft_wrap=True, highlight=False,
        markup=False, emoji=False,
    )  # fmt: skip
    for row in rows:
        style = "green" if row.explicit else STYLES.get(row.kind, "")
        for line in _lines(row, console.width):
            parts = (line.branches, "dim"), (line.text, style), (line.note, "dim")
            console.print(Text.assemble(*parts))
