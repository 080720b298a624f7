"""A drawing as a Graphviz digraph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.read.drawing.contents import EXPLICIT, Input
from zodiac_sql.read.drawing.panel import (
    LEGEND,
    MARKS,
    NEGATIVE,
    POSITIVE,
    Panel,
    band,
    colour_of,
    is_negative,
    printable,
)


def dot_lines(panels: Sequence[Panel]) -> Iterator[str]:
    yield "digraph hrdg {"
    yield f'    label="solid: {LEGEND[POSITIVE]}, dashed: {LEGEND[NEGATIVE]}"'
    yield '    fontname="Helvetica"'
    yield "    node [shape=box, style=filled, fillcolor=white, fontname=monospace, fontsize=11]"
    for panel in panels:
        inside = _dot_nodes(panel)
        heading = f'label="{panel.name}"'
        yield from _dot_cluster(panel.name, heading, inside) if panel.name else inside
    styles = {False: "solid", True: "dashed"}
    for panel in panels:
        for edge in panel.edges():
            style = f'style={styles[is_negative(edge.kind)]}, color="{colour_of(edge.kind)}"'
            yield f"    {panel.node(edge.source)} -> {panel.node(edge.target)} [{style}]"
    yield "}"


def _dot_nodes(panel: Panel) -> Iterator[str]:
    if not panel.graph.hypernodes:
        yield f'    {panel.id("empty")} [label="no rules", shape=plaintext]'
    if inputs := panel.inputs:
        heading = f'label="explicit"; style=filled; color="{band(EXPLICIT)}"'
        yield from _dot_cluster(panel.id("explicit"), heading, (_input(panel, b) for b in inputs))
    for stratum, hypernodes in panel.strata():
        heading = f'label="stratum {stratum}"; style=filled; color="{band(stratum)}"'
        nodes = (_dot_node(panel, h) for h in hypernodes)
        yield from _dot_cluster(panel.id(f"stratum_{stratum}"), heading, nodes)


def _dot_node(panel: Panel, hypernode: Hypernode) -> str:
    label = "".join(dot_text(line) + "\\l" for line in panel.shown_all(hypernode))
    full = "\\n".join(dot_text(printable(str(rule))) for rule in hypernode.rules)
    mark = panel.mark(hypernode)
    border = f', color="{MARKS[mark][0]}", penwidth=4' if mark else ""
    return f'    {panel.id(hypernode.name)} [label="{label}", tooltip="{full}"{border}]'


def _input(panel: Panel, box: Input) -> str:
    label = "".join(dot_text(line.text) + "\\l" for line in panel.input_lines(box))
    look = f'style="filled,rounded", fillcolor="{band(0)}"'
    return f'    {panel.node(box.id)} [label="{label}", {look}]'


def _dot_cluster(name: str, heading: str, inside: Iterable[str]) -> Iterator[str]:
    yield f"    subgraph cluster_{name} {{"
    yield f"        {heading}"
    yield from (f"    {line}" for line in inside)
    yield "    }"


def dot_text(text: str) -> str:
    """Text inside a quoted string; Graphviz also reads HTML entities there."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
