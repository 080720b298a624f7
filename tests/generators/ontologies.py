"""Random ontologies of all that OWL 2 RL has, and data, as Turtle."""

from __future__ import annotations

from hypothesis import strategies as st

PREFIXES = """@prefix : <http://example.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""

CLASSES = (":A", ":B", ":C", ":D", ":E")
PROPERTIES = (":p", ":q", ":r")
INDIVIDUALS = (":a", ":b", ":c", ":d")

DECLARED = "".join(
    [f"{name} a owl:Class .\n" for name in CLASSES]
    + [f"{name} a owl:ObjectProperty .\n" for name in PROPERTIES]
    + [":text a owl:DatatypeProperty .\n"]
)

names = st.sampled_from(CLASSES)
properties = st.sampled_from(PROPERTIES)
individuals = st.sampled_from(INDIVIDUALS)
roles = st.one_of(properties, properties, properties.map(lambda p: f"[ owl:inverseOf {p} ]"))


def _listed(items: st.SearchStrategy[str], least: int, most: int) -> st.SearchStrategy[str]:
    found = st.lists(items, min_size=least, max_size=most, unique=True)
    return found.map(lambda texts: f"( {' '.join(texts)} )")


def _joined(word: str, inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return _listed(inner, 2, 3).map(lambda items: f"[ a owl:Class ; owl:{word} {items} ]")


def _restricted(word: str, values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(roles, values).map(
        lambda two: f"[ a owl:Restriction ; owl:onProperty {two[0]} ; owl:{word} {two[1]} ]"
    )


nominals = _listed(individuals, 1, 2).map(lambda items: f"[ a owl:Class ; owl:oneOf {items} ]")

below = st.recursive(
    st.one_of(names, names, nominals),
    lambda inner: st.one_of(
        _joined("intersectionOf", inner),
        _joined("unionOf", inner),
        _restricted("someValuesFrom", st.one_of(inner, st.just("owl:Thing"))),
        _restricted("hasValue", individuals),
    ),
    max_leaves=4,
)
"""Class expressions that may stand below a class."""

_numbers = st.sampled_from(['"0"^^xsd:nonNegativeInteger', '"1"^^xsd:nonNegativeInteger'])
_strange = st.tuples(_numbers, names).map(lambda two: f"{two[0]} ; owl:onClass {two[1]}")
"""A number and a class, where a number alone is right: the class says nothing."""

_qualified = st.tuples(_numbers, names).map(lambda two: f"{two[0]} ; owl:onClass {two[1]}")

above = st.recursive(
    st.one_of(names, names),
    lambda inner: st.one_of(
        _joined("intersectionOf", inner),
        _restricted("allValuesFrom", inner),
        _restricted("hasValue", individuals),
        _restricted("maxCardinality", st.one_of(_numbers, _numbers, _strange)),
        _restricted("maxQualifiedCardinality", _qualified),
        names.map(lambda name: f"[ a owl:Class ; owl:complementOf {name} ]"),
    ),
    max_leaves=4,
)
"""Class expressions that may stand above a class."""

both = st.recursive(
    names,
    lambda inner: st.one_of(_joined("intersectionOf", inner), _restricted("hasValue", individuals)),
    max_leaves=3,
)

outside = st.one_of(
    _restricted("someValuesFrom", names),
    _restricted("allValuesFrom", names),
    _joined("unionOf", names),
    st.just("[ a owl:Class ; owl:intersectionOf () ]"),
)
"""Class expressions that stand where OWL 2 RL does not allow them."""


def _said(left: st.SearchStrategy[str], word: str, right: st.SearchStrategy[str]):  # type: ignore[no-untyped-def]
    return st.tuples(left, right).map(lambda two: f"{two[0]} {word} {two[1]} .\n")


_kinds = st.sampled_from(
    ["Symmetric", "Transitive", "Functional", "InverseFunctional", "Asymmetric", "Irreflexive"]
).map(lambda kind: f"owl:{kind}Property")

axioms = st.one_of(
    _said(below, "rdfs:subClassOf", above),
    _said(below, "rdfs:subClassOf", above),
    _said(names, "rdfs:subClassOf", outside),
    _said(names, "owl:equivalentClass", both),
    _said(names, "owl:equivalentClass", below),
    _said(names, "owl:equivalentClass", outside),
    _said(outside, "rdfs:subClassOf", names),
    _said(names, "owl:sameAs", names),
    _said(properties, "owl:sameAs", properties),
    _said(names, "owl:disjointWith", names),
    _said(properties, "rdfs:domain", above),
    _said(properties, "rdfs:range", above),
    _said(properties, "rdfs:subPropertyOf", properties),
    _said(properties, "owl:equivalentProperty", properties),
    _said(properties, "owl:inverseOf", properties),
    _said(properties, "owl:propertyDisjointWith", properties),
    _said(properties, "owl:propertyChainAxiom", _listed(roles, 2, 3)),
    _said(properties, "a", _kinds),
    _listed(names, 2, 3).map(
        lambda items: f"[] a owl:AllDisjointClasses ; owl:members {items} .\n"
    ),
)

facts = st.one_of(
    _said(individuals, "a", names),
    _said(individuals, "a", names),
    st.tuples(individuals, properties, individuals).map(lambda three: f"{' '.join(three)} .\n"),
    st.tuples(individuals, properties, individuals).map(lambda three: f"{' '.join(three)} .\n"),
    st.tuples(individuals, st.sampled_from(['"x"', '"y"'])).map(
        lambda two: f"{two[0]} :text {two[1]} .\n"
    ),
    _said(individuals, "owl:sameAs", individuals),
    _said(individuals, "owl:differentFrom", individuals),
)

ontologies = st.tuples(
    st.lists(axioms, min_size=1, max_size=6), st.lists(facts, min_size=1, max_size=7)
).map(lambda parts: PREFIXES + DECLARED + "".join([*parts[0], *parts[1]]))
"""An ontology with its data, as one text."""
