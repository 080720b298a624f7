"""An explanation as a Graphviz digraph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from zodiac_sql.read.drawing.dot import dot_text
from zodiac_sql.read.drawing.panel import COLOURS, NEGATIVE, POSITIVE
from zodiac_sql.read.why.show_boxes import LEGEND, NOTHING, STYLES, TextBox, picture

if TYPE_CHECKING:
    from zodiac_sql.read.why.proof import Explanation

LINES = {POSITIVE: "solid", NEGATIVE: "dashed"}


def dot_form(explanation: Explanation) -> str:
    return "\n".join(_lines(explanation)) + "\n"


def _lines(explanation: Explanation) -> Iterator[str]:
    drawn = picture(explanation)
    yield "digraph why {"
    yield f'    label="{LEGEND}"'
    yield '    fontname="Helvetica"'
    yield "    node [shape=box, fontname=monospace, fontsize=11]"
    yield from map(_node, drawn.boxes)
    if not drawn.boxes:
        yield f'    b0 [label="{NOTHING}", shape=plaintext]'
    for arrow in drawn.arrows:
        style = f'style={LINES[arrow.kind]}, color="{COLOURS[arrow.kind]}"'
        yield f"    b{arrow.source} -> b{arrow.target} [{style}]"
    yield "}"


def _node(box: TextBox) -> str:
    style = STYLES[box.kind]
    words = ["filled", "dashed" if style.dashed else "", "rounded" if box.kind == "rule" else ""]
    label = "".join(f"{dot_text(line)}\\l" for line in box.lines)
    full = "\\n".join(map(dot_text, box.full))
    look = f'style="{",".join(filter(None, words))}", fillcolor="{style.fill}"'
    border = f'color="{style.border}"' + (", penwidth=3" if box.goal else "")
    return f'    b{box.id} [label="{label}", tooltip="{full}", {look}, {border}]'
