"""Axioms and class expressions as text for people, in the manner of the Manchester syntax.

    ub:Chair owl:equivalentClass (ub:Person and (ub:headOf some ub:Department))

Equal expressions have equal texts: what a text is made of is sorted where order means nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from zodiac_sql.language.prefixed import prefixed
from zodiac_sql.language.symbols import XSD, quoted
from zodiac_sql.ontology import vocabulary as v
from zodiac_sql.ontology.graph import Graph
from zodiac_sql.ontology.triples import Literal, Object, Triple, is_blank

_JOINED = {"intersectionOf": " and ", "unionOf": " or "}

_QUANTIFIED = {
    "someValuesFrom": "some", "allValuesFrom": "only", "hasValue": "value", "hasSelf": "self",
    "maxCardinality": "max", "maxQualifiedCardinality": "max", "minCardinality": "min",
    "minQualifiedCardinality": "min", "cardinality": "exactly", "qualifiedCardinality": "exactly",
}  # fmt: skip

_ON_DATA_RANGE = f"{v.OWL}onDataRange"

_DEEPEST = 50
"""Expressions nested deeper than this are only named: a blank node may be part of itself."""


class Wording:
    """Texts of the things of an ontology, with its prefixes."""

    def __init__(self, graph: Graph, prefixes: Mapping[str, str]) -> None:
        self._graph = graph
        self._axioms: dict[Triple, str] = {}
        self._short = lru_cache(None)(lambda iri: prefixed(f"<{iri}>", prefixes))

    def iri(self, iri: str) -> str:
        """An IRI with its prefix."""
        return self._short(iri)

    def literal(self, literal: Literal) -> str:
        """A literal as in Turtle."""
        if literal.language:
            return f"{quoted(literal.text)}@{literal.language}"
        if literal.datatype and literal.datatype != f"{XSD}string":
            return f"{quoted(literal.text)}^^{self.iri(literal.datatype)}"
        return quoted(literal.text)

    def thing(self, node: Object, depth: int = 0) -> str:
        """A class, a property, an individual or a literal; expressions are written out."""
        if isinstance(node, Literal):
            return self.literal(node)
        if not is_blank(node):
            return self.iri(node)
        return self.expression(node, depth) or "[]"

    def expression(self, node: str, depth: int = 0) -> str:
        """What a class is made of; an empty text if nothing is said of it."""
        if depth > _DEEPEST:
            return node
        said = []
        for triple in self._graph.about(node):
            name = triple.predicate.removeprefix(v.OWL)
            if name in _JOINED:
                parts = sorted(self.things(triple.object, depth + 1))
                said.append(f"({_JOINED[name].join(parts)})")
            elif name == "oneOf":
                said.append(f"{{{', '.join(sorted(self.things(triple.object, depth + 1)))}}}")
            elif name == "complementOf":
                said.append(f"(not {self.thing(triple.object, depth + 1)})")
            elif name == "inverseOf" and is_blank(node):
                said.append(f"(inverse {self.thing(triple.object, depth + 1)})")
            elif name == "onDatatype":
                said.append(self._restricted(node, triple.object))
            elif name in _QUANTIFIED:
                said.append(self._quantified(node, name, triple.object, depth + 1))
        return " and ".join(sorted(said))

    def things(self, head: Object, depth: int = 0) -> list[str]:
        """The members of a list."""
        return [self.thing(item, depth) for item in self._graph.items(head)]

    def _quantified(self, node: str, name: str, value: Object, depth: int) -> str:
        on = self._graph.one(node, v.ON_PROPERTY)
        words = [self.thing(on, depth) if on else "?", _QUANTIFIED[name]]
        words.append(value.text if isinstance(value, Literal) and "ardinality" in name else
                     self.thing(value, depth))  # fmt: skip
        if "ualified" in name:
            filler = self._graph.one(node, v.ON_CLASS) or self._graph.one(node, _ON_DATA_RANGE)
            words += [self.thing(filler, depth)] if filler else []
        return f"({' '.join(words)})"

    def _restricted(self, node: str, datatype: Object) -> str:
        """A datatype with facets: xsd:integer[minInclusive 0]."""
        facets = [
            f"{facet.predicate.removeprefix(XSD)} {self._plain(facet.object)}"
            for listed in self._graph.objects(node, f"{v.OWL}withRestrictions")
            for item in self._graph.items(listed)
            if isinstance(item, str)
            for facet in self._graph.about(item)
        ]
        return f"{self.thing(datatype)}[{', '.join(facets)}]"

    def _plain(self, value: Object) -> str:
        return value.text if isinstance(value, Literal) else self.thing(value)

    def axiom(self, triple: Triple) -> str:
        """A statement as text; lists are written out."""
        said = self._axioms.get(triple)
        if said is None:
            said = self._axioms[triple] = self._axiom(triple)
        return said

    def _axiom(self, triple: Triple) -> str:
        if triple.predicate == f"{v.OWL}sourceIndividual":
            return self._denial(triple)
        if triple.predicate in (f"{v.OWL}members", f"{v.OWL}distinctMembers"):
            type_ = self._graph.one(triple.subject, v.TYPE) or triple.predicate
            return f"{self.thing(type_)} ({' '.join(self.things(triple.object))})"
        listed = triple.predicate.removeprefix(v.OWL) in (
            "intersectionOf", "unionOf", "oneOf", "propertyChainAxiom", "hasKey", "members",
            "distinctMembers", "disjointUnionOf",
        )  # fmt: skip
        object_ = (
            f"({' '.join(self.things(triple.object))})" if listed else self.thing(triple.object)
        )
        written = triple.written or triple.predicate
        predicate = "a" if written == v.TYPE else self.iri(written)
        return f"{self.thing(triple.subject)} {predicate} {object_}"

    def _denial(self, triple: Triple) -> str:
        """A negative property assertion."""
        about = {
            t.predicate.removeprefix(v.OWL): t.object for t in self._graph.about(triple.subject)
        }
        value = about.get("targetIndividual", about.get("targetValue", ""))
        parts = (triple.object, about.get("assertionProperty", ""), value)
        return f"not {' '.join(map(self.thing, parts))}"
