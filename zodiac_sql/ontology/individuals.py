"""The statements of an ontology that are about individuals: they are facts.

A statement about a class or a property is a fact only if its property is declared to be one for
individuals or values: `brick:Air_Sensor brick:hasTag tag:Air`. Remarks on classes, parts of class
expressions and shapes of SHACL are no facts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from zodiac_sql.errors import DataError
from zodiac_sql.language import symbols
from zodiac_sql.language.datatypes import xsd_type
from zodiac_sql.language.decimals import widest_number
from zodiac_sql.language.syntax import Type
from zodiac_sql.ontology import vocabulary as v
from zodiac_sql.ontology.graph import Graph
from zodiac_sql.ontology.rules import Collector
from zodiac_sql.ontology.translation import ReportRow, Row
from zodiac_sql.ontology.triples import Literal, Node, Object, Triple, is_blank
from zodiac_sql.ontology.writing import constant, predicate

Facts = dict[str, dict[tuple[Object, ...], None]]


def facts_of(graph: Graph, collector: Collector) -> Facts:
    """The facts, by predicate, each once."""
    facts: Facts = defaultdict(dict)
    for triple in _Finder(graph).found():
        typed = triple.predicate == v.TYPE
        name = predicate(str(triple.object) if typed else triple.predicate)
        row = (triple.subject,) if typed else (triple.subject, triple.object)
        if why := collector.misused(name, len(row)):
            collector.leave_out(triple, why)
        else:
            facts[name][row] = None
    return facts


class _Finder:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._schema = graph.classes | graph.properties | _datatypes(graph)
        self._parts = {t.subject for t in graph.triples if t.predicate in v.SCHEMA_PROPERTIES}
        self._parts |= {t.subject for t in graph.triples if _is_shape(t)}
        self._declared = {
            t.subject
            for kind in ("ObjectProperty", "DatatypeProperty")
            for t in graph.typed(f"{v.OWL}{kind}")
        }

    def found(self) -> Iterator[Triple]:
        """The statements about individuals."""
        return (triple for triple in self._graph.triples if self._is_fact(triple))

    def _is_fact(self, triple: Triple) -> bool:
        subject = triple.subject
        if _is_shape(triple) or (subject in self._parts and subject not in self._schema):
            return False
        if triple.predicate == v.TYPE:
            return _is_own_class(triple.object)
        if triple.predicate in v.SCHEMA_PROPERTIES:
            return False
        if subject in self._schema:
            return triple.predicate in self._declared
        return not self._is_ontology(subject)

    def _is_ontology(self, node: Node) -> bool:
        types = set(self._graph.objects(node, v.TYPE))
        return bool(types & {f"{v.OWL}{name}" for name in ("Ontology", "Axiom", "Annotation")})


def _is_own_class(type_: Object) -> bool:
    """Whether membership in a class is a fact: not in one of RDF, RDFS or OWL."""
    if not isinstance(type_, str) or is_blank(type_):
        return False
    return type_ == v.THING or not type_.startswith((v.RDF, v.RDFS, v.OWL))


def _is_shape(triple: Triple) -> bool:
    """Whether a statement is about a shape of SHACL."""
    of_shapes = triple.predicate.startswith(v.SHACL)
    return of_shapes or (triple.predicate == v.TYPE and str(triple.object).startswith(v.SHACL))


def _datatypes(graph: Graph) -> frozenset[Node]:
    return frozenset(t.subject for t in graph.typed(f"{v.RDFS}Datatype"))


def shapes(graph: Graph) -> list[ReportRow]:
    """A row for each file with shapes of SHACL, which are left out."""
    counted = Counter(t.file for t in graph.triples if _is_shape(t))
    return [
        ReportRow(f"{count} statements of SHACL", file, None, (), "shapes are no part of OWL")
        for file, count in counted.items()
    ]


# --- rows -----------------------------------------------------------------------------------------


def rows(facts: Mapping[str, Mapping[tuple[Object, ...], None]]) -> dict[str, tuple[Row, ...]]:
    """The facts as rows of values: literals have the type that all values of a column have."""
    return {name: _typed(list(found)) for name, found in sorted(facts.items()) if found}


def _typed(found: Sequence[tuple[Object, ...]]) -> tuple[Row, ...]:
    values = [row[1] for row in found if len(row) == 2]
    type_ = _common(values)
    return tuple((_symbol(row[0]), *(_value(o, type_) for o in row[1:])) for row in found)


def _common(values: Sequence[Object]) -> Type:
    """The type of a column with these values."""
    types = {xsd_type(o.datatype) if isinstance(o, Literal) else None for o in values}
    if not types or None in types:
        return Type.SYMBOL
    try:
        for value in values:
            constant(value)
    except DataError:
        return Type.SYMBOL
    if wide := widest_number(types):
        return wide
    return next(iter(types)) or Type.SYMBOL if len(types) == 1 else Type.SYMBOL


def _value(value: Object, type_: Type) -> str | int | Decimal | float | bool:
    if type_ is Type.SYMBOL:
        return _symbol(value)
    found = constant(value).value
    if type_ is Type.DECIMAL:
        return Decimal(found)  # type: ignore[arg-type]
    return float(found) if type_ is Type.FLOAT else found  # type: ignore[arg-type, return-value]


def _symbol(value: Object) -> str:
    if isinstance(value, Literal):
        return symbols.literal(value.text, value.language, value.datatype)
    return value if is_blank(value) else symbols.iri(value)
