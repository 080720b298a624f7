"""An explanation as HTML for a notebook: facts fold and unfold. It needs nothing from outside."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from zodiac_sql.folds import DEEPEST, GREEN, GREY, RED, UNFOLDED, coloured
from zodiac_sql.read.why.show_boxes import NOTHING
from zodiac_sql.read.why.show_outline import Line, OutlineLimits, outline

if TYPE_CHECKING:
    from zodiac_sql.read.why.proof import Explanation

LIMITS = OutlineLimits(facts=300, depth=DEEPEST, wide=100)


def html_form(explanation: Explanation) -> str:
    """Nested details, one for each fact or group with something below it."""
    return "".join(_pieces(list(outline(explanation, LIMITS)) or [Line(0, "fold", NOTHING)]))


def _pieces(lines: list[Line]) -> Iterator[str]:
    yield '<div style="font-family:monospace;line-height:1.5">'
    depths = [line.depth for line in lines[1:]] + [0]
    for line, following in zip(lines, depths, strict=True):
        if following > line.depth or line.by:
            opened = " open" if line.depth < UNFOLDED else ""
            inside = '<div style="margin-left:1.5em">'
            yield f"<details{opened}><summary>{_shown(line)}</summary>{inside}{_rule(line)}"
            yield from ["</div></details>"] if following <= line.depth else []
        else:
            yield f"<div>{_shown(line)}</div>"
        # All that is deeper than the next line ends here.
        yield "</div></details>" * max(line.depth - following, 0)
    yield "</div>"


def _shown(line: Line) -> str:
    """A line with what is said beside it."""
    note = f" {coloured(line.note, GREY)}" if line.note else ""
    style = {"absent": RED, "fold": GREY, "step": GREY}.get(line.kind, "")
    if line.explicit:
        style = GREEN
    return coloured(line.text, style) + note


def _rule(line: Line) -> str:
    return f'<div style="{GREY}">{escape(line.by)}</div>' if line.by else ""
