"""The hyper rule dependency graph as a drawing: SVG, Mermaid, DOT, or text for a terminal.

A person sees strata as bands, hypernodes as boxes that hold their rules, positive edges solid and
negative edges dashed. Arrows point downwards, in the direction facts flow. The same graph gives
the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from xml.etree import ElementTree as ET

from zodiac_sql.change.change import AtWork
from zodiac_sql.errors import QueryError
from zodiac_sql.graph.hypergraph import Hypergraph, Hypernode
from zodiac_sql.read.drawing.layout import Box, Layout, Link, layout
from zodiac_sql.read.drawing.panel import (
    COLOURS,
    GONE,
    LEGEND,
    MARKS,
    NEGATIVE,
    POSITIVE,
    RULE_COLOURS,
    RULE_LEGEND,
    Panel,
    band,
    cells,
    compared,
    printable,
    used_marks,
)

DASHES = "6 4"
SANS = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
MONO = "Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
CELL = 7.3  # width of a monospace character of 12 pixels
LINE, TITLE, PADDING = 17.0, 26.0, 10.0
GUTTER = 88.0  # left of the boxes, for the names of the strata
MARGIN, FOOT = 12.0, 40.0
HEADING = 30.0  # above a panel, for its name
KEY = 22.0  # from a line of the legend to the next
NARROWEST, EMPTY = 480.0, 60.0  # the legend's width; the height of a panel without rules


@dataclass(frozen=True, slots=True)
class Before:
    """The HRDG before a change, and what became of its hypernodes: words by their number.

    The words are those of `panel.MARKS`; hypernodes without a word are as they were. `modules` are
    those that were at work.
    """

    graph: Hypergraph
    marks: Mapping[int, str] = field(default_factory=dict)
    modules: AtWork = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture of an HRDG, or of one before and after a change, side by side (paper 1, figure 3).

    `marks` say, of hypernodes after the change, where they come from, in the words of `Before`.
    Without `before` there is nothing to compare with, and marks are not drawn. `modules` are those
    at work in hypernodes.
    """

    graph: Hypergraph
    before: Before | None = None
    marks: Mapping[int, str] = field(default_factory=dict)
    modules: AtWork = field(default_factory=dict)

    def svg(self) -> str:
        """A complete SVG document that needs nothing from outside."""
        root = _svg(self._panels())
        ET.indent(root, " ")
        return ET.tostring(root, encoding="unicode") + "\n"

    def mermaid(self) -> str:
        """A Mermaid flowchart with a subgraph per stratum."""
        return "\n".join(_mermaid(self._panels())) + "\n"

    def dot(self) -> str:
        """A Graphviz digraph with a cluster per stratum."""
        return "\n".join(_dot(self._panels())) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the drawing in the format that the suffix names: .svg, .mmd or .dot.

        Raises QueryError for another suffix, OSError if the file cannot be written.
        """
        formats = {".svg": self.svg, ".mmd": self.mermaid, ".dot": self.dot}
        suffix = Path(path).suffix.lower()
        if suffix not in formats:
            raise QueryError(f"cannot draw to {str(path)!r}: the suffix must be .svg, .mmd or .dot")
        Path(path).write_text(formats[suffix](), encoding="utf-8", newline="\n")

    def _repr_svg_(self) -> str:
        return self.svg()

    def __str__(self) -> str:
        return _text_form(self._panels())

    def _panels(self) -> tuple[Panel, ...]:
        """What stands beside each other, from left to right."""
        now, then = Panel(self.graph, modules=self.modules), self.before
        if then is None:
            return (now,)
        old = Panel(then.graph, marks=then.marks, modules=then.modules)
        return compared(old, replace(now, marks=self.marks))


# Text.


def _text_form(panels: Sequence[Panel]) -> str:
    """A line per hypernode; the first columns are aligned, also from panel to panel."""
    starts = [[_start(panel, h) for h in panel.graph.hypernodes] for panel in panels]
    widths = [max(map(len, column)) for column in zip(*chain(*starts), strict=True)]
    blocks = []
    for panel, rows in zip(panels, starts, strict=True):
        lines = list(_lines(panel, rows, widths)) or ["no rules"]
        if panel.name:
            lines = [panel.name, *(f"  {line}" for line in lines)]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _start(panel: Panel, h: Hypernode) -> tuple[str, ...]:
    """The columns that are aligned; those empty in all lines are left out."""
    return h.name, f"stratum {h.stratum}", "recursive" if h.recursive else "", panel.mark(h)


def _lines(panel: Panel, starts: Sequence[tuple[str, ...]], widths: Sequence[int]) -> Iterator[str]:
    edges = panel.edges()
    for h, start in zip(panel.graph.hypernodes, starts, strict=True):
        columns = [text.ljust(width) for text, width in zip(start, widths, strict=True) if width]
        columns.append(", ".join(map(panel.named, h.rules)))
        columns.append("derives " + ", ".join(map(printable, h.derives)))
        if panel.at_work(h):
            columns.append("modules " + panel.at_work(h))
        negation = {POSITIVE: "", NEGATIVE: "not "}
        sources = [f"{negation[e.kind]}h{e.source}" for e in edges if e.target == h.id]
        if sources:
            columns.append("<- " + ", ".join(sources))
        yield "  ".join(columns)


# Mermaid.


def _mermaid(panels: Sequence[Panel]) -> Iterator[str]:
    yield from ("---", f'title: "solid: {LEGEND[POSITIVE]}, dashed: {LEGEND[NEGATIVE]}"')
    beside = len(panels) > 1
    yield from ("config:", "  flowchart:", "    wrappingWidth: 800", "---")
    yield "flowchart LR" if beside else "flowchart TB"
    for panel in panels:
        inside = _mermaid_nodes(panel)
        yield from _mermaid_group(panel.name, panel.name, inside) if panel.name else inside
    arrows = {POSITIVE: "-->", NEGATIVE: "-.->"}
    edges = [(panel, edge) for panel in panels for edge in panel.edges()]
    for index, (panel, edge) in enumerate(edges):
        source, target = panel.id(f"h{edge.source}"), panel.id(f"h{edge.target}")
        yield f"    {source} {arrows[edge.kind]} {target}"
        yield f"    linkStyle {index} stroke:{COLOURS[edge.kind]}"
    if beside:  # an edge nobody sees keeps them in this order
        yield "    " + " ~~~ ".join(panel.name for panel in panels)
    if any(panel.graph.hypernodes for panel in panels):
        yield "    classDef default text-align:left,font-family:monospace"
    for word in used_marks(panels):
        yield f"    classDef {word} stroke:{MARKS[word][0]},stroke-width:4px"


def _mermaid_nodes(panel: Panel) -> Iterator[str]:
    if not panel.graph.hypernodes:
        yield f'    {panel.id("empty")}["no rules"]'
    for stratum, hypernodes in panel.strata():
        nodes = (_mermaid_node(panel, h) for h in hypernodes)
        yield from _mermaid_group(panel.id(f"stratum_{stratum}"), f"stratum {stratum}", nodes)


def _mermaid_node(panel: Panel, hypernode: Hypernode) -> str:
    label = "<br/>".join(map(_mermaid_text, panel.shown_all(hypernode)))
    mark = panel.mark(hypernode)
    return f'    {panel.id(hypernode.name)}["{label}"]' + (f":::{mark}" if mark else "")


def _mermaid_group(name: str, title: str, inside: Iterable[str]) -> Iterator[str]:
    yield f'    subgraph {name}["{title}"]'
    yield "        direction TB"  # a subgraph without outer edges would run sideways
    yield from (f"    {line}" for line in inside)
    yield "    end"


def _mermaid_text(text: str) -> str:
    """Text inside a quoted label. Whatever Mermaid, Markdown or HTML may take as markup becomes a
    character code, which Mermaid writes as `#35;`.
    """
    # Besides special characters: web addresses, which Markdown makes links, and Mermaid's own
    # `style` and `classDef`, which lose a semicolon before character codes are read.
    markup = r"[^\w\s(),.:=?+∧∨¬…-]|_|(?<=www)\.|(?<=st)y(?=le)|(?<=class)D(?=ef)"
    # The sign of a rule would begin a list.
    markup += r"|^[-+](?= )"
    # A backslash and n, even as codes, are a line break to Mermaid: a space of no width parts them.
    parted = text.replace("\\n", "\\\u200bn")
    return re.sub(markup, lambda found: f"#{ord(found[0])};", parted)


# DOT.


def _dot(panels: Sequence[Panel]) -> Iterator[str]:
    yield "digraph hrdg {"
    yield f'    label="solid: {LEGEND[POSITIVE]}, dashed: {LEGEND[NEGATIVE]}"'
    yield '    fontname="Helvetica"'
    yield "    node [shape=box, style=filled, fillcolor=white, fontname=monospace, fontsize=11]"
    for panel in panels:
        inside = _dot_nodes(panel)
        heading = f'label="{panel.name}"'
        yield from _dot_cluster(panel.name, heading, inside) if panel.name else inside
    styles = {POSITIVE: "solid", NEGATIVE: "dashed"}
    for panel in panels:
        for edge in panel.edges():
            style = f'style={styles[edge.kind]}, color="{COLOURS[edge.kind]}"'
            yield f"    {panel.id(f'h{edge.source}')} -> {panel.id(f'h{edge.target}')} [{style}]"
    yield "}"


def _dot_nodes(panel: Panel) -> Iterator[str]:
    if not panel.graph.hypernodes:
        yield f'    {panel.id("empty")} [label="no rules", shape=plaintext]'
    for stratum, hypernodes in panel.strata():
        heading = f'label="stratum {stratum}"; style=filled; color="{band(stratum)}"'
        nodes = (_dot_node(panel, h) for h in hypernodes)
        yield from _dot_cluster(panel.id(f"stratum_{stratum}"), heading, nodes)


def _dot_node(panel: Panel, hypernode: Hypernode) -> str:
    label = "".join(_dot_text(line) + "\\l" for line in panel.shown_all(hypernode))
    full = "\\n".join(_dot_text(printable(str(rule))) for rule in hypernode.rules)
    mark = panel.mark(hypernode)
    border = f', color="{MARKS[mark][0]}", penwidth=4' if mark else ""
    return f'    {panel.id(hypernode.name)} [label="{label}", tooltip="{full}"{border}]'


def _dot_cluster(name: str, heading: str, inside: Iterable[str]) -> Iterator[str]:
    yield f"    subgraph cluster_{name} {{"
    yield f"        {heading}"
    yield from (f"    {line}" for line in inside)
    yield "    }"


def _dot_text(text: str) -> str:
    """Text inside a quoted string; Graphviz also reads HTML entities there."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")


# SVG.


def _svg(panels: Sequence[Panel]) -> ET.Element:
    if len(panels) == 1 and not panels[0].graph.hypernodes:
        root = _canvas(160, 60)
        _text(root, 80, 35, "no rules", {"text-anchor": "middle"})
        return root
    plans = [_plan(panel) for panel in panels]
    widths = [GUTTER + plan.width + 2 * MARGIN for plan in plans]
    widths[-1] += max(NARROWEST - sum(widths), 0.0)
    height = max(plan.height for plan in plans)
    top = MARGIN + (HEADING if len(panels) > 1 else 0.0)
    marks = used_marks(panels)
    signs = [panel.sign for panel in panels if panel.single]
    root = _canvas(sum(widths), top + height + FOOT + KEY * (len(marks) + len(signs)))
    left = 0.0
    for panel, plan, width in zip(panels, plans, widths, strict=True):
        page = ET.SubElement(root, "g", {"transform": f"translate({_n(left)} {_n(top)})"})
        _draw_panel(page, panel, plan, width)
        left += width
    if len(panels) > 1:
        page = ET.SubElement(root, "g", {"transform": f"translate(0 {_n(top)})"})
    _draw_legend(page, height + FOOT / 2)
    _draw_keys(page, height + FOOT / 2 + KEY, marks, signs)
    return root


def _plan(panel: Panel) -> Layout:
    """Where the hypernodes of a panel stand."""
    hypernodes = panel.graph.hypernodes
    if not hypernodes:
        return Layout({}, {}, (), 0.0, EMPTY)
    sizes = {h.id: _size(panel, h) for h in hypernodes}
    return layout(sizes, {h.id: h.stratum for h in hypernodes}, panel.edges())


def _draw_panel(page: ET.Element, panel: Panel, plan: Layout, width: float) -> None:
    """The hypernodes of a panel, the lines between them, and the panel's name above them."""
    if panel.name:
        page.attrib |= {"class": "panel", "id": panel.name}
        _text(page, MARGIN, -12, panel.name, {"font-weight": "bold", "font-size": "16"})
    if not panel.graph.hypernodes:
        _text(page, width / 2, EMPTY / 2, "no rules", {"text-anchor": "middle"})
    _draw_bands(page, plan, width)
    inner = ET.SubElement(page, "g", {"transform": f"translate({_n(GUTTER)} 0)"})
    for link in plan.links:
        _draw_link(inner, link)
    for h in panel.graph.hypernodes:
        _draw_hypernode(inner, panel, h, plan.boxes[h.id])


def _canvas(width: float, height: float) -> ET.Element:
    """An empty white drawing."""
    size = {"width": _n(width), "height": _n(height)}
    frame = {"xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {_n(width)} {_n(height)}"}
    root = ET.Element("svg", frame | size | {"font-family": SANS, "font-size": "12"})
    ET.SubElement(root, "title").text = "Hyper rule dependency graph"
    ET.SubElement(root, "rect", size | {"fill": "#ffffff"})
    return root


def _size(panel: Panel, hypernode: Hypernode) -> tuple[float, float]:
    """Width and height of a hypernode's box."""
    lines = [cells(line) for _, line in panel.lines(hypernode)]
    longest = max(lines)
    width = max(longest, cells(panel.title(hypernode)) + 2) * CELL + 2 * PADDING
    return width, TITLE + len(lines) * LINE + PADDING


def _draw_bands(parent: ET.Element, plan: Layout, width: float) -> None:
    """A light band with a label behind the hypernodes of each stratum."""
    for stratum, (top, bottom) in sorted(plan.bands.items()):
        place = {"x": _n(MARGIN), "y": _n(top), "rx": "6", "fill": band(stratum)}
        size = {"width": _n(width - 2 * MARGIN), "height": _n(bottom - top)}
        ET.SubElement(parent, "rect", {"class": "stratum"} | place | size)
        _text(parent, MARGIN + 10, top + 22, f"stratum {stratum}", {"fill": "#555555"})


def _draw_hypernode(parent: ET.Element, panel: Panel, hypernode: Hypernode, box: Box) -> None:
    """A box with the hypernode's name, its modules and its rules; tooltips have them in full."""
    group = ET.SubElement(parent, "g", {"class": "hypernode", "id": panel.id(hypernode.name)})
    place = {"x": _n(box.x), "y": _n(box.y), "width": _n(box.width), "height": _n(box.height)}
    border = {"fill": "#ffffff", "stroke": "#333333", "rx": "4"}
    if hypernode.recursive:
        border["stroke-width"] = "2"
    mark = panel.mark(hypernode)
    if mark:
        border |= _frame(mark)
    ET.SubElement(group, "rect", place | border)
    left, right, line = box.x + PADDING, box.x + box.width - PADDING, box.y + 18
    name = f"{hypernode.name} {mark}".rstrip()
    _text(group, left, line, name, {"font-weight": "bold", "font-size": "13"})
    tag = panel.tag(hypernode)
    if tag:
        entry = ET.SubElement(group, "g", {"class": "modules", "font-family": MONO})
        ET.SubElement(entry, "title").text = panel.at_work(hypernode)
        _text(entry, right, line, tag, {"text-anchor": "end"})
        right -= (cells(tag) + 1) * CELL
    if hypernode.recursive:
        _text(group, right, line, "recursive", {"text-anchor": "end", "font-style": "italic"})
    for index, (rule, shown) in enumerate(panel.lines(hypernode), 1):
        entry = ET.SubElement(group, "g", {"class": "rule", "font-family": MONO})
        ET.SubElement(entry, "title").text = printable(str(rule))
        style = _rule_style(panel.sign_of(rule))
        _text(entry, left, line + 3 + index * LINE, shown, style)


def _frame(mark: str) -> dict[str, str]:
    """The border of a marked hypernode."""
    return {"stroke": MARKS[mark][0], "stroke-width": "4"}


def _rule_style(sign: str) -> dict[str, str]:
    """How a rule is written that came or went."""
    colour = {"fill": RULE_COLOURS[sign]} if sign else {}
    return colour | ({"text-decoration": "line-through"} if sign == GONE else {})


def _draw_link(parent: ET.Element, link: Link) -> None:
    """A line from a row to the next, with an arrowhead where it reaches its hypernode."""
    kind, target = link.edges[0].kind, link.edges[0].target
    colour = COLOURS[kind]
    group = ET.SubElement(parent, "g", {"class": kind, "stroke": colour})
    sources = ", ".join(f"h{edge.source}" for edge in link.edges)
    ET.SubElement(group, "title").text = f"{sources} → h{target} ({kind})"
    end = link.y1 - 6 if link.last else link.y1
    middle = (link.leave + link.arrive) / 2
    curve = f"C{_n(link.x0)} {_n(middle)} {_n(link.x1)} {_n(middle)}"
    path = f"M{_n(link.x0)} {_n(link.y0)}V{_n(link.leave)}{curve} {_n(link.x1)} {_n(link.arrive)}"
    line = {"d": f"{path}V{_n(end)}", "fill": "none", "stroke-width": "1.5"}
    ET.SubElement(group, "path", line | _dashes(kind))
    if link.last:
        head = f"M{_n(link.x1)} {_n(link.y1)}l-4 -9h8z"
        ET.SubElement(group, "path", {"d": head, "fill": colour, "stroke": "none"})


def _draw_legend(parent: ET.Element, y: float) -> None:
    for kind, x in ((POSITIVE, MARGIN + 10), (NEGATIVE, MARGIN + 170)):
        line = {"d": f"M{_n(x)} {_n(y)}h36", "stroke": COLOURS[kind], "stroke-width": "1.5"}
        ET.SubElement(parent, "path", line | _dashes(kind))
        head = f"M{_n(x + 42)} {_n(y)}l-9 -4v8z"
        ET.SubElement(parent, "path", {"d": head, "fill": COLOURS[kind]})
        _text(parent, x + 50, y + 4, LEGEND[kind], {})


def _draw_keys(parent: ET.Element, y: float, marks: Sequence[str], signs: Sequence[str]) -> None:
    """The lines of the legend about a change, the first one at y."""
    x = MARGIN + 10
    for mark in marks:
        place = {"x": _n(x + 2), "y": _n(y - 6), "width": "38", "height": "12", "rx": "4"}
        ET.SubElement(parent, "rect", place | {"fill": "#ffffff"} | _frame(mark))
        _text(parent, x + 50, y + 4, f"{mark}: {MARKS[mark][1]}", {})
        y += KEY
    for sign in signs:
        style = {"font-family": MONO} | _rule_style(sign)
        _text(parent, x + 2, y + 4, f"{sign} {RULE_LEGEND[sign]}", style)
        y += KEY


def _dashes(kind: str) -> dict[str, str]:
    return {"stroke-dasharray": DASHES} if kind == NEGATIVE else {}


def _text(parent: ET.Element, x: float, y: float, text: str, style: dict[str, str]) -> None:
    ET.SubElement(parent, "text", {"x": _n(x), "y": _n(y)} | style).text = text


def _n(number: float) -> str:
    """A coordinate, to a tenth of a pixel."""
    return f"{number:.1f}".removesuffix(".0")
