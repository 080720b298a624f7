"""Classes and class expressions as a graph: an edge goes from a class to one that contains it.

Edges come from axioms, from the structure of expressions (an intersection is below its members, the
members of a union are below it), and from what the ontology implies for expressions: `p some A` is
below `p some B` if A is below B (schema.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from zodiac_sql.ontology import vocabulary as v
from zodiac_sql.ontology.graph import Graph, Property
from zodiac_sql.ontology.triples import Node, Triple, is_blank


@dataclass(frozen=True, slots=True)
class SubclassEdge:
    """`sub` is below `sup`, by a rule of the W3C.

    If `implied`, whatever makes something a member of the expression `sub` makes it a member of
    `sup` anyway; only what is known of `sub` for other reasons must be handed on.
    """

    sub: Node
    sup: Node
    w3c: str
    axiom: Triple | None = None
    implied: bool = False

    @property
    def by_schema(self) -> bool:
        """Whether the edge follows from others: then so does what follows from `sup` itself."""
        return self.w3c.startswith("scm-")


@dataclass(frozen=True, slots=True)
class End:
    """All things that stand at one end of a property: what domains and ranges speak of."""

    property: Property


class ClassGraph:
    """The classes of an ontology and the edges between them."""

    def __init__(self, graph: Graph, wider: Iterable[tuple[Node, Node, str]]) -> None:
        self.graph = graph
        self.ends: dict[Node, End] = {}
        self._out: dict[Node, dict[SubclassEdge, None]] = defaultdict(dict)
        self._in: dict[Node, dict[SubclassEdge, None]] = defaultdict(dict)
        for edge in [*self._axioms(), *self._structure(), *self._ends()]:
            self._add(edge)
        for sub, sup, w3c in wider:
            self._add(SubclassEdge(sub, sup, w3c, implied=True))

    def out_of(self, node: Node) -> Iterable[SubclassEdge]:
        """The edges to classes above."""
        return self._out.get(node, ())

    def into(self, node: Node) -> Iterable[SubclassEdge]:
        """The edges from classes below."""
        return self._in.get(node, ())

    def nodes(self) -> list[Node]:
        """All classes and expressions, in the order of the files."""
        found = dict.fromkeys(self.ends)
        for triple in self.graph.triples:
            if triple.predicate in _MAKES:
                found[triple.subject] = None
        found.update(dict.fromkeys(self._out))
        return list(found)

    def is_named(self, node: Node) -> bool:
        """Whether a class has a name."""
        return not is_blank(node) and node not in self.ends

    def _add(self, edge: SubclassEdge) -> None:
        if edge.sub != edge.sup and edge.sup != v.THING and edge.sub != v.NOTHING:
            self._out[edge.sub][edge] = None
            self._in[edge.sup][edge] = None

    def _axioms(self) -> Iterator[SubclassEdge]:
        for triple in self.graph.uses(f"{v.RDFS}subClassOf"):
            if isinstance(triple.object, str):
                yield SubclassEdge(triple.subject, triple.object, "cax-sco", triple)
        for triple in self.graph.uses(f"{v.OWL}equivalentClass"):
            if isinstance(triple.object, str):
                labels = ("eq-rep-o",) * 2 if triple.written else ("cax-eqc1", "cax-eqc2")
                yield SubclassEdge(triple.subject, triple.object, labels[0], triple)
                yield SubclassEdge(triple.object, triple.subject, labels[1], triple)

    def _structure(self) -> Iterator[SubclassEdge]:
        for triple in self.graph.uses(f"{v.OWL}intersectionOf"):
            for member in self.graph.items(triple.object):
                if isinstance(member, str):
                    axiom = None if is_blank(triple.subject) else triple
                    yield SubclassEdge(triple.subject, member, "cls-int2", axiom, implied=True)
        for triple in self.graph.uses(f"{v.OWL}unionOf"):
            for member in self.graph.items(triple.object):
                if isinstance(member, str):
                    axiom = None if is_blank(triple.subject) else triple
                    yield SubclassEdge(member, triple.subject, "cls-uni", axiom)

    def _ends(self) -> Iterator[SubclassEdge]:
        for name, w3c in (("domain", "prp-dom"), ("range", "prp-rng")):
            for triple in self.graph.uses(f"{v.RDFS}{name}"):
                property_ = self.graph.property(triple.subject)
                if property_ is None or not isinstance(triple.object, str):
                    continue
                if self.graph.is_datatype(triple.object):
                    continue
                if name == "range":
                    property_ = property_.inverted()
                    if triple.subject in self.graph.data_properties:
                        continue
                end = f"_:{'range' if property_.inverse else 'domain'} of {property_.iri}"
                self.ends[end] = End(property_)
                yield SubclassEdge(end, triple.object, w3c, triple)


_MAKES = frozenset(
    f"{v.OWL}{name}"
    for name in (
        "intersectionOf", "unionOf", "complementOf", "oneOf", "someValuesFrom", "allValuesFrom",
        "hasValue", "maxCardinality", "maxQualifiedCardinality",
    )
)  # fmt: skip
"""Properties that make a class of something."""
