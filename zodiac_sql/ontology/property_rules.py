"""Axioms about properties -> rules: OWL 2 Profiles, section 4.3, table 5.

Transitive and symmetric properties become the plain rules that rewrite/closures knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, pairwise

from zodiac_sql.language.syntax import Atom, Comparison, Term, Variable
from zodiac_sql.ontology import vocabulary as v
from zodiac_sql.ontology.expressions import ClassExpressions, relates
from zodiac_sql.ontology.graph import Property
from zodiac_sql.ontology.limits import LITERALS
from zodiac_sql.ontology.rules import Collector, Parts, inconsistent, new_variables
from zodiac_sql.ontology.triples import Literal, Node, Object, Triple, is_blank
from zodiac_sql.ontology.wording import Wording
from zodiac_sql.ontology.writing import constant, predicate, why_no_constant

_X, _Y, _Z = Variable("x"), Variable("y"), Variable("z")


class PropertyRules:
    """Makes the rules of an ontology's properties."""

    def __init__(
        self, expressions: ClassExpressions, collector: Collector, wording: Wording
    ) -> None:
        self._expressions, self._collector, self._wording = expressions, collector, wording
        self._graph = expressions.graph

    def make(self) -> None:
        """Make all rules, and say what is left out."""
        self._below(f"{v.RDFS}subPropertyOf", ("prp-spo1",))
        self._below(f"{v.OWL}equivalentProperty", ("prp-eqp1", "prp-eqp2"))
        self._inverses()
        self._chains()
        for name, make in self._kinds().items():
            for triple in self._graph.typed(f"{v.OWL}{name}Property"):
                property_ = self._graph.property(triple.subject)
                self._collector.note(triple)
                if property_ is not None:
                    make(triple, property_)
        for triple in self._graph.typed(f"{v.OWL}ReflexiveProperty"):
            self._collector.leave_out(triple, "`ReflexiveProperty` is not in OWL 2 RL")
        self._disjoint()
        self._keys()
        self._never()

    def _kinds(self) -> dict[str, Callable[[Triple, Property], None]]:
        return {
            "Symmetric": self._symmetric,
            "Transitive": self._transitive,
            "Functional": self._functional,
            "InverseFunctional": self._inverse_functional,
            "Asymmetric": self._asymmetric,
            "Irreflexive": self._irreflexive,
        }

    def _rule(self, w3c: str, axiom: Triple, head: Atom, *body: Atom | Comparison) -> None:
        self._collector.rule((w3c,), (axiom,), head, body)

    # What follows

    def _below(self, iri: str, w3c: tuple[str, ...]) -> None:
        """Rules from a property to another one, and back if there are two rules of the W3C."""
        for triple in self._graph.uses(iri):
            self._collector.note(triple)
            first, second = self._pair(triple)
            if first is None or second is None:
                continue
            pairs = ((first, second), (second, first))
            labels = ("eq-rep-p",) * 2 if triple.written else w3c
            for label, (sub, sup) in zip(labels, pairs, strict=False):
                if not sup.iri.startswith((f"{v.OWL}top", f"{v.OWL}bottom")):
                    self._rule(label, triple, relates(sup, _X, _Y), relates(sub, _X, _Y))

    def _pair(self, triple: Triple) -> tuple[Property | None, Property | None]:
        return self._graph.property(triple.subject), self._graph.property(triple.object)

    def _inverses(self) -> None:
        for triple in self._graph.uses(f"{v.OWL}inverseOf"):
            if is_blank(triple.subject):
                continue  # not an axiom, but the expression "inverse of"
            self._collector.note(triple)
            first, second = self._pair(triple)
            if first is not None and second is not None:
                self._rule("prp-inv1", triple, relates(second, _Y, _X), relates(first, _X, _Y))
                self._rule("prp-inv2", triple, relates(first, _Y, _X), relates(second, _X, _Y))

    def _chains(self) -> None:
        for triple in self._graph.uses(f"{v.OWL}propertyChainAxiom"):
            self._collector.note(triple)
            head = self._graph.property(triple.subject)
            links = self._properties(triple.object)
            if head is None or not links:
                self._collector.leave_out(triple, "a chain is a list of properties")
                continue
            if any(self._expressions.has_literals(link) for link in links[:-1]):
                self._collector.leave_out(triple, LITERALS)
                continue
            new = new_variables()
            ends = [new() for _ in range(len(links) + 1)]
            body = [relates(p, x, y) for p, (x, y) in zip(links, pairwise(ends), strict=True)]
            self._rule("prp-spo2", triple, relates(head, ends[0], ends[-1]), *body)

    def _properties(self, head: Object) -> list[Property]:
        """The properties of a list; none if something else is in it, or its end is missing."""
        found = [self._graph.property(item) for item in self._graph.whole(head)]
        return [p for p in found if p is not None] if all(found) else []

    def _symmetric(self, axiom: Triple, p: Property) -> None:
        self._rule("prp-symp", axiom, relates(p, _X, _Y), relates(p, _Y, _X))

    def _transitive(self, axiom: Triple, p: Property) -> None:
        body = (relates(p, _X, _Y), relates(p, _Y, _Z))
        self._rule("prp-trp", axiom, relates(p, _X, _Z), *body)

    def _functional(self, axiom: Triple, p: Property, w3c: str = "prp-fp") -> None:
        head, more = self._expressions.two_values(p, _X, _Y, _Z)
        if more:
            head = self._impossible(axiom, _X, _X)
        body: Parts = (relates(p, _X, _Y), relates(p, _X, _Z), Comparison(_Y, "!=", _Z))
        self._collector.rule((w3c, *more), (axiom,), head, body)

    def _inverse_functional(self, axiom: Triple, p: Property) -> None:
        self._functional(axiom, p.inverted(), "prp-ifp")

    def _keys(self) -> None:
        for triple in self._graph.uses(f"{v.OWL}hasKey"):
            self._collector.note(triple)
            properties = self._properties(triple.object)
            if not properties:
                self._collector.leave_out(triple, "a key is a list of properties")
                continue
            new = new_variables()
            ways = self._expressions.ways
            for one in ways(triple.subject, _X, new, frozenset()):
                for two in ways(triple.subject, _Y, new, frozenset()):
                    body: list[Atom | Comparison] = [*one.body, *two.body]
                    for property_ in properties:
                        value = new()
                        body += [relates(property_, _X, value), relates(property_, _Y, value)]
                    body.append(Comparison(_X, "!=", _Y))
                    self._rule("prp-key", triple, Atom(v.SAME_AS, (_X, _Y)), *body)

    # What cannot be

    def _impossible(self, axiom: Triple, first: Term, second: Term) -> Atom:
        return inconsistent(self._wording.axiom(axiom), first, second)

    def _asymmetric(self, axiom: Triple, p: Property) -> None:
        head = self._impossible(axiom, _X, _Y)
        self._rule("prp-asyp", axiom, head, relates(p, _X, _Y), relates(p, _Y, _X))

    def _irreflexive(self, axiom: Triple, p: Property) -> None:
        self._rule("prp-irp", axiom, self._impossible(axiom, _X, _X), relates(p, _X, _X))

    def _disjoint(self) -> None:
        for triple in self._graph.uses(f"{v.OWL}propertyDisjointWith"):
            first, second = self._pair(triple)
            if first is not None and second is not None:
                self._never_both("prp-pdw", triple, first, second)
        for triple in self._graph.typed(f"{v.OWL}AllDisjointProperties"):
            for member in self._graph.about(triple.subject):
                if member.predicate == f"{v.OWL}members":
                    listed = self._properties(member.object)
                    if not listed:
                        self._collector.leave_out(member, "its members are no list of properties")
                    for pair in combinations(listed, 2):
                        self._never_both("prp-adp", member, *pair)

    def _never_both(self, w3c: str, axiom: Triple, first: Property, second: Property) -> None:
        end = _Y if {first.iri, second.iri} <= self._graph.object_properties else _X
        body = (relates(first, _X, _Y), relates(second, _X, _Y))
        self._rule(w3c, axiom, self._impossible(axiom, _X, end), *body)

    def _never(self) -> None:
        """Facts that are said not to hold."""
        for triple in self._graph.uses(f"{v.OWL}sourceIndividual"):
            self._collector.note(triple)
            for p, value, w3c in self._denied(triple.subject):
                if why := why_no_constant(value):
                    self._collector.leave_out(triple, why)
                    continue
                first, second = constant(triple.object), constant(value)
                end = first if isinstance(value, Literal) else second
                head = self._impossible(triple, first, end)
                self._rule(w3c, triple, head, Atom(predicate(p), (first, second)))

    def _denied(self, node: Node) -> Iterator[tuple[str, Object, str]]:
        for p in self._graph.objects(node, f"{v.OWL}assertionProperty"):
            for name, w3c in (("targetIndividual", "prp-npa1"), ("targetValue", "prp-npa2")):
                for value in self._graph.objects(node, f"{v.OWL}{name}"):
                    if isinstance(p, str) and not is_blank(p):
                        yield p, value, w3c
