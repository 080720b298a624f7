"""Class expressions as parts of rules: when something is a member, and what follows if it is.

A named class is an atom. An expression without a name is put into the rules that need it, where
this takes few rules; otherwise it gets a predicate of its own (names.EXPRESSION).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from zodiac_sql.language.syntax import Atom, Comparison, Term, Variable
from zodiac_sql.names import EXPRESSION
from zodiac_sql.ontology import vocabulary as v
from zodiac_sql.ontology.class_graph import ClassGraph, SubclassEdge
from zodiac_sql.ontology.graph import Property
from zodiac_sql.ontology.rules import Names, Parts, inconsistent
from zodiac_sql.ontology.triples import Literal, Node, Object, Triple, is_blank
from zodiac_sql.ontology.wording import Wording
from zodiac_sql.ontology.writing import constant, predicate, why_no_constant


@dataclass(frozen=True, slots=True)
class Membership:
    """One way to be a member of a class: a body, and the W3C's rules behind it."""

    body: Parts
    w3c: tuple[str, ...] = ()
    axioms: tuple[Triple, ...] = ()


@dataclass(frozen=True, slots=True)
class Effect:
    """What follows for a member of a class: a head, and what else the body must say."""

    head: Atom
    body: Parts = ()
    w3c: tuple[str, ...] = ()
    axioms: tuple[Triple, ...] = ()


def relates(property_: Property, first: Term, second: Term) -> Atom:
    """The atom for a property expression."""
    terms = (second, first) if property_.inverse else (first, second)
    return Atom(predicate(property_.iri), terms)


class ClassExpressions:
    """The classes of an ontology as parts of rules. `apart` are expressions with a predicate."""

    def __init__(self, classes: ClassGraph) -> None:
        self.classes, self.graph = classes, classes.graph
        self._wording = Wording(classes.graph, {})
        self.apart: set[Node] = set()

    def is_atom(self, node: Node) -> bool:
        """Whether a class is a predicate."""
        return node in self.apart or self.classes.is_named(node)

    def atom(self, node: Node, term: Term) -> Atom:
        """The atom for a class that is a predicate."""
        if node not in self.apart:
            return Atom(predicate(node), (term,))
        said = self._wording.expression(node).encode()
        return Atom(f"{EXPRESSION}{hashlib.sha256(said).hexdigest()[:12]}", (term,))

    # When something is a member

    def ways(
        self, node: Object, x: Variable, new: Names, seen: frozenset[Node]
    ) -> list[Membership]:
        """All ways in which x is a member of a class, each a body."""
        if isinstance(node, Literal) or node == v.NOTHING or self.graph.is_datatype(node):
            return []
        if self.is_atom(node):
            return [Membership((self.atom(node, x),))]
        if node in seen or len(seen) > _DEEPEST:
            self.apart.add(node)  # it is part of itself, or deep inside others
            return [Membership((self.atom(node, x),))]
        own = self.definitions(node, x, new, seen | {node})
        return [*own, *self._from_below(node, x, new, seen | {node})]

    def _from_below(
        self, node: Node, x: Variable, new: Names, seen: frozenset[Node]
    ) -> list[Membership]:
        """The ways into an expression from the classes below it."""
        found: list[Membership] = []
        by_schema = self._by_schema(node, seen, upwards=False)
        seen = seen.union(by_schema)
        for lower, labels in by_schema.items():
            if lower != node and self.is_atom(lower):
                found.append(Membership((self.atom(lower, x),), labels))
                continue
            for edge in self.classes.into(lower):
                axioms = (edge.axiom,) if edge.axiom else ()
                found += [
                    replace(way, w3c=(*way.w3c, edge.w3c, *labels), axioms=(*way.axioms, *axioms))
                    for way in ([] if edge.by_schema else self._below(edge, x, new, seen))
                ]
        return found

    def _below(
        self, edge: SubclassEdge, x: Variable, new: Names, seen: frozenset[Node]
    ) -> list[Membership]:
        """The ways into what is at the lower end of an edge that an axiom or a structure makes."""
        if self.is_atom(edge.sub):
            return [Membership((self.atom(edge.sub, x),))]
        if edge.sub in seen:
            return []
        inner = seen | {edge.sub}
        own = [] if edge.implied else self.definitions(edge.sub, x, new, inner)
        return [*own, *self._from_below(edge.sub, x, new, inner)]

    def _by_schema(
        self, node: Node, seen: frozenset[Node], *, upwards: bool
    ) -> dict[Node, tuple[str, ...]]:
        """A class, and all expressions above or below it that only the schema puts there.

        Each comes once, with the rules of the W3C: in the wine ontology, dozens of expressions say
        the same, so each is below each other, and the ways through all of them have no end.
        """
        found: dict[Node, tuple[str, ...]] = {node: ()}
        waiting = [node]
        for one in waiting:  # it grows
            if one != node and self.is_atom(one):
                continue
            for edge in self.classes.out_of(one) if upwards else self.classes.into(one):
                other = edge.sup if upwards else edge.sub
                if edge.by_schema and other not in found and other not in seen:
                    labels = found[one]
                    found[other] = (*labels, edge.w3c) if upwards else (edge.w3c, *labels)
                    waiting.append(other)
        return found

    def definitions(
        self, node: Node, x: Variable, new: Names, seen: frozenset[Node] = frozenset()
    ) -> list[Membership]:
        """The ways in which x is a member by what an expression is made of."""
        if node in self.classes.ends:
            return [Membership((relates(self.classes.ends[node].property, x, new()),))]
        found: list[Membership] = []
        for triple in self.graph.about(node):
            axioms = () if is_blank(node) else (triple,)
            for way in self._definition(triple, x, new, seen):
                found.append(replace(way, axioms=(*axioms, *way.axioms)))
        return found

    def _definition(
        self, triple: Triple, x: Variable, new: Names, seen: frozenset[Node]
    ) -> Iterator[Membership]:
        name, value = triple.predicate.removeprefix(v.OWL), triple.object
        if name == "intersectionOf":
            members = [self.ways(m, x, new, seen) for m in self.graph.whole(value)]
            for chosen in product(*members) if members else ():
                w3c = tuple(label for way in chosen for label in way.w3c)
                body = tuple(part for way in chosen for part in way.body)
                axioms = tuple(axiom for way in chosen for axiom in way.axioms)
                yield Membership(body, ("cls-int1", *w3c), axioms)
        elif name == "oneOf":
            for member in self.graph.items(value):
                if isinstance(member, str):
                    yield Membership((Comparison(x, "=", constant(member)),), ("cls-oo",))
        elif name == "someValuesFrom":
            yield from self._some(triple, x, new, seen)
        elif name == "hasValue" and not why_no_constant(value):
            for on in self._on(triple.subject):
                yield Membership((relates(on, x, constant(value)),), ("cls-hv2",))

    def _some(
        self, triple: Triple, x: Variable, new: Names, seen: frozenset[Node]
    ) -> Iterator[Membership]:
        for on in self._on(triple.subject):
            if triple.object in (v.THING, f"{v.RDFS}Literal"):
                yield Membership((relates(on, x, new()),), ("cls-svf2",))
            elif not self.has_literals(on):
                y = new()
                for way in self.ways(triple.object, y, new, seen):
                    body = (relates(on, x, y), *way.body)
                    yield Membership(body, ("cls-svf1", *way.w3c), way.axioms)

    def _on(self, node: Node) -> Iterator[Property]:
        """The properties that a restriction is about."""
        for on in self.graph.objects(node, v.ON_PROPERTY):
            if (property_ := self.graph.property(on)) is not None:
                yield property_

    def has_literals(self, property_: Property) -> bool:
        """Whether what a property leads to are literals."""
        return property_.iri in self.graph.data_properties and not property_.inverse

    # What follows for a member

    def effects(
        self, node: Object, x: Variable, new: Names, seen: frozenset[Node] = frozenset()
    ) -> list[Effect]:
        """All that follows if x is a member of a class."""
        if isinstance(node, Literal) or node == v.THING or self.graph.is_datatype(node):
            return []
        if node == v.NOTHING:
            return [Effect(inconsistent("", x, x), w3c=("cls-nothing2",))]
        if self.is_atom(node):
            return [Effect(self.atom(node, x))]
        if len(seen) > _DEEPEST:
            self.apart.add(node)
            return [Effect(self.atom(node, x))]
        return [] if node in seen else self.beyond(node, x, new, seen | {node})

    def beyond(
        self,
        node: Node,
        x: Variable,
        new: Names,
        seen: frozenset[Node] = frozenset(),
        *,
        defined: bool = False,
    ) -> list[Effect]:
        """What follows besides the membership itself; if `defined`, x is a member by definition."""
        found: list[Effect] = []
        for triple in self.graph.about(node):
            axioms = () if is_blank(node) else (triple,)
            for effect in self._consequences(triple, x, new, seen):
                found.append(replace(effect, axioms=(*axioms, *effect.axioms)))
        return [*found, *self._above(node, x, new, seen | {node}, defined)]

    def _above(
        self, node: Node, x: Variable, new: Names, seen: frozenset[Node], defined: bool
    ) -> Iterator[Effect]:
        """What follows from being in the classes above."""
        none: dict[Node, tuple[str, ...]] = {node: ()}
        by_schema = none if defined else self._by_schema(node, seen, upwards=True)
        seen = seen.union(by_schema)
        for upper, labels in by_schema.items():
            if upper != node and self.is_atom(upper):
                for effect in self.effects(upper, x, new, seen):
                    yield replace(effect, w3c=(*labels, *effect.w3c))
                continue
            for edge in self.classes.out_of(upper):
                if edge.by_schema or (defined and edge.implied):
                    continue
                axioms = (edge.axiom,) if edge.axiom else ()
                for effect in self.effects(edge.sup, x, new, seen):
                    said = (*labels, edge.w3c, *effect.w3c)
                    yield replace(effect, w3c=said, axioms=(*axioms, *effect.axioms))

    def _consequences(
        self, triple: Triple, x: Variable, new: Names, seen: frozenset[Node]
    ) -> Iterator[Effect]:
        name, value = triple.predicate.removeprefix(v.OWL), triple.object
        if name == "hasValue" and not why_no_constant(value):
            for on in self._on(triple.subject):
                yield Effect(relates(on, x, constant(value)), w3c=("cls-hv1",))
        elif name == "allValuesFrom":
            for on in self._on(triple.subject):
                if not self.has_literals(on):
                    y = new()
                    for effect in self.effects(value, y, new, seen):
                        body = (relates(on, x, y), *effect.body)
                        yield replace(effect, body=body, w3c=("cls-avf", *effect.w3c))
        elif name == "complementOf":
            for way in self.ways(value, x, new, frozenset()):
                yield Effect(inconsistent("", x, x), way.body, ("cls-com",))
        elif name in ("maxCardinality", "maxQualifiedCardinality"):
            yield from self._at_most(triple, x, new)

    def _at_most(self, triple: Triple, x: Variable, new: Names) -> Iterator[Effect]:
        most, qualified = cardinality(triple.object), triple.predicate == _MAX_QUALIFIED
        filler = self.graph.one(triple.subject, v.ON_CLASS) if qualified else None
        if qualified and (filler is None or self.graph.is_datatype(filler)):
            return
        w3c = _AT_MOST[qualified, most, filler == v.THING] if most in (0, 1) else ""
        for on in self._on(triple.subject):
            y, z = new(), new()
            first = self.ways(filler, y, new, frozenset()) if filler and w3c else [Membership(())]
            second = self.ways(filler, z, new, frozenset()) if filler and w3c else [Membership(())]
            if most == 0:
                for way in first:
                    end = x if self.has_literals(on) else y
                    yield Effect(inconsistent("", x, end), (relates(on, x, y), *way.body), (w3c,))
            elif most == 1:
                head, more = self.two_values(on, x, y, z)
                pair = (relates(on, x, y), relates(on, x, z), Comparison(y, "!=", z))
                for one, two in product(first, second):
                    yield Effect(head, (*pair, *one.body, *two.body), (w3c, *more))

    def two_values(
        self, on: Property, x: Variable, y: Variable, z: Variable
    ) -> tuple[Atom, tuple[str, ...]]:
        """What follows from two values: they are equal, or literals that cannot be."""
        if self.has_literals(on):
            return inconsistent("", x, x), ("dt-diff", "eq-diff1")
        return Atom(v.SAME_AS, (y, z)), ()


_DEEPEST = 40
"""Rules do not follow expressions into each other deeper than this."""

_MAX_QUALIFIED = f"{v.OWL}maxQualifiedCardinality"

_AT_MOST = {
    (False, 0, False): "cls-maxc1", (False, 1, False): "cls-maxc2",
    (True, 0, False): "cls-maxqc1", (True, 0, True): "cls-maxqc2",
    (True, 1, False): "cls-maxqc3", (True, 1, True): "cls-maxqc4",
}  # fmt: skip


def cardinality(value: Object) -> int | None:
    """The number in a cardinality; None if it is none."""
    if not isinstance(value, Literal):
        return None
    return int(value.text) if value.text.strip().isdecimal() else None
