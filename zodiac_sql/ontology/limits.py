"""Why something of a class expression has no rule in OWL 2 RL."""

from __future__ import annotations

from collections.abc import Iterator

from zodiac_sql.ontology import vocabulary as v
from zodiac_sql.ontology.expressions import ClassExpressions, cardinality
from zodiac_sql.ontology.graph import Graph
from zodiac_sql.ontology.triples import Literal, Node, Object, Triple, is_blank
from zodiac_sql.ontology.writing import why_no_constant

_NEW = "would need a thing that nobody has named"
_OR = "would need a choice"

_ON_THE_RIGHT = {
    "someValuesFrom": f"`some` above a class {_NEW}",
    "oneOf": f"`oneOf` above a class {_OR}",
    "minCardinality": f"`min` above a class {_NEW}",
    "minQualifiedCardinality": f"`min` above a class {_NEW}",
    "cardinality": "`exactly` is not in OWL 2 RL, only `max 0` and `max 1` are",
    "qualifiedCardinality": "`exactly` is not in OWL 2 RL, only `max 0` and `max 1` are",
    "hasSelf": "`self` is not in OWL 2 RL",
}

_ON_THE_LEFT = {
    "allValuesFrom": "`only` below a class would need to know that there are no more values",
    "complementOf": "`not` below a class would need to know what is not a member",
    "maxCardinality": "`max` below a class would need to know that there are no more values",
    "maxQualifiedCardinality": "`max` below a class would need to know that there are no more",
    "minCardinality": "`min` below a class is not in OWL 2 RL; write `some`",
    "minQualifiedCardinality": "`min` below a class is not in OWL 2 RL; write `some`",
    "cardinality": "`exactly` below a class is not in OWL 2 RL",
    "qualifiedCardinality": "`exactly` below a class is not in OWL 2 RL",
    "hasSelf": "`self` is not in OWL 2 RL",
}

LITERALS = "literals are no members of classes here; the types of columns say what they are"

NO_LIST = (
    "its members are no whole list, or none: OWL 2 RL has no rule that every thing is a member of "
    "an intersection of nothing"
)

_DEEPEST = 100
"""Reasons deeper inside an expression are not looked for."""


class LeftOut:
    """Finds what is left out of axioms about classes."""

    def __init__(self, expressions: ClassExpressions) -> None:
        self._expressions, self._graph = expressions, expressions.graph

    def above(self, node: Object, seen: frozenset[Node] = frozenset()) -> Iterator[str]:
        """What cannot follow from being a member."""
        if self._graph.is_datatype(node):
            yield LITERALS
        for triple, name in _made_of(self._graph, node, seen):
            yield from self._above(triple, name, seen | {triple.subject})

    def _above(self, triple: Triple, name: str, seen: frozenset[Node]) -> Iterator[str]:
        value = triple.object
        if name in _ON_THE_RIGHT:
            if not (name.startswith("min") and cardinality(value) == 0):
                yield _ON_THE_RIGHT[name]
        elif name == "unionOf" and len(self._graph.items(value)) > 1:
            yield f"`or` above a class {_OR}"
        elif name == "intersectionOf":
            for member in self._graph.items(value):
                yield from self.above(member, seen)
        elif name == "allValuesFrom":
            yield from [LITERALS] if self._literal(triple) else self.above(value, seen)
        elif name == "complementOf":
            yield from self.below(value, seen)
        elif name == "hasValue" and (why := why_no_constant(value)):
            yield why
        elif name in ("maxCardinality", "maxQualifiedCardinality"):
            if cardinality(value) not in (0, 1):
                yield "`max` beyond 1 is not in OWL 2 RL"
            elif name == "maxQualifiedCardinality":
                yield from self._qualified(triple, seen)

    def _qualified(self, triple: Triple, seen: frozenset[Node]) -> Iterator[str]:
        filler = self._graph.one(triple.subject, v.ON_CLASS)
        if filler is None or self._graph.is_datatype(filler):
            yield LITERALS
        else:
            yield from self.below(filler, seen)

    def of_a_name(self, triple: Triple) -> Iterator[str]:
        """What is left out of a class with a name that is said to be an expression."""
        name, seen = triple.predicate.removeprefix(v.OWL), frozenset[Node]()
        yield from self._above(triple, name, seen)
        yield from self._below(triple, name, seen)

    def below(self, node: Object, seen: frozenset[Node] = frozenset()) -> Iterator[str]:
        """How something may be a member without being found."""
        if self._graph.is_datatype(node):
            yield LITERALS
        for triple, name in _made_of(self._graph, node, seen):
            yield from self._below(triple, name, seen | {triple.subject})

    def _below(self, triple: Triple, name: str, seen: frozenset[Node]) -> Iterator[str]:
        value = triple.object
        if name in _ON_THE_LEFT:
            yield _ON_THE_LEFT[name]
        elif name == "intersectionOf" and not self._graph.whole(value):
            yield NO_LIST
        elif name in ("intersectionOf", "unionOf"):
            for member in self._graph.items(value):
                yield from self.below(member, seen)
        elif name == "hasValue" and (why := why_no_constant(value)):
            yield why
        elif name == "someValuesFrom" and value != f"{v.RDFS}Literal":
            yield from [LITERALS] if self._literal(triple) else self.below(value, seen)
        elif name == "oneOf" and any(
            isinstance(member, Literal) for member in self._graph.items(value)
        ):
            yield LITERALS

    def _literal(self, triple: Triple) -> bool:
        """Whether a quantifier is about literals."""
        if triple.object == f"{v.RDFS}Literal":
            return True  # and every value is one: below a class it is no limit
        on = self._graph.property(self._graph.one(triple.subject, v.ON_PROPERTY))
        return self._graph.is_datatype(triple.object) or (
            on is not None and self._expressions.has_literals(on) and triple.object != v.THING
        )


def _made_of(graph: Graph, node: Object, seen: frozenset[Node]) -> Iterator[tuple[Triple, str]]:
    """What an expression without a name is made of."""
    if isinstance(node, str) and is_blank(node) and node not in seen and len(seen) < _DEEPEST:
        for triple in graph.about(node):
            yield triple, triple.predicate.removeprefix(v.OWL)
