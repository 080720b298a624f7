"""A drawing as text for a terminal: a line per hypernode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.read.drawing.panel import NEGATIVE, POSITIVE, Panel, printable


def text_form(panels: Sequence[Panel]) -> str:
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
    """The aligned columns; columns that are empty in all lines are left out."""
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
