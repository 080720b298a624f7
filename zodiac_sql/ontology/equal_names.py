"""owl:sameAs between classes or between properties: it makes them equivalent.

By the rules eq-rep-p and eq-rep-o, what is said of one holds for the other. For things of which
only members and pairs count, this is what owl:equivalentClass and owl:equivalentProperty say.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from zodiac_sql.ontology import vocabulary as v
from zodiac_sql.ontology.graph import Graph
from zodiac_sql.ontology.triples import Node, Triple, is_blank

_EQUIVALENT = {1: f"{v.OWL}equivalentClass", 2: f"{v.OWL}equivalentProperty"}


def equivalences(graph: Graph) -> dict[Triple, Triple]:
    """The statements with owl:sameAs that are about classes or properties, and what they mean."""
    same = [t for t in graph.uses(v.SAME_AS) if isinstance(t.object, str)]
    kinds = _kinds(graph, same) if same else {}
    return {
        triple: replace(triple, predicate=_EQUIVALENT[kind], written=triple.predicate)
        for triple in same
        if (kind := kinds.get(triple.subject) or kinds.get(str(triple.object)))
    }


def _kinds(graph: Graph, same: Iterable[Triple]) -> dict[Node, int]:
    """The arities of names, also of those that are only said to be the same as others."""
    found = dict(graph.arities)
    while True:
        new: dict[Node, int] = {}
        for triple in same:
            for one, other in (
                (triple.subject, str(triple.object)),
                (str(triple.object), triple.subject),
            ):
                if one in found and other not in found and not is_blank(other):
                    new[other] = found[one]
        if not new:
            return found
        found |= new
