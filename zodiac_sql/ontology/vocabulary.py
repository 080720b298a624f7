"""The IRIs of RDF, RDFS, OWL and SHACL that the translation knows."""

from __future__ import annotations

from zodiac_sql.language.symbols import RDF_TYPE, XSD

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
SHACL = "http://www.w3.org/ns/shacl#"

TYPE = RDF_TYPE
FIRST, REST, NIL = f"{RDF}first", f"{RDF}rest", f"{RDF}nil"

THING, NOTHING, SAME_AS, DIFFERENT_FROM = (
    f"{OWL}{name}" for name in ("Thing", "Nothing", "sameAs", "differentFrom")
)

ON_PROPERTY, ON_CLASS = f"{OWL}onProperty", f"{OWL}onClass"

PREFIXES = {"rdf": RDF, "rdfs": RDFS, "owl": OWL, "xsd": XSD}
"""Prefixes that are known without being declared."""

SCHEMA_PROPERTIES = frozenset(
    {f"{RDFS}{name}" for name in ("subClassOf", "subPropertyOf", "domain", "range")}
    | {
        f"{OWL}{name}"
        for name in (
            "allValuesFrom", "annotatedProperty", "annotatedSource", "annotatedTarget",
            "assertionProperty", "cardinality", "complementOf", "datatypeComplementOf",
            "disjointUnionOf", "disjointWith", "distinctMembers", "equivalentClass",
            "equivalentProperty", "hasKey", "hasSelf", "hasValue", "imports", "intersectionOf",
            "inverseOf", "maxCardinality", "maxQualifiedCardinality", "members", "minCardinality",
            "minQualifiedCardinality", "onClass", "onDataRange", "onDatatype", "onProperties",
            "onProperty", "oneOf", "propertyChainAxiom", "propertyDisjointWith",
            "qualifiedCardinality", "someValuesFrom", "sourceIndividual", "targetIndividual",
            "targetValue", "unionOf", "versionIRI", "withRestrictions",
        )
    }
    | {FIRST, REST}
)  # fmt: skip
"""Properties of statements about classes and properties. They are never facts."""

ANNOTATIONS = frozenset(
    {f"{RDFS}{name}" for name in ("label", "comment", "seeAlso", "isDefinedBy")}
    | {
        f"{OWL}{name}"
        for name in ("deprecated", "versionInfo", "priorVersion", "backwardCompatibleWith",
                     "incompatibleWith")
    }
)  # fmt: skip
"""Properties of remarks, which mean nothing to reasoning (rule prp-ap)."""

CLASS_TYPES = frozenset(
    {f"{OWL}Class", f"{RDFS}Class", f"{OWL}Restriction", f"{OWL}DeprecatedClass"}
)

PROPERTY_TYPES = frozenset(
    {f"{RDF}Property", f"{OWL}DeprecatedProperty"}
    | {
        f"{OWL}{kind}Property"
        for kind in ("Object", "Datatype", "Annotation", "Ontology", "Functional",
                     "InverseFunctional", "Symmetric", "Transitive", "Asymmetric", "Irreflexive",
                     "Reflexive")
    }
)  # fmt: skip

TEXT_TYPES = frozenset(
    {f"{RDFS}Literal", f"{RDF}langString", f"{RDF}PlainLiteral", f"{RDF}XMLLiteral"}
)
"""Datatypes outside XML Schema."""
