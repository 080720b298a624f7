"""The statements of an ontology, and what can be asked of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from zodiac_sql.language.symbols import XSD
from zodiac_sql.ontology import vocabulary as v
from zodiac_sql.ontology.triples import Literal, Node, Object, Triple, is_blank


@dataclass(frozen=True, slots=True)
class Property:
    """A property expression: a property, or its inverse."""

    iri: str
    inverse: bool = False

    def inverted(self) -> Property:
        """The same relation read the other way round."""
        return Property(self.iri, not self.inverse)


class Graph:
    """All statements of an ontology."""

    def __init__(self, triples: Sequence[Triple]) -> None:
        self.triples = triples
        self._by_subject: dict[Node, list[Triple]] = defaultdict(list)
        self._by_predicate: dict[Node, list[Triple]] = defaultdict(list)
        self._by_type: dict[Object, list[Triple]] = defaultdict(list)
        for triple in triples:
            self._by_subject[triple.subject].append(triple)
            self._by_predicate[triple.predicate].append(triple)
            if triple.predicate == v.TYPE:
                self._by_type[triple.object].append(triple)

    def about(self, subject: Node) -> Sequence[Triple]:
        """The statements about a thing."""
        return self._by_subject.get(subject, ())

    def uses(self, predicate: Node) -> Sequence[Triple]:
        """The statements with a property."""
        return self._by_predicate.get(predicate, ())

    def typed(self, type_: Node) -> Sequence[Triple]:
        """The statements `x rdf:type C`."""
        return self._by_type.get(type_, ())

    def objects(self, subject: Node, predicate: Node) -> Iterator[Object]:
        """The values of a property of a thing."""
        return (t.object for t in self.about(subject) if t.predicate == predicate)

    def one(self, subject: Node, predicate: Node) -> Object | None:
        """The value of a property of a thing, or None; of several, the first."""
        return next(self.objects(subject, predicate), None)

    def items(self, head: Object) -> list[Object]:
        """The members of a list of RDF; of one that is broken, those up to the break."""
        found, seen = [], set()
        while isinstance(head, str) and head != v.NIL and head not in seen:
            seen.add(head)
            first = self.one(head, v.FIRST)
            if first is not None:
                found.append(first)
            head = self.one(head, v.REST) or v.NIL
        return found

    def whole(self, head: Object) -> list[Object]:
        """The members of a list of RDF; none if it is empty, broken, or no list."""
        seen: set[Object] = set()
        end: Object | None = head
        while isinstance(end, str) and end != v.NIL and end not in seen:
            seen.add(end)
            if self.one(end, v.FIRST) is None:
                return []
            end = self.one(end, v.REST)
        return self.items(head) if end == v.NIL else []

    def property(self, node: Object | None) -> Property | None:
        """A property expression; None for what is none."""
        if not isinstance(node, str):
            return None
        if not is_blank(node):
            return Property(node)
        named = self.one(node, f"{v.OWL}inverseOf")
        if not isinstance(named, str) or is_blank(named):
            return None
        return Property(named, inverse=True)

    # Kinds of things

    @cached_property
    def classes(self) -> frozenset[Node]:
        """Named classes: those declared, and those that class axioms speak of."""
        found = {t.subject for type_ in v.CLASS_TYPES for t in self.typed(type_)}
        for name in ("subClassOf", "equivalentClass", "disjointWith", "complementOf"):
            for namespace in (v.RDFS, v.OWL):
                for triple in self.uses(f"{namespace}{name}"):
                    found |= {triple.subject, str(triple.object)}
        return frozenset(node for node in found if not is_blank(node))

    @cached_property
    def properties(self) -> frozenset[Node]:
        """Named properties: those declared, and those that property axioms speak of."""
        found = {t.subject for type_ in v.PROPERTY_TYPES for t in self.typed(type_)}
        for iri in (f"{v.RDFS}domain", f"{v.RDFS}range", f"{v.OWL}propertyChainAxiom"):
            found |= {triple.subject for triple in self.uses(iri)}
        for iri in (
            f"{v.RDFS}subPropertyOf", f"{v.OWL}equivalentProperty", f"{v.OWL}inverseOf",
            f"{v.OWL}propertyDisjointWith",
        ):  # fmt: skip
            for triple in self.uses(iri):
                found |= {triple.subject, str(triple.object)}
        found |= {str(triple.object) for triple in self.uses(v.ON_PROPERTY)}
        return frozenset(node for node in found if not is_blank(node))

    @cached_property
    def arities(self) -> dict[Node, int]:
        """How many columns names have: 2 for properties, 1 for classes. A predicate cannot be both.

        Declarations of OWL count, then what has members, then what relates things. (Brick declares
        a class as rdf:Property.)
        """
        found = dict.fromkeys(self.classes, 1) | dict.fromkeys(self.properties, 2)
        found |= {t.predicate: 2 for t in self.triples}
        found |= {t.subject: 2 for t in self.typed(f"{v.RDF}Property")}
        found |= {str(type_): 1 for type_ in self._by_type}
        found |= {t.subject: 1 for type_ in v.CLASS_TYPES for t in self.typed(type_)}
        kinds = v.PROPERTY_TYPES - {f"{v.RDF}Property"}
        return found | {t.subject: 2 for type_ in kinds for t in self.typed(type_)}

    def is_datatype(self, node: Object | None) -> bool:
        """Whether a class has literals as members."""
        if not isinstance(node, str):
            return False
        if node.startswith(XSD) or node in v.TEXT_TYPES:
            return True
        return any(
            t.object == f"{v.RDFS}Datatype" for t in self.about(node) if t.predicate == v.TYPE
        )

    @cached_property
    def data_properties(self) -> frozenset[Node]:
        """Properties whose values are literals: by declaration, range, facts, or relatives."""
        found = {t.subject for t in self.typed(f"{v.OWL}DatatypeProperty")}
        found |= {t.subject for t in self.uses(f"{v.RDFS}range") if self.is_datatype(t.object)}
        found |= {t.predicate for t in self.triples if isinstance(t.object, Literal)}
        return frozenset(self._with_relatives(found) - self._declared_objects)

    @cached_property
    def object_properties(self) -> frozenset[Node]:
        """Properties whose values are certainly no literals."""
        found = set(self._declared_objects)
        for name in ("InverseFunctional", "Symmetric", "Transitive", "Asymmetric", "Irreflexive"):
            found |= {t.subject for t in self.typed(f"{v.OWL}{name}Property")}
        for triple in self.uses(f"{v.OWL}inverseOf"):
            found |= {triple.subject, str(triple.object)}
        found |= {t.subject for t in self.uses(f"{v.RDFS}range") if not self.is_datatype(t.object)}
        found |= {t.predicate for t in self.triples if isinstance(t.object, str)}
        for name in ("someValuesFrom", "allValuesFrom", "hasValue", "onClass"):
            for triple in self.uses(f"{v.OWL}{name}"):
                if isinstance(triple.object, str) and not self.is_datatype(triple.object):
                    found |= {str(on) for on in self.objects(triple.subject, v.ON_PROPERTY)}
        return frozenset(self._with_relatives(found) - self.data_properties)

    @cached_property
    def _declared_objects(self) -> frozenset[Node]:
        return frozenset(t.subject for t in self.typed(f"{v.OWL}ObjectProperty"))

    def _with_relatives(self, properties: set[Node]) -> set[Node]:
        """Also the properties that are above, below or equivalent to them."""
        near: dict[Node, set[Node]] = defaultdict(set)
        for iri in (f"{v.RDFS}subPropertyOf", f"{v.OWL}equivalentProperty"):
            for triple in self.uses(iri):
                if isinstance(triple.object, str):
                    near[triple.subject].add(triple.object)
                    near[triple.object].add(triple.subject)
        found, todo = set(properties), list(properties)
        while todo:
            new = near[todo.pop()] - found
            found |= new
            todo += new
        return found
