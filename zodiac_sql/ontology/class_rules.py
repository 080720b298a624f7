"""Axioms about classes -> rules: subclasses, equivalent and disjoint classes, domains, ranges.

There is a rule for each way from a class that is a predicate, or from what an expression is made
of, to the next class that is a predicate: what lies between are expressions without names. Direct
axioms suffice, since rules follow each other; only edges between expressions need what the ontology
implies (schema.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, product

from zodiac_sql.language.syntax import Atom, Comparison, Variable
from zodiac_sql.names import INCONSISTENT
from zodiac_sql.ontology import vocabulary as v
from zodiac_sql.ontology.expressions import ClassExpressions, Effect, Membership
from zodiac_sql.ontology.limits import LITERALS, LeftOut
from zodiac_sql.ontology.rules import Collector, inconsistent, new_variables
from zodiac_sql.ontology.triples import Node, Triple, is_blank
from zodiac_sql.ontology.wording import Wording
from zodiac_sql.ontology.writing import constant, why_no_constant

_X = Variable("x")


class ClassRules:
    """Makes the rules of an ontology's classes."""

    def __init__(
        self, expressions: ClassExpressions, collector: Collector, wording: Wording
    ) -> None:
        self._expressions, self._collector, self._wording = expressions, collector, wording
        self._classes, self._graph = expressions.classes, expressions.graph
        self._limits = LeftOut(expressions)

    def make(self) -> None:
        """Make all rules, and say what is left out."""
        self._set_apart()
        for node in self._classes.nodes():
            self._from_node(node)
        self._members_of_expressions()
        for axiom, first, second, w3c in self._disjoint():
            self._never_both(axiom, first, second, w3c)
        self._say_what_is_left_out()

    # Expressions that get a predicate

    def _set_apart(self) -> None:
        """Choose the expressions that would otherwise be written into too many rules."""
        expressions = self._expressions
        most = dict(self._fillers())
        heights: dict[Node, int] = {}
        for node in self._inner_first():
            inner = (heights.get(one, 0) for one in self._inside(node))
            heights[node] = 1 + max(inner, default=0)
            if heights[node] > _HIGHEST:
                heights[node] = 0
                expressions.apart.add(node)
                continue
            new = new_variables()
            into = len(expressions.ways(node, _X, new, frozenset()))
            out = len(expressions.beyond(node, _X, new))
            many = into > 1 and out > 1 and into * out > into + out + _MORE
            if many or into > most.get(node, into):
                expressions.apart.add(node)

    def _inner_first(self) -> list[Node]:
        """The expressions without names, those inside others first: then these are small."""
        order: dict[Node, None] = {}
        todo = [(node, False) for node in reversed(self._classes.nodes())]
        entered: set[Node] = set()
        while todo:
            node, left = todo.pop()
            if left:
                order[node] = None
            elif is_blank(node) and node not in entered and node not in self._classes.ends:
                entered.add(node)
                todo += [(node, True), *((inner, False) for inner in self._inside(node))]
        return list(order)

    def _inside(self, node: Node) -> Iterator[Node]:
        """The expressions that one is made of."""
        for triple in self._graph.about(node):
            if triple.predicate in v.SCHEMA_PROPERTIES and isinstance(triple.object, str):
                listed = [m for m in self._graph.items(triple.object) if isinstance(m, str)]
                yield from listed or [triple.object]

    def _fillers(self) -> Iterator[tuple[Node, int]]:
        """The expressions that stand inside others, and how many ways they may have there."""
        for name in ("someValuesFrom", "allValuesFrom", "complementOf", "onClass"):
            for triple in self._graph.uses(f"{v.OWL}{name}"):
                yield str(triple.object), _MOST_WAYS
        for triple in self._graph.uses(f"{v.OWL}intersectionOf"):
            members = self._graph.items(triple.object)
            for member in members:
                yield str(member), _MOST_WAYS if len(members) < 3 else 1

    # Rules

    def _from_node(self, node: Node) -> None:
        """The rules that begin with the members of a class."""
        expressions, new = self._expressions, new_variables()
        if not expressions.is_atom(node):
            for way in expressions.definitions(node, _X, new):
                for effect in expressions.beyond(node, _X, new, defined=True):
                    self._rule(way, effect)
            return
        atom = expressions.atom(node, _X)
        for way in expressions.definitions(node, _X, new):
            self._rule(way, Effect(atom))
        for effect in expressions.beyond(node, _X, new):
            self._rule(Membership((atom,)), effect)

    def _rule(self, way: Membership, effect: Effect) -> None:
        axioms = tuple(dict.fromkeys((*way.axioms, *effect.axioms)))
        head = effect.head
        if head.predicate == INCONSISTENT:
            said = "; ".join(map(self._wording.axiom, axioms))
            head = inconsistent(said, *head.terms[1:])
        self._add((*way.w3c, *effect.w3c), axioms, head, (*way.body, *effect.body))

    def _add(
        self, w3c: Iterable[str], axioms: Iterable[Triple], head: Atom, body: tuple[object, ...]
    ) -> None:
        first = sorted(dict.fromkeys(w3c), key=lambda label: label.startswith(("cax", "scm")))
        self._collector.rule(first, axioms, head, body)  # type: ignore[arg-type]

    def _members_of_expressions(self) -> None:
        """What follows from `a rdf:type [ ... ]`: a fact, or a rule with a constant."""
        for triple in self._graph.uses(v.TYPE):
            if is_blank(triple.object) or triple.object == v.NOTHING:
                member = Comparison(_X, "=", constant(triple.subject))
                for effect in self._expressions.effects(triple.object, _X, new_variables()):
                    self._rule(Membership((member,), axioms=(triple,)), effect)
                self._limit(triple, self._limits.above(triple.object))

    # What cannot be

    def _disjoint(self) -> Iterator[tuple[Triple, Node, Node, str]]:
        """Pairs of classes without common members."""
        for triple in self._graph.uses(f"{v.OWL}disjointWith"):
            if isinstance(triple.object, str):
                yield triple, triple.subject, triple.object, "cax-dw"
        for triple in self._graph.typed(f"{v.OWL}AllDisjointClasses"):
            for members in self._graph.objects(triple.subject, f"{v.OWL}members"):
                listed = [m for m in self._graph.items(members) if isinstance(m, str)]
                for first, second in combinations(listed, 2):
                    yield self._listing(triple), first, second, "cax-adc"

    def _listing(self, triple: Triple) -> Triple:
        """The statement that lists the members: it says more than the type."""
        about = self._graph.about(triple.subject)
        return next((t for t in about if t.predicate == f"{v.OWL}members"), triple)

    def _never_both(self, axiom: Triple, first: Node, second: Node, w3c: str) -> None:
        new, nothing = new_variables(), frozenset[Node]()
        ways = self._expressions.ways
        head = inconsistent(self._wording.axiom(axiom), _X, _X)
        self._collector.note(axiom)
        for one, two in product(ways(first, _X, new, nothing), ways(second, _X, new, nothing)):
            self._add((w3c, *one.w3c, *two.w3c), (axiom,), head, (*one.body, *two.body))
        for reason in (*self._limits.below(first), *self._limits.below(second)):
            self._collector.leave_out(axiom, reason)

    # The report

    def _say_what_is_left_out(self) -> None:
        for triple in self._graph.uses(f"{v.RDFS}subClassOf"):
            self._limit(triple, self._limits.below(triple.subject))
            self._limit(triple, self._limits.above(triple.object))
        for triple in self._graph.uses(f"{v.OWL}equivalentClass"):
            for node in (triple.subject, triple.object):
                self._limit(triple, self._limits.below(node))
                self._limit(triple, self._limits.above(node))
        for name in ("domain", "range"):
            for triple in self._graph.uses(f"{v.RDFS}{name}"):
                literal = self._graph.is_datatype(triple.object) or (
                    name == "range" and triple.subject in self._graph.data_properties
                )
                self._limit(triple, [LITERALS] if literal else self._limits.above(triple.object))
        for name in ("intersectionOf", "unionOf", "complementOf", "oneOf"):
            for triple in self._graph.uses(f"{v.OWL}{name}"):
                if not is_blank(triple.subject) and not self._graph.is_datatype(triple.subject):
                    self._limit(triple, self._limits.of_a_name(triple))
        for triple in self._graph.uses(f"{v.OWL}hasValue"):
            if not is_blank(triple.subject) and (why := why_no_constant(triple.object)):
                self._limit(triple, [why])
        for triple in self._graph.uses(f"{v.OWL}disjointUnionOf"):
            self._limit(triple, ["`disjointUnionOf` is not in OWL 2 RL"])

    def _limit(self, axiom: Triple, reasons: Iterable[str]) -> None:
        self._collector.note(axiom)
        for reason in reasons:
            self._collector.leave_out(axiom, reason)


_MOST_WAYS = 3
"""An expression inside others is written out in each if it has up to this many ways; in a long
intersection if it has one, since each member's ways go with each of the others'."""

_HIGHEST = 20
"""Expressions are nested up to this deep in one rule."""

_MORE = 2
"""A predicate of its own is worth this many rules."""
