"""The hyper rule dependency graph as a drawing: SVG, Mermaid, DOT, or text for a terminal.

Strata are bands, hypernodes are boxes that hold their predicates or rules, positive edges are solid
and negative edges dashed. Arrows point downwards, in the direction facts flow. The same graph gives
the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from zodiac_sql.change.change import AtWork
from zodiac_sql.errors import QueryError
from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.paths import impossible
from zodiac_sql.read.drawing.contents import Contents
from zodiac_sql.read.drawing.dot import dot_lines
from zodiac_sql.read.drawing.merged import merged
from zodiac_sql.read.drawing.mermaid import mermaid_lines
from zodiac_sql.read.drawing.panel import Panel, compared
from zodiac_sql.read.drawing.svg import svg_document
from zodiac_sql.read.drawing.text import text_form


@dataclass(frozen=True, slots=True)
class Before:
    """The HRDG before a change, and what became of its hypernodes: a word for each number.

    The words are those of `panel.MARKS`; hypernodes without a word are unchanged. `modules` are the
    ones that were at work.
    """

    graph: Hypergraph
    marks: Mapping[int, str] = field(default_factory=dict)
    modules: AtWork = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture of an HRDG, or of one before and after a change (paper 1, figure 3).

    `marks` tell where the hypernodes after the change come from, in the words of `Before`. Without
    `before` there is nothing to compare with, and marks are not drawn. `modules` are the ones at
    work in hypernodes. With `contents`, boxes have predicates with the numbers of their facts, and
    before and after are one graph; without, boxes have rules, and the two stand side by side.
    """

    graph: Hypergraph
    before: Before | None = None
    marks: Mapping[int, str] = field(default_factory=dict)
    modules: AtWork = field(default_factory=dict)
    contents: Contents | None = None

    def svg(self) -> str:
        """A complete SVG document that needs nothing from outside."""
        return svg_document(self._pictured())

    def mermaid(self) -> str:
        """A Mermaid flowchart with a subgraph per stratum."""
        return "\n".join(mermaid_lines(self._pictured())) + "\n"

    def dot(self) -> str:
        """A Graphviz digraph with a cluster per stratum."""
        return "\n".join(dot_lines(self._pictured())) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the drawing in the format that the suffix names: .svg, .mmd or .dot.

        Raises QueryError for another suffix, or a path that no file can have, OSError if the file
        cannot be written.
        """
        formats = {".svg": self.svg, ".mmd": self.mermaid, ".dot": self.dot}
        suffix = Path(path).suffix.lower()
        if suffix not in formats:
            raise QueryError(f"cannot draw to {str(path)!r}: the suffix must be .svg, .mmd or .dot")
        if said := impossible(path):
            raise QueryError(f"{path} {said}")
        Path(path).write_text(formats[suffix](), encoding="utf-8", newline="\n")

    def _repr_svg_(self) -> str:
        return self.svg()

    def __str__(self) -> str:
        return text_form(self._panels())

    def _pictured(self) -> tuple[Panel, ...]:
        """The panels of a picture."""
        panels = self._panels()
        if self.contents is None:
            return panels
        if len(panels) == 2:
            return (merged(*panels, self.contents),)
        return tuple(replace(panel, contents=self.contents) for panel in panels)

    def _panels(self) -> tuple[Panel, ...]:
        """The panels that stand side by side, from left to right."""
        now, then = Panel(self.graph, modules=self.modules), self.before
        if then is None:
            return (now,)
        old = Panel(then.graph, marks=then.marks, modules=then.modules)
        return compared(old, replace(now, marks=self.marks))
