"""One random cyclic rule at a time, over a shape from `hypertree_shapes`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

from generators.hypertree_shapes import SHAPES, VARIABLES, Edges, distinct, is_cyclic
from generators.programs import (
    Arithmetic,
    Atom,
    Bind,
    Compare,
    Expression,
    Kind,
    Literal,
    Not,
    Predicate,
    Rule,
    Term,
    Value,
    Var,
)
from generators.random_rules import OPERATORS, chance, shuffled
from generators.rule_programs import ANY, atom
from support.oracle import binding_variables


@dataclass
class Pool:
    """The predicates, and all rules that a program may have."""

    rng: Random
    kind: Kind
    nodes: tuple[Value, ...]
    edges: list[Predicate] = field(default_factory=list)
    triples: list[Predicate] = field(default_factory=list)
    marks: list[Predicate] = field(default_factory=list)
    below: list[Predicate] = field(default_factory=list)
    beside: list[Predicate] = field(default_factory=list)
    heads: list[Predicate] = field(default_factory=list)
    above: list[Predicate] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    spare: set[str] = field(default_factory=set)

    @property
    def schema(self) -> tuple[Predicate, ...]:
        lists = (self.edges, self.triples, self.marks, self.below, self.beside, self.heads)
        return (*(predicate for some in lists for predicate in some), *self.above)

    def predicate(self, name: str, arity: int, level: int) -> Predicate:
        return Predicate(name, (self.kind,) * arity, level)

    def edge(self) -> Predicate:
        return self.rng.choice(self.edges)

    def constant(self) -> Value:
        return self.rng.choice(self.nodes[:3])

    def add(
        self, head: Atom, body: Sequence[Literal], name: str = "r", spare: bool = False
    ) -> None:
        """Leaves out a rule that is there under another name."""
        rule = Rule(f"{name}{len(self.rules) + 1}", head, shuffled(self.rng, body))
        if distinct([*self.rules, rule]):
            self.rules.append(rule)
            if spare:
                self.spare.add(rule.name)

    def reading(self, predicate: Predicate, *variables: Var) -> Atom:
        """An atom with these variables in some of its columns; the others do not matter."""
        places = [i for i, kind in enumerate(predicate.kinds) if kind is self.kind]
        found: list[Term] = [ANY] * len(predicate.kinds)
        chosen = self.rng.sample(places, min(len(places), len(variables)))
        for place, variable in zip(chosen, variables, strict=False):
            found[place] = variable
        return Atom(predicate.name, tuple(found))


@dataclass
class _Cyclic:
    """One cyclic rule, as it is put together."""

    pool: Pool
    recursive: Predicate | None
    atoms: list[Atom] = field(default_factory=list)
    others: list[Literal] = field(default_factory=list)
    computed: list[Var] = field(default_factory=list)

    @property
    def rng(self) -> Random:
        return self.pool.rng

    @property
    def bound(self) -> list[Var]:
        return binding_variables(self.atoms)

    def draw(self, edges: Edges) -> None:
        """Atoms for the edges, and now and then something added to them or replaced."""
        rng = self.rng
        given = [*self.pool.edges, *self.pool.edges, *self.pool.below]
        palette = rng.choices(given, k=rng.choice((1, 1, 2, 3)))
        palette += self.pool.beside if chance(rng, 60) else []
        forward = chance(rng, 35)
        for one, two in edges:
            ends = (VARIABLES[one], VARIABLES[two])
            ends = ends if forward or chance(rng, 50) else ends[::-1]
            if self.pool.triples and chance(rng, 15):
                self.atoms.append(self._triple(ends))
            else:
                self.atoms.append(atom(rng.choice(palette), *ends))
        self._twist()
        if self.recursive:
            self._recur(self.recursive)

    def _triple(self, ends: tuple[Var, ...]) -> Atom:
        thirds: list[Term] = [Var("F1"), Var("F2"), ANY, self.pool.constant(), ends[0], *self.bound]
        terms = shuffled(self.rng, [*ends, self.rng.choice(thirds)])
        return Atom(self.pool.triples[0].name, terms)

    def _twist(self) -> None:
        rng, pool = self.rng, self.pool
        if chance(rng, 7):  # two variables become one
            one, two = rng.sample(self.bound, 2)
            self._replace(one, two, len(self.atoms))
        if chance(rng, 12):  # in one atom, or wherever it stands
            one = rng.choice(self.bound)
            self._replace(one, pool.constant(), 1 if chance(rng, 60) else len(self.atoms))
        if chance(rng, 8):
            one = rng.choice(self.bound)
            self.atoms.append(atom(pool.edge(), one, one))
        if chance(rng, 12):
            self.atoms.append(atom(pool.edge(), rng.choice(self.bound), pool.constant()))
        if chance(rng, 15):
            end = rng.choice((ANY, Var("F3"), Var("F3")))
            self.atoms.append(atom(pool.edge(), *shuffled(rng, [rng.choice(self.bound), end])))
        if pool.marks and chance(rng, 25):
            self.atoms.append(atom(pool.marks[0], rng.choice(self.bound)))

    def _replace(self, variable: Var, term: Term, count: int) -> None:
        """In so many of the atoms that have the variable."""
        having = [i for i, found in enumerate(self.atoms) if variable in found.terms]
        for i in shuffled(self.rng, having)[:count]:
            terms = tuple(term if t == variable else t for t in self.atoms[i].terms)
            self.atoms[i] = replace(self.atoms[i], terms=terms)

    def _recur(self, head: Predicate) -> None:
        """The head's predicate in the place of an edge or two, or beside the edges."""
        rng = self.rng
        binary = [i for i, found in enumerate(self.atoms) if len(found.terms) == 2]
        for place in rng.sample(binary, min(len(binary), rng.choice((1, 1, 1, 2)))):
            if len(head.kinds) == 2 and head.kinds[0] is head.kinds[1]:
                self.atoms[place] = replace(self.atoms[place], predicate=head.name)
            else:
                variables = rng.sample(self.bound, min(len(self.bound), rng.choice((1, 2, 3))))
                self.atoms.append(self.pool.reading(head, *variables))
                break

    def restrict(self) -> None:
        """Comparisons, a negation and a binding that nothing but a comparison reads."""
        rng = self.rng
        for percent in (45, 12):
            if chance(rng, percent):
                self.others.append(self._comparison())
        if chance(rng, 40):
            self.others.append(self._negation("L1"))
            if chance(rng, 15):
                self.others.append(self._negation("L2"))
        if chance(rng, 22):
            left = self._binding(Var("E"))
            operator = rng.choice(("<", "!=", "=", ">="))
            right = rng.choice((*self.bound, *self.bound, self.pool.constant()))
            self.others += [left, Compare(left.variable, operator, right)]
        elif self.pool.kind is Kind.INT and chance(rng, 7):  # a binding of what is bound
            self.others.append(Bind(self._sum(), rng.choice(self.bound)))

    def _comparison(self) -> Compare:
        rng = self.rng
        one, two = rng.sample(self.bound * 2, 2)
        right: Expression = two if one != two and chance(rng, 80) else self.pool.constant()
        if self.pool.kind is Kind.INT and chance(rng, 12):
            right = Arithmetic(right, rng.choice("+-"), 1)
        return Compare(one, rng.choice(("!=", "<", *OPERATORS)), right)

    def _negation(self, local: str) -> Not:
        rng, pool = self.rng, self.pool
        predicate = rng.choice([*pool.edges, *pool.marks, *pool.triples, *pool.below * 2])
        terms: list[Term] = [rng.choice(self.bound) for _ in predicate.kinds]
        if len(terms) > 1 and chance(rng, 45):
            terms[rng.randrange(len(terms))] = rng.choice((Var(local), ANY, pool.constant()))
        elif len(terms) > 1 and chance(rng, 10):
            terms[:2] = [Var(local)] * 2
        return Not(Atom(predicate.name, tuple(terms)))

    def _binding(self, variable: Var) -> Bind:
        """Arithmetic where there are numbers, otherwise another name for a node."""
        if self.pool.kind is Kind.INT:
            return Bind(self._sum(), variable)
        return Bind(self.rng.choice(self.bound), variable)

    def _sum(self) -> Arithmetic:
        one = self.rng.choice(self.bound)
        return Arithmetic(one, self.rng.choice("+-*"), self.rng.choice((*self.bound, 1, 2)))

    def head(self, predicate: Predicate) -> Atom:
        """Different variables as far as there are any; what is computed is bound here."""
        rng, pool = self.rng, self.pool
        variables = [*shuffled(rng, self.bound), *rng.choices(self.bound, k=len(predicate.kinds))]
        terms: list[Term] = []
        for place, kind in enumerate(predicate.kinds):
            if kind is not pool.kind:
                self.others.append(self._binding(Var("D")))
                terms.append(Var("D"))
            elif chance(rng, 7):
                terms.append(pool.constant())
            elif chance(rng, 5):
                self.others.append(Bind(variables[place], Var(f"C{place}")))
                terms.append(Var(f"C{place}"))
            else:
                terms.append(variables[place])
        return Atom(predicate.name, tuple(terms))


def cyclic_rule(pool: Pool, head: Predicate | None, recursive: bool) -> Predicate:
    """Adds a cyclic rule for this head, or for a new one that fits the rule.

    Only what has a head at first can be recursive at once.
    """
    rng = pool.rng
    shape = rng.choice(tuple(SHAPES))
    edges = SHAPES[shape](rng)
    while True:
        rule = _Cyclic(pool, head if recursive else None)
        rule.draw(edges)
        if is_cyclic(rule.atoms):
            break
    rule.restrict()
    head = head or random_head(pool, len(rule.bound))
    chosen = rule.head(head)
    pool.add(chosen, [*rule.atoms, *rule.others], shape)
    return head


def random_head(pool: Pool, variables: int) -> Predicate:
    """With none, one, two, three or all of the variables, and perhaps something computed."""
    rng = pool.rng
    arity = rng.choice((0, *(1,) * 5, *(2,) * 9, 3, 3, variables, variables, variables))
    kinds = [pool.kind] * arity
    if arity and pool.kind is Kind.INT and chance(rng, 22):
        kinds.insert(rng.randrange(arity + 1), Kind.BIG)
    pool.heads.append(Predicate("pqP"[len(pool.heads)], tuple(kinds), 2))
    return pool.heads[-1]
