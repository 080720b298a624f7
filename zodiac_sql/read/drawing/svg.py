"""A drawing as an SVG document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree import ElementTree as ET

from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.read.drawing.contents import EXPLICIT, Input, Line
from zodiac_sql.read.drawing.layout import Box, BoxLayout, Link, layout
from zodiac_sql.read.drawing.panel import (
    BANDS,
    FATE_LEGEND,
    GONE,
    LEGEND,
    MARKS,
    NEGATIVE,
    POSITIVE,
    RULE_COLOURS,
    RULE_LEGEND,
    SAME,
    Panel,
    band,
    cells,
    colour_of,
    is_negative,
    used_marks,
)
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

NAME = "Hyper rule dependency graph"

# Lengths in pixels.
LINE, TITLE = 17.0, 26.0  # heights of a rule and of a title in a box
PADDING = 10.0  # between a box's border and its text
GUTTER = 88.0  # left of the boxes, for the names of the strata
MARGIN = 12.0  # around everything
FOOT = 40.0  # height of the legend's first line
HEADING = 30.0  # above a panel, for its name
KEY = 22.0  # from a line of the legend to the next
NARROWEST = 480.0  # width of the legend
EMPTY = 60.0  # height of a panel without rules


def svg_document(panels: Sequence[Panel]) -> str:
    """A complete SVG document that needs nothing from outside."""
    return document(_root(panels))


def _root(panels: Sequence[Panel]) -> ET.Element:
    if len(panels) == 1 and not panels[0].graph.hypernodes:
        root = sheet(NAME, 160, 60)
        write(root, 80, 35, "no rules", {"text-anchor": "middle"})
        return root
    plans = [_plan(panel) for panel in panels]
    widths = [GUTTER + plan.width + 2 * MARGIN for plan in plans]
    widths[-1] += max(NARROWEST - sum(widths), 0.0)
    height = max(plan.height for plan in plans)
    top = MARGIN + (HEADING if len(panels) > 1 else 0.0)
    marks = used_marks(panels)
    signs = [sign for panel in panels for sign in panel.signs]
    root = sheet(NAME, sum(widths), top + height + FOOT + KEY * (len(marks) + len(signs)))
    left = 0.0
    for panel, plan, width in zip(panels, plans, widths, strict=True):
        page = ET.SubElement(root, "g", {"transform": f"translate({number(left)} {number(top)})"})
        _draw_panel(page, panel, plan, width)
        left += width
    if len(panels) > 1:
        page = ET.SubElement(root, "g", {"transform": f"translate(0 {number(top)})"})
    fated = any(panel.fates is not None for panel in panels)
    _draw_legend(page, height + FOOT / 2, fated)
    legend = FATE_LEGEND if fated else RULE_LEGEND
    _draw_keys(page, height + FOOT / 2 + KEY, marks, {sign: legend[sign] for sign in signs})
    return root


def _plan(panel: Panel) -> BoxLayout:
    """Where the hypernodes of a panel stand."""
    hypernodes = panel.graph.hypernodes
    if not hypernodes:
        return BoxLayout({}, {}, (), 0.0, EMPTY)
    sizes = {h.id: _size(panel, h) for h in hypernodes}
    groups = {h.id: h.stratum for h in hypernodes}
    inputs = {box.id: _size_of_lines(panel.input_lines(box)) for box in panel.inputs}
    return layout(inputs | sizes, dict.fromkeys(inputs, EXPLICIT) | groups, panel.edges())


def _draw_panel(page: ET.Element, panel: Panel, plan: BoxLayout, width: float) -> None:
    """The hypernodes of a panel, the lines between them, and the panel's name above them."""
    if panel.name:
        page.attrib |= {"class": "panel", "id": panel.name}
        write(page, MARGIN, -12, panel.name, {"font-weight": "bold", "font-size": "16"})
    if not panel.graph.hypernodes:
        write(page, width / 2, EMPTY / 2, "no rules", {"text-anchor": "middle"})
    _draw_bands(page, plan, width)
    inner = ET.SubElement(page, "g", {"transform": f"translate({number(GUTTER)} 0)"})
    for link in plan.links:
        _draw_link(inner, panel, link)
    for given in panel.inputs:
        _draw_input(inner, panel, given, plan.boxes[given.id])
    for h in panel.graph.hypernodes:
        _draw_hypernode(inner, panel, h, plan.boxes[h.id])


def _size(panel: Panel, hypernode: Hypernode) -> tuple[float, float]:
    """Width and height of a hypernode's box."""
    lines = [*panel.lines(hypernode)]
    width, height = _size_of_lines(lines)
    return max(width, (cells(panel.title(hypernode)) + 2) * CELL + 2 * PADDING), height + TITLE


def _size_of_lines(lines: Sequence[Line]) -> tuple[float, float]:
    """Width and height of a box without a title."""
    longest = max(cells(line.text) for line in lines)
    return longest * CELL + 2 * PADDING, len(lines) * LINE + PADDING


def _draw_bands(parent: ET.Element, plan: BoxLayout, width: float) -> None:
    """A light band with a label behind the hypernodes of each stratum."""
    for stratum, (top, bottom) in sorted(plan.bands.items()):
        place = {"x": number(MARGIN), "y": number(top), "rx": "6", "fill": band(stratum)}
        size = {"width": number(width - 2 * MARGIN), "height": number(bottom - top)}
        ET.SubElement(parent, "rect", {"class": "stratum"} | place | size)
        name = "explicit" if stratum == EXPLICIT else f"stratum {stratum}"
        write(parent, MARGIN + 10, top + 22, name, {"fill": "#555555"})


def _draw_input(parent: ET.Element, panel: Panel, given: Input, box: Box) -> None:
    """A box of explicit facts: predicates with their numbers."""
    group = ET.SubElement(parent, "g", {"class": "explicit", "id": panel.node(given.id)})
    ET.SubElement(group, "rect", placed(box) | {"fill": BANDS[0], "stroke": "#777777", "rx": "9"})
    _draw_lines(group, panel.input_lines(given), box.x + PADDING, box.y + 1)


def _draw_hypernode(parent: ET.Element, panel: Panel, hypernode: Hypernode, box: Box) -> None:
    """A box with the hypernode's name, its modules and its rules; tooltips show the full texts."""
    group = ET.SubElement(parent, "g", {"class": "hypernode", "id": panel.id(hypernode.name)})
    border = {"fill": "#ffffff", "stroke": "#333333", "rx": "4"}
    if hypernode.recursive:
        border["stroke-width"] = "2"
    mark = panel.mark(hypernode)
    if mark:
        border |= _frame(mark)
    ET.SubElement(group, "rect", placed(box) | border)
    left, right, line = box.x + PADDING, box.x + box.width - PADDING, box.y + 18
    name = f"{hypernode.name} {mark}".rstrip()
    write(group, left, line, name, {"font-weight": "bold", "font-size": "13"})
    tag = panel.tag(hypernode)
    if tag:
        entry = ET.SubElement(group, "g", {"class": "modules", "font-family": MONO})
        ET.SubElement(entry, "title").text = panel.at_work(hypernode)
        write(entry, right, line, tag, {"text-anchor": "end"})
        right -= (cells(tag) + 1) * CELL
    if hypernode.recursive:
        write(group, right, line, "recursive", {"text-anchor": "end", "font-style": "italic"})
    _draw_lines(group, [*panel.lines(hypernode)], left, line + 3)


def _draw_lines(group: ET.Element, lines: Sequence[Line], left: float, above: float) -> None:
    """Lines of a box, each with what it says in full."""
    for index, line in enumerate(lines, 1):
        entry = ET.SubElement(group, "g", {"class": "rule", "font-family": MONO})
        ET.SubElement(entry, "title").text = line.full
        write(entry, left, above + index * LINE, line.text, _rule_style(line.sign))


def _frame(mark: str) -> dict[str, str]:
    """The border of a marked hypernode."""
    return {"stroke": MARKS[mark][0], "stroke-width": "4"}


def _rule_style(sign: str) -> dict[str, str]:
    """The style of a rule that came or went."""
    colour = {"fill": RULE_COLOURS[sign]} if sign else {}
    return colour | ({"text-decoration": "line-through"} if sign == GONE else {})


def _draw_link(parent: ET.Element, panel: Panel, link: Link) -> None:
    """A line from a row to the next, with an arrowhead where it reaches its hypernode."""
    kind, target = link.edges[0].kind, link.edges[0].target
    colour = colour_of(kind)
    group = ET.SubElement(parent, "g", {"class": kind, "stroke": colour})
    sources = ", ".join(panel.called(edge.source) for edge in link.edges)
    ET.SubElement(group, "title").text = f"{sources} → {panel.called(target)} ({kind})"
    draw_line(group, link, _dashes(kind), colour)


def _draw_legend(parent: ET.Element, y: float, fated: bool) -> None:
    """The kinds of edges; in the colour of those that stay, if colours say what became of them."""
    for kind, x in ((POSITIVE, MARGIN + 10), (NEGATIVE, MARGIN + 170)):
        colour = colour_of(f"{kind} {SAME}" if fated else kind)
        line = {"d": f"M{number(x)} {number(y)}h36", "stroke": colour, "stroke-width": "1.5"}
        ET.SubElement(parent, "path", line | _dashes(kind))
        head = f"M{number(x + 42)} {number(y)}l-9 -4v8z"
        ET.SubElement(parent, "path", {"d": head, "fill": colour})
        write(parent, x + 50, y + 4, LEGEND[kind], {})


def _draw_keys(
    parent: ET.Element, y: float, marks: Sequence[str], signs: Mapping[str, str]
) -> None:
    """The lines of the legend about a change, the first one at y."""
    x = MARGIN + 10
    for mark in marks:
        place = {"x": number(x + 2), "y": number(y - 6), "width": "38", "height": "12", "rx": "4"}
        ET.SubElement(parent, "rect", place | {"fill": "#ffffff"} | _frame(mark))
        write(parent, x + 50, y + 4, f"{mark}: {MARKS[mark][1]}", {})
        y += KEY
    for sign, said in signs.items():
        style = {"font-family": MONO} | _rule_style(sign)
        write(parent, x + 2, y + 4, f"{sign} {said}", style)
        y += KEY


def _dashes(kind: str) -> dict[str, str]:
    return {"stroke-dasharray": DASHES} if is_negative(kind) else {}
