"""An explanation as a Mermaid flowchart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from zodiac_sql.read.drawing.mermaid import mermaid_text
from zodiac_sql.read.drawing.panel import COLOURS, NEGATIVE, POSITIVE
from zodiac_sql.read.why.show_boxes import LEGEND, NOTHING, STYLES, TextBox, picture

if TYPE_CHECKING:
    from zodiac_sql.read.why.proof import Explanation

ARROWS = {POSITIVE: "-->", NEGATIVE: "-.->"}


def mermaid_form(explanation: Explanation) -> str:
    return "\n".join(_lines(explanation)) + "\n"


def _lines(explanation: Explanation) -> Iterator[str]:
    drawn = picture(explanation)
    yield from ("---", f'title: "{LEGEND}"')
    yield from ("config:", "  flowchart:", "    wrappingWidth: 800", "---", "flowchart TB")
    yield from map(_node, drawn.boxes)
    for index, arrow in enumerate(drawn.arrows):
        yield f"    b{arrow.source} {ARROWS[arrow.kind]} b{arrow.target}"
        yield f"    linkStyle {index} stroke:{COLOURS[arrow.kind]}"
    if not drawn.boxes:
        yield f'    b0["{NOTHING}"]'
        return
    yield "    classDef default text-align:left,font-family:monospace"
    for kind, style in STYLES.items():
        if any(box.kind == kind for box in drawn.boxes):
            dashes = ",stroke-dasharray:6 4" if style.dashed else ""
            yield f"    classDef {kind} fill:{style.fill},stroke:{style.border}{dashes}"
    goals = ",".join(f"b{box.id}" for box in drawn.boxes if box.goal)
    yield from ("    classDef goal stroke-width:3px", f"    class {goals} goal")


def _node(box: TextBox) -> str:
    label = "<br/>".join(map(mermaid_text, box.lines))
    start, end = ("(", ")") if box.kind == "rule" else ("[", "]")
    return f'    b{box.id}{start}"{label}"{end}:::{box.kind}'
