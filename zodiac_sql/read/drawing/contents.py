"""What the boxes of a drawing say: rules, or predicates with the numbers of their facts.

With predicates, what is explicit comes from boxes of its own, above all others. Predicates that are
read by the same hypernodes share one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.language.prefixed import prefixed_iri

LISTED = 12
"""So many predicates of a box are named."""

EXPLICIT = -1
"""The stratum of boxes of explicit facts: above all others."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a box: what it shows, what it says in full, and whether it came or went."""

    text: str
    full: str
    sign: str = ""


@dataclass(frozen=True, slots=True)
class Input:
    """A box of explicit facts: its number, which no hypernode has, and its predicates."""

    id: int
    predicates: tuple[str, ...]
    positive: frozenset[int]
    """The numbers of the hypernodes that read them."""
    negative: frozenset[int]
    """Those that read them under a negation, or in an aggregate."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What is to be said of predicates."""

    derived: Mapping[tuple[int, str], str] = field(default_factory=dict)
    """The number of facts that a hypernode derives of a predicate, or what has moved."""
    explicit: Mapping[str, str] = field(default_factory=dict)
    """The same of explicit facts: of all predicates that have some, or that nothing derives."""
    prefixes: Mapping[str, str] = field(default_factory=dict)

    def shown(self, predicate: str, number: str) -> str:
        """A predicate and its number."""
        return f"{prefixed_iri(predicate, self.prefixes)} {number}".rstrip()

    def inputs(self, graph: Hypergraph) -> list[Input]:
        """The boxes of explicit facts, by the hypernodes that read them."""
        found: dict[tuple[frozenset[int], frozenset[int]], list[str]] = defaultdict(list)
        for name in self.explicit:
            readers = graph.readers.get(name, ())
            positive = {h.id for h in readers if any(name in rule.positive() for rule in h.rules)}
            negative = {h.id for h in readers if any(name in rule.negative() for rule in h.rules)}
            if positive or negative:
                found[frozenset(positive), frozenset(negative)].append(name)
        return [
            Input(-number, tuple(names), *readers)
            for number, (readers, names) in enumerate(found.items(), 1)
        ]

    def lines_of(self, box: Input) -> list[Line]:
        """The lines of a box of explicit facts."""
        texts = [self.shown(name, self.explicit[name]) for name in box.predicates]
        lines = [Line(text, text) for text in texts[:LISTED]]
        if more := texts[LISTED:]:
            lines.append(Line(f"… and {len(more):,} more", "\n".join(more)))
        return lines
