"""The hyper rule dependency graph as a drawing: SVG, Mermaid, DOT, or text for a terminal.

A person sees strata as bands, hypernodes as boxes that hold their rules, positive edges solid and
negative edges dashed. Arrows point downwards, in the direction facts flow. The same graph gives
the same bytes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree as ET

from zodiac_sql.errors import QueryError
from zodiac_sql.hypernodes import Hypergraph, Hypernode
from zodiac_sql.layout import Box, Edge, Layout, Link, layout
from zodiac_sql.rules import Rule

LONGEST = 60  # characters of a rule's text that are shown
POSITIVE, NEGATIVE = "positive", "negative"
# Blue and vermilion of Okabe and Ito: apart for every eye, and in grey.
COLOURS = {POSITIVE: "#0072b2", NEGATIVE: "#c44e00"}
LEGEND = {POSITIVE: "positive edge", NEGATIVE: "negative edge (negation or aggregate)"}
DASHES = "6 4"
BANDS = ("#eef2f6", "#f6f2e9")
SANS = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
MONO = "Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
CELL = 7.3  # width of a monospace character of 12 pixels
LINE, TITLE, PADDING = 17.0, 26.0, 10.0
GUTTER = 88.0  # left of the boxes, for the names of the strata
MARGIN, FOOT = 12.0, 40.0


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture of an HRDG."""

    graph: Hypergraph

    def svg(self) -> str:
        """A complete SVG document that needs nothing from outside."""
        root = _svg(self.graph)
        ET.indent(root, " ")
        return ET.tostring(root, encoding="unicode") + "\n"

    def mermaid(self) -> str:
        """A Mermaid flowchart with a subgraph per stratum."""
        return "\n".join(_mermaid(self.graph)) + "\n"

    def dot(self) -> str:
        """A Graphviz digraph with a cluster per stratum."""
        return "\n".join(_dot(self.graph)) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the drawing in the format that the suffix of the path names."""
        formats = {".svg": self.svg, ".mmd": self.mermaid, ".dot": self.dot}
        suffix = Path(path).suffix.lower()
        if suffix not in formats:
            raise QueryError(f"cannot draw to {str(path)!r}: the suffix must be .svg, .mmd or .dot")
        Path(path).write_text(formats[suffix](), encoding="utf-8", newline="\n")

    def _repr_svg_(self) -> str:
        return self.svg()

    def __str__(self) -> str:
        return "\n".join(_lines(self.graph)) or "no rules"


# What all formats show.


def _edges(graph: Hypergraph) -> list[Edge]:
    """All edges in the order of the hypernodes, positive ones first."""
    place = {h.id: index for index, h in enumerate(graph.hypernodes)}
    kinds = ((POSITIVE, graph.positive), (NEGATIVE, graph.negative))
    return [
        Edge(source, target, kind)
        for kind, pairs in kinds
        for source, target in sorted(pairs, key=lambda pair: (place[pair[0]], place[pair[1]]))
    ]


def _strata(graph: Hypergraph) -> Iterator[tuple[int, list[Hypernode]]]:
    """Each stratum with its hypernodes in order."""
    ordered = sorted(graph.hypernodes, key=lambda h: h.stratum)
    for stratum, hypernodes in groupby(ordered, key=lambda h: h.stratum):
        yield stratum, list(hypernodes)


def _title(hypernode: Hypernode) -> str:
    return f"{hypernode.name} recursive" if hypernode.recursive else hypernode.name


def _shown(rule: Rule) -> str:
    """The rule on one line, cut if it is long."""
    text = _printable(rule.text)
    cut = text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"
    return f"{_printable(rule.name)}: {cut}"


def _printable(text: str) -> str:
    """The text on one line, without characters that XML or a terminal cannot hold."""
    line = " ".join(text.split())
    return re.sub(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", "\ufffd", line)


# Text.


def _lines(graph: Hypergraph) -> Iterator[str]:
    """A line per hypernode; the first columns are aligned."""
    edges = _edges(graph)
    starts = [
        (h.name, f"stratum {h.stratum}", "recursive" if h.recursive else "")
        for h in graph.hypernodes
    ]
    widths = [max(map(len, column)) for column in zip(*starts, strict=True)]
    for h, start in zip(graph.hypernodes, starts, strict=True):
        columns = [field.ljust(width) for field, width in zip(start, widths, strict=True) if width]
        columns.append(", ".join(_printable(rule.name) for rule in h.rules))
        columns.append("derives " + ", ".join(map(_printable, h.derives)))
        marks = {POSITIVE: "", NEGATIVE: "not "}
        sources = [f"{marks[e.kind]}h{e.source}" for e in edges if e.target == h.id]
        if sources:
            columns.append("<- " + ", ".join(sources))
        yield "  ".join(columns)


# Mermaid.


def _mermaid(graph: Hypergraph) -> Iterator[str]:
    yield from ("---", f'title: "solid: {LEGEND[POSITIVE]}, dashed: {LEGEND[NEGATIVE]}"')
    yield from ("config:", "  flowchart:", "    wrappingWidth: 800", "---", "flowchart TB")
    if not graph.hypernodes:
        yield '    empty["no rules"]'
    for stratum, hypernodes in _strata(graph):
        yield f'    subgraph stratum_{stratum}["stratum {stratum}"]'
        yield "        direction TB"  # a subgraph without outer edges would run sideways
        for h in hypernodes:
            lines = map(_mermaid_text, (_title(h), *map(_shown, h.rules)))
            yield f'        {h.name}["{"<br/>".join(lines)}"]'
        yield "    end"
    arrows = {POSITIVE: "-->", NEGATIVE: "-.->"}
    for index, edge in enumerate(_edges(graph)):
        yield f"    h{edge.source} {arrows[edge.kind]} h{edge.target}"
        yield f"    linkStyle {index} stroke:{COLOURS[edge.kind]}"
    if graph.hypernodes:
        yield "    classDef default text-align:left,font-family:monospace"


def _mermaid_text(text: str) -> str:
    """Text inside a quoted label. Whatever Mermaid, Markdown or HTML may take as markup becomes a
    character code, which Mermaid writes as `#35;`.
    """
    # Besides special characters: web addresses, which Markdown makes links, and Mermaid's own
    # `style` and `classDef`, which lose a semicolon before character codes are read.
    markup = r"[^\w\s(),.:=?+∧∨¬…-]|_|(?<=www)\.|(?<=st)y(?=le)|(?<=class)D(?=ef)"
    # A backslash and n, even as codes, are a line break to Mermaid: a space of no width parts them.
    parted = text.replace("\\n", "\\\u200bn")
    return re.sub(markup, lambda found: f"#{ord(found[0])};", parted)


# DOT.


def _dot(graph: Hypergraph) -> Iterator[str]:
    yield "digraph hrdg {"
    yield f'    label="solid: {LEGEND[POSITIVE]}, dashed: {LEGEND[NEGATIVE]}"'
    yield '    fontname="Helvetica"'
    yield "    node [shape=box, style=filled, fillcolor=white, fontname=monospace, fontsize=11]"
    if not graph.hypernodes:
        yield '    empty [label="no rules", shape=plaintext]'
    for stratum, hypernodes in _strata(graph):
        yield f"    subgraph cluster_stratum_{stratum} {{"
        yield f'        label="stratum {stratum}"; style=filled; color="{_band(stratum)}"'
        for h in hypernodes:
            label = "".join(_dot_text(line) + "\\l" for line in (_title(h), *map(_shown, h.rules)))
            full = "\\n".join(_dot_text(_printable(str(rule))) for rule in h.rules)
            yield f'        {h.name} [label="{label}", tooltip="{full}"]'
        yield "    }"
    styles = {POSITIVE: "solid", NEGATIVE: "dashed"}
    for edge in _edges(graph):
        style = f'style={styles[edge.kind]}, color="{COLOURS[edge.kind]}"'
        yield f"    h{edge.source} -> h{edge.target} [{style}]"
    yield "}"


def _dot_text(text: str) -> str:
    """Text inside a quoted string; Graphviz also reads HTML entities there."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")


# SVG.


def _svg(graph: Hypergraph) -> ET.Element:
    if not graph.hypernodes:
        root = _canvas(160, 60)
        _text(root, 80, 35, "no rules", {"text-anchor": "middle"})
        return root
    plan = layout(
        {h.id: _size(h) for h in graph.hypernodes},
        {h.id: h.stratum for h in graph.hypernodes},
        _edges(graph),
    )
    width = max(GUTTER + plan.width + 2 * MARGIN, 480.0)
    root = _canvas(width, plan.height + FOOT + MARGIN)
    page = ET.SubElement(root, "g", {"transform": f"translate(0 {_n(MARGIN)})"})
    _draw_bands(page, plan, width)
    inner = ET.SubElement(page, "g", {"transform": f"translate({_n(GUTTER)} 0)"})
    for link in plan.links:
        _draw_link(inner, link)
    for h in graph.hypernodes:
        _draw_hypernode(inner, h, plan.boxes[h.id])
    _draw_legend(page, plan.height + FOOT / 2)
    return root


def _canvas(width: float, height: float) -> ET.Element:
    """An empty white drawing."""
    size = {"width": _n(width), "height": _n(height)}
    frame = {"xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {_n(width)} {_n(height)}"}
    root = ET.Element("svg", frame | size | {"font-family": SANS, "font-size": "12"})
    ET.SubElement(root, "title").text = "Hyper rule dependency graph"
    ET.SubElement(root, "rect", size | {"fill": "#ffffff"})
    return root


def _size(hypernode: Hypernode) -> tuple[float, float]:
    """Width and height of a hypernode's box."""
    cells = max(_cells(_shown(rule)) for rule in hypernode.rules)
    width = max(cells, len(_title(hypernode)) + 2) * CELL + 2 * PADDING
    return width, TITLE + len(hypernode.rules) * LINE + PADDING


def _cells(text: str) -> int:
    """Width in monospace characters; East Asian ones are twice as wide."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _draw_bands(parent: ET.Element, plan: Layout, width: float) -> None:
    """A light band with a label behind the hypernodes of each stratum."""
    for stratum, (top, bottom) in sorted(plan.bands.items()):
        place = {"x": _n(MARGIN), "y": _n(top), "rx": "6", "fill": _band(stratum)}
        size = {"width": _n(width - 2 * MARGIN), "height": _n(bottom - top)}
        ET.SubElement(parent, "rect", {"class": "stratum"} | place | size)
        _text(parent, MARGIN + 10, top + 22, f"stratum {stratum}", {"fill": "#555555"})


def _band(stratum: int) -> str:
    return BANDS[stratum % len(BANDS)]


def _draw_hypernode(parent: ET.Element, hypernode: Hypernode, box: Box) -> None:
    """A box with the hypernode's name and its rules; the full rules are tooltips."""
    group = ET.SubElement(parent, "g", {"class": "hypernode", "id": hypernode.name})
    place = {"x": _n(box.x), "y": _n(box.y), "width": _n(box.width), "height": _n(box.height)}
    border = {"fill": "#ffffff", "stroke": "#333333", "rx": "4"}
    if hypernode.recursive:
        border["stroke-width"] = "2"
    ET.SubElement(group, "rect", place | border)
    left, right, line = box.x + PADDING, box.x + box.width - PADDING, box.y + 18
    _text(group, left, line, hypernode.name, {"font-weight": "bold", "font-size": "13"})
    if hypernode.recursive:
        _text(group, right, line, "recursive", {"text-anchor": "end", "font-style": "italic"})
    for index, rule in enumerate(hypernode.rules, 1):
        entry = ET.SubElement(group, "g", {"class": "rule", "font-family": MONO})
        ET.SubElement(entry, "title").text = _printable(str(rule))
        _text(entry, left, line + 3 + index * LINE, _shown(rule), {})


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


def _dashes(kind: str) -> dict[str, str]:
    return {"stroke-dasharray": DASHES} if kind == NEGATIVE else {}


def _text(parent: ET.Element, x: float, y: float, text: str, style: dict[str, str]) -> None:
    ET.SubElement(parent, "text", {"x": _n(x), "y": _n(y)} | style).text = text


def _n(number: float) -> str:
    """A coordinate, to a tenth of a pixel."""
    return f"{number:.1f}".removesuffix(".0")
