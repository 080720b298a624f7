"""owl:sameAs: one partition, and rules that put equals in for equals (OWL 2 Profiles, table 4).

Rules for equality are there only if something can be equal: a rule derives owl:sameAs, or a fact
says it. Then they are needed for the predicates that have explicit facts or constants in heads of
rules: whatever other rules derive from these holds for equals anyway, since a rule's body then
holds for them, too. An ontology alone does not tell which predicates have facts, so without `given`
these are all that it speaks of. Literals are equal to nothing else, so there is no rule for them;
and eq-ref is left out: nothing is said to equal itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator

from zodiac_sql.language.syntax import Atom, Comparison, Constant, Variable
from zodiac_sql.names import EXPRESSION, INCONSISTENT, is_expression
from zodiac_sql.ontology import vocabulary as v
from zodiac_sql.ontology.graph import Graph
from zodiac_sql.ontology.rules import Collector, inconsistent
from zodiac_sql.ontology.triples import Triple
from zodiac_sql.ontology.wording import Wording
from zodiac_sql.ontology.writing import constant, predicate

_X, _Y, _Z = Variable("x"), Variable("y"), Variable("z")


def make(
    graph: Graph,
    collector: Collector,
    wording: Wording,
    facts: Collection[str],
    given: Collection[str] | None,
) -> None:
    """Make the rules of equality. `facts` are the predicates of the ontology's own facts."""
    stated = {*facts, *(given or ())}
    if v.DIFFERENT_FROM in stated:
        itself = (Atom(v.DIFFERENT_FROM, (_X, _X)),)
        head = inconsistent(wording.iri(v.DIFFERENT_FROM), _X, _X)
        collector.rule(("eq-diff1", "eq-ref"), (), head, itself)
    if v.SAME_AS not in {*stated, *(rule.head.predicate for rule in collector.made_rules)}:
        return
    lists = {name for name in collector.facts if is_expression(name)}  # of individuals
    _different(graph, collector, wording, stated)
    same = Atom(v.SAME_AS, (_X, _Y))
    collector.rule(("eq-sym",), (), Atom(v.SAME_AS, (_Y, _X)), (same,))
    body = (same, Atom(v.SAME_AS, (_Y, _Z)), Comparison(_X, "!=", _Z))
    collector.rule(("eq-trans",), (), Atom(v.SAME_AS, (_X, _Z)), body)
    classes, properties = _replaced(graph, collector, stated, given is None)
    for name in sorted(classes | lists):
        collector.rule(("eq-rep-s",), (), Atom(name, (_Y,)), (Atom(name, (_X,)), same))
    objects = {predicate(iri) for iri in graph.object_properties}
    for name in sorted(properties):
        first, second = Atom(name, (_X, _Z)), Atom(name, (_Z, _X))
        collector.rule(("eq-rep-s",), (), Atom(name, (_Y, _Z)), (first, same))
        if name in objects:
            collector.rule(("eq-rep-o",), (), Atom(name, (_Z, _Y)), (second, same))


def _replaced(
    graph: Graph, collector: Collector, stated: Collection[str], all_: bool
) -> tuple[set[str], set[str]]:
    """The classes and properties in which equals are put in for equals."""
    classes = {predicate(iri) for iri in graph.classes if not graph.is_datatype(iri)}
    properties = {predicate(iri) for iri in graph.properties - v.ANNOTATIONS}
    properties -= {predicate(t.subject) for t in graph.typed(f"{v.OWL}AnnotationProperty")}
    for rule in collector.made_rules:
        for atom in (rule.head, *rule.positive_atoms()):
            (classes if len(atom.terms) == 1 else properties).add(atom.predicate)
    for triple in graph.triples:
        if triple.predicate == v.TYPE and isinstance(triple.object, str):
            if predicate(triple.object) in stated:
                classes.add(predicate(triple.object))
        elif triple.predicate in stated:
            properties.add(predicate(triple.predicate))
    if not all_:
        wanted = {*stated, *_with_constants(collector)}
        classes, properties = classes & wanted, properties & wanted
    never = {v.SAME_AS, v.DIFFERENT_FROM, INCONSISTENT}
    return _visible(classes), _visible(properties) - never


def _visible(names: set[str]) -> set[str]:
    """Without our own predicates, and those of RDF, RDFS and OWL."""
    namespaces = (v.RDF, v.RDFS, v.OWL)
    return {name for name in names if not is_expression(name) and not name.startswith(namespaces)}


def _with_constants(collector: Collector) -> Iterator[str]:
    """The predicates of rules that have a constant in the head."""
    for rule in collector.made_rules:
        if any(isinstance(term, Constant) for term in rule.head.terms):
            yield rule.head.predicate


def _different(
    graph: Graph, collector: Collector, wording: Wording, stated: Collection[str]
) -> None:
    """What is equal and said to be different."""
    if v.DIFFERENT_FROM in stated:
        said = wording.iri(v.DIFFERENT_FROM)
        both = (Atom(v.DIFFERENT_FROM, (_X, _Y)), Atom(v.SAME_AS, (_X, _Y)))
        collector.rule(("eq-diff1",), (), inconsistent(said, _X, _Y), both)
    for triple in graph.typed(f"{v.OWL}AllDifferent"):
        for listing in graph.about(triple.subject):
            name = listing.predicate.removeprefix(v.OWL)
            if name in ("members", "distinctMembers"):
                w3c = "eq-diff2" if name == "members" else "eq-diff3"
                _all_different(graph, collector, wording, listing, w3c)


def _all_different(
    graph: Graph, collector: Collector, wording: Wording, listing: Triple, w3c: str
) -> None:
    said = wording.axiom(listing)
    member = f"{EXPRESSION}{hashlib.sha256(said.encode()).hexdigest()[:12]}"
    for item in graph.items(listing.object):
        if isinstance(item, str):
            collector.rule((w3c,), (listing,), Atom(member, (constant(item),)), ())
    body = (
        Atom(member, (_X,)),
        Atom(member, (_Y,)),
        Atom(v.SAME_AS, (_X, _Y)),
        Comparison(_X, "!=", _Y),
    )
    collector.rule((w3c,), (listing,), inconsistent(said, _X, _Y), body)
