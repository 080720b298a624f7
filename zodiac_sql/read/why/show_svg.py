"""An explanation as an SVG document: facts flow downwards, to the goals."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from zodiac_sql.read.drawing.layout import Box as Place
from zodiac_sql.read.drawing.layout import layout
from zodiac_sql.read.drawing.panel import COLOURS, NEGATIVE, cells
from zodiac_sql.read.drawing.shapes import (
    CELL,
    DASHES,
    MONO,
    document,
    draw_line,
    number,
    placed,
    sheet,
    write,
)
from zodiac_sql.read.why.show_boxes import NOTHING, STYLES, Kind, Picture, TextBox, picture

if TYPE_CHECKING:
    from zodiac_sql.read.why.proof import Explanation

# Lengths in pixels.
LINE = 17.0  # height of a line of text
PADDING = 10.0  # between a box's border and its text
MARGIN = 12.0  # around everything
FOOT = 36.0  # height of the legend
SAMPLE = 32.0  # width of a box in the legend


def svg_document(explanation: Explanation) -> str:
    """A complete SVG document that needs nothing from outside."""
    drawn = picture(explanation)
    if not drawn.boxes:
        root = sheet("Why", 200, 60)
        write(root, 100, 35, NOTHING, {"text-anchor": "middle"})
        return document(root)
    sizes = {box.id: _size(box) for box in drawn.boxes}
    plan = layout(sizes, dict.fromkeys(sizes, 0), drawn.arrows)
    kinds = [kind for kind in STYLES if any(box.kind == kind for box in drawn.boxes)]
    width = max(plan.width, sum(map(_entry_width, kinds)))
    root = sheet(_title(drawn), width + 2 * MARGIN, plan.height + FOOT + 2 * MARGIN)
    inner = ET.SubElement(root, "g", {"transform": f"translate({number(MARGIN)} {number(MARGIN)})"})
    for link in plan.links:
        kind = link.edges[0].kind
        group = ET.SubElement(inner, "g", {"class": kind, "stroke": COLOURS[kind]})
        style = {"stroke-dasharray": DASHES} if kind == NEGATIVE else {}
        draw_line(group, link, style, COLOURS[kind])
    for box in drawn.boxes:
        _draw_box(inner, box, plan.boxes[box.id])
    _draw_legend(inner, kinds, plan.height + FOOT / 2)
    return document(root)


def _title(drawn: Picture) -> str:
    return "Why " + ", ".join(box.full[0] for box in drawn.boxes if box.goal)


def _size(box: TextBox) -> tuple[float, float]:
    """Width and height of a box."""
    return max(map(cells, box.lines)) * CELL + 2 * PADDING, len(box.lines) * LINE + PADDING


def _draw_box(parent: ET.Element, box: TextBox, place: Place) -> None:
    """A box with its lines; tooltips show the full texts."""
    group = ET.SubElement(parent, "g", {"class": box.kind, "font-family": MONO})
    ET.SubElement(group, "title").text = "\n".join(box.full)
    ET.SubElement(group, "rect", placed(place) | _border(box.kind, box.goal))
    for index, line in enumerate(box.lines):
        style = {"font-weight": "bold"} if box.goal and index < box.head else {}
        if box.kind == "rule" and index < box.head:
            style = {"fill": "#555555"}
        write(group, place.x + PADDING, place.y + LINE * (index + 1), line, style)


def _border(kind: Kind, goal: bool = False) -> dict[str, str]:
    style = STYLES[kind]
    border = {"fill": style.fill, "stroke": style.border, "rx": "9" if kind == "rule" else "4"}
    if goal:
        border["stroke-width"] = "2.5"
    return border | ({"stroke-dasharray": DASHES} if style.dashed else {})


def _draw_legend(parent: ET.Element, kinds: list[Kind], y: float) -> None:
    """What the kinds of boxes are, in a line."""
    x = 0.0
    for kind in kinds:
        place = Place(x, y - 7, SAMPLE, 14)
        ET.SubElement(parent, "rect", placed(place) | _border(kind))
        write(parent, x + SAMPLE + 8, y + 4, STYLES[kind].name, {})
        x += _entry_width(kind)


def _entry_width(kind: Kind) -> float:
    return SAMPLE + 8 + len(STYLES[kind].name) * CELL + 16
