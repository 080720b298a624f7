"""A drawing as a Mermaid flowchart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.read.drawing.contents import Input
from zodiac_sql.read.drawing.panel import (
    LEGEND,
    MARKS,
    NEGATIVE,
    POSITIVE,
    Panel,
    colour_of,
    is_negative,
    used_marks,
)


def mermaid_lines(panels: Sequence[Panel]) -> Iterator[str]:
    yield from ("---", f'title: "solid: {LEGEND[POSITIVE]}, dashed: {LEGEND[NEGATIVE]}"')
    beside = len(panels) > 1
    yield from ("config:", "  flowchart:", "    wrappingWidth: 800", "---")
    yield "flowchart LR" if beside else "flowchart TB"
    for panel in panels:
        inside = _mermaid_nodes(panel)
        yield from _mermaid_group(panel.name, panel.name, inside) if panel.name else inside
    arrows = {False: "-->", True: "-.->"}
    edges = [(panel, edge) for panel in panels for edge in panel.edges()]
    for index, (panel, edge) in enumerate(edges):
        source, target = panel.node(edge.source), panel.node(edge.target)
        yield f"    {source} {arrows[is_negative(edge.kind)]} {target}"
        yield f"    linkStyle {index} stroke:{colour_of(edge.kind)}"
    if beside:  # an invisible edge keeps the panels in this order
        yield "    " + " ~~~ ".join(panel.name for panel in panels)
    if any(panel.graph.hypernodes for panel in panels):
        yield "    classDef default text-align:left,font-family:monospace"
    for word in used_marks(panels):
        yield f"    classDef {word} stroke:{MARKS[word][0]},stroke-width:4px"


def _mermaid_nodes(panel: Panel) -> Iterator[str]:
    if not panel.graph.hypernodes:
        yield f'    {panel.id("empty")}["no rules"]'
    if inputs := panel.inputs:
        yield from _mermaid_group(
            panel.id("explicit"), "explicit", (_input(panel, b) for b in inputs)
        )
    for stratum, hypernodes in panel.strata():
        nodes = (_mermaid_node(panel, h) for h in hypernodes)
        yield from _mermaid_group(panel.id(f"stratum_{stratum}"), f"stratum {stratum}", nodes)


def _mermaid_node(panel: Panel, hypernode: Hypernode) -> str:
    label = "<br/>".join(map(mermaid_text, panel.shown_all(hypernode)))
    mark = panel.mark(hypernode)
    return f'    {panel.id(hypernode.name)}["{label}"]' + (f":::{mark}" if mark else "")


def _input(panel: Panel, box: Input) -> str:
    label = "<br/>".join(mermaid_text(line.text) for line in panel.input_lines(box))
    return f'    {panel.node(box.id)}("{label}")'


def _mermaid_group(name: str, title: str, inside: Iterable[str]) -> Iterator[str]:
    yield f'    subgraph {name}["{title}"]'
    yield "        direction TB"  # a subgraph without outer edges would run sideways
    yield from (f"    {line}" for line in inside)
    yield "    end"


def mermaid_text(text: str) -> str:
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
