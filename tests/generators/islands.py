"""Islands of closed relations: the rules that close them, and rules that live with these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from generators.programs import (
    Aggregate,
    Atom,
    Compare,
    Kind,
    Literal,
    Not,
    Predicate,
    Rule,
    Value,
    Var,
)
from generators.random_rules import shuffled
from generators.rule_programs import ANY, atom
from support.closures import LETTERS

X, Y, Z, N, M, L = map(Var, "XYZNML")
NODES = (*LETTERS, "i", "k")  # nine; one needs quotes, and sorts before the others
VARIABLES = ("X", "Y", "Z", "U", "V", "A", "B", "C1")


# ------------------------------------------------------------------------------ rules that close


def transitive(rng: Random, relation: Predicate, unequal: bool) -> Rule:
    """R(x, z) :- R(x, y), R(y, z), perhaps with x != z."""
    ends = rng.choice(((X, Z), (Z, X)))
    guard = [Compare(ends[0], "!=", ends[1])] if unequal else []
    return rewritten(
        rng, atom(relation, X, Z), (atom(relation, X, Y), atom(relation, Y, Z), *guard)
    )


def symmetric(rng: Random, relation: Predicate, unequal: bool) -> Rule:
    """R(x, y) :- R(y, x), perhaps with x != y."""
    ends = rng.choice(((X, Y), (Y, X)))
    guard = [Compare(ends[0], "!=", ends[1])] if unequal else []
    return rewritten(rng, atom(relation, X, Y), (atom(relation, Y, X), *guard))


def closes(rule: Rule) -> bool:
    """Whether a rule of a pool is one of the two above."""
    return rule.name[0] in "ty"


def rewritten(rng: Random, head: Atom, body: Sequence[Literal]) -> Rule:
    """The same rule with other variables, its body in another order. It has no name yet."""
    names = dict(zip("XYZNML", rng.sample(VARIABLES, 6), strict=True))

    def term(found: Var | Value) -> Var | Value:
        known = isinstance(found, Var) and not found.anonymous
        return Var(names[found.name]) if known else found  # type: ignore[union-attr]

    def literal(found: Literal) -> Literal:
        if isinstance(found, Atom):
            return Atom(found.predicate, tuple(map(term, found.terms)))
        if isinstance(found, Not):
            return Not(literal(found.atom))  # type: ignore[arg-type]
        if isinstance(found, Compare):
            return Compare(term(found.left), found.operator, term(found.right))  # type: ignore[arg-type]
        assert isinstance(found, Aggregate)
        return Aggregate(
            tuple(map(literal, found.body)),
            tuple(map(term, found.group)),  # type: ignore[arg-type]
            found.function,
            term(found.argument),  # type: ignore[arg-type]
            term(found.result),  # type: ignore[arg-type]
            distinct=found.distinct,
        )

    renamed = Atom(head.predicate, tuple(map(term, head.terms)))
    return Rule("", renamed, tuple(map(literal, shuffled(rng, body))))


# ---------------------------------------------------------------------------------------- islands


@dataclass
class Island:
    """Relations over nodes of one kind, and sets of these nodes."""

    rng: Random
    kind: Kind
    nodes: tuple[Value, ...]
    suffix: str
    given: list[Predicate] = field(default_factory=list)
    closed: list[Predicate] = field(default_factory=list)
    companions: list[Predicate] = field(default_factory=list)
    marks: list[Predicate] = field(default_factory=list)
    reached: list[Predicate] = field(default_factory=list)
    above: list[Predicate] = field(default_factory=list)
    counts: list[Predicate] = field(default_factory=list)
    linear: list[Predicate] = field(default_factory=list)
    """Those of `closed` that linear rules close."""

    @property
    def schema(self) -> list[Predicate]:
        lists = (self.given, self.closed, self.companions, self.marks, self.reached, self.above)
        return [*(predicate for some in lists for predicate in some), *self.counts]

    def predicate(self, name: str, arity: int, level: int) -> Predicate:
        return Predicate(name + self.suffix, (self.kind,) * arity, level)

    def count(self, name: str) -> Predicate:
        kinds = (self.kind, Kind.BIG)
        self.counts.append(Predicate(name + self.suffix, kinds, 1, aggregate=True))
        return self.counts[-1]

    def base(self) -> Predicate:
        return self.rng.choice(self.given)

    def mark(self) -> Predicate:
        return self.rng.choice([*self.marks, *self.reached])

    def constant(self) -> Value:
        return self.rng.choice(self.nodes[:3])

    def fellow(self, relation: Predicate) -> Predicate:
        """A relation that may share a hypernode with this one."""
        others = [p for p in self.closed if p != relation]
        return self.rng.choice([*self.companions * 2, *others * 2, *self.above[:1], *self.given])


Shape = tuple[Atom, tuple[Literal, ...]]


def bases_of_island(island: Island, relation: Predicate) -> list[Shape]:
    """What a closed relation is made of, from below."""
    e, f, m = island.base(), island.base(), island.marks[0]
    return [
        (atom(relation, X, Y), (atom(e, X, Y),)),
        (atom(relation, X, Y), (atom(e, X, Y),)),
        (atom(relation, X, Y), (atom(e, Y, X),)),
        (atom(relation, X, Y), (atom(e, X, Y), Not(atom(f, Y, X)))),
        (atom(relation, X, Y), (atom(e, X, Y), atom(m, Y))),
        (atom(relation, X, Z), (atom(e, X, Y), atom(f, Y, Z))),
        (atom(relation, X, X), (atom(m, X),)),
        (atom(relation, island.constant(), X), (atom(m, X),)),
    ]


def prolonged(relation: Predicate, base: Predicate) -> list[Shape]:
    """Linear rules: they close the relation if its other facts are those of the base."""
    return [
        (atom(relation, X, Z), (atom(relation, X, Y), atom(base, Y, Z))),
        (atom(relation, X, Z), (atom(base, X, Y), atom(relation, Y, Z))),
    ]


def feeders(island: Island, relation: Predicate) -> list[Shape]:
    """What feeds a closed relation, mostly from within its hypernode."""
    e, m, s, t = island.base(), island.mark(), island.fellow(relation), island.fellow(relation)
    return [
        (atom(relation, X, Y), (atom(s, X, Y),)),
        (atom(relation, X, Y), (atom(s, X, Y),)),
        (atom(relation, X, Y), (atom(s, Y, X),)),
        (atom(relation, X, Y), (atom(s, X, Y), atom(m, Y))),
        (atom(relation, X, Z), (atom(relation, X, Y), atom(e, Y, Z))),
        (atom(relation, X, Z), (atom(e, X, Y), atom(relation, Y, Z))),
        (atom(relation, X, Z), (atom(relation, X, Y), atom(s, Y, Z))),
        (atom(relation, X, Z), (atom(s, X, Y), atom(relation, Y, Z))),
        (atom(relation, X, Z), (atom(s, X, Y), atom(t, Y, Z))),
        (atom(relation, X, Y), (atom(s, X, Z), atom(e, Z, Y), Compare(X, "!=", Y))),
        (atom(relation, X, Y), (atom(s, X, Y), Compare(X, "<", Y))),
        (atom(relation, X, Y), (atom(s, X, Y), Not(atom(e, Y, X)))),
        (atom(relation, X, X), (atom(s, X, ANY),)),
        (atom(relation, X, Y), (atom(m, X), atom(island.mark(), Y))),
        (atom(relation, X, island.constant()), (atom(m, X),)),
    ]


def nearly(island: Island, relation: Predicate) -> list[Shape]:
    """What looks like a rule that closes a relation, and is none."""
    guards: list[Literal] = [
        Compare(X, "!=", Y),
        Compare(X, "<", Z),
        Compare(Y, "!=", island.constant()),
        atom(island.mark(), Y),
        Not(atom(island.base(), X, Z)),
    ]
    path = (atom(relation, X, Y), atom(relation, Y, Z))
    other = island.fellow(relation)
    return [
        (atom(relation, X, Z), (*path, island.rng.choice(guards))),
        (atom(relation, Z, X), path),
        (atom(relation, X, Z), (atom(relation, X, Y), atom(relation, Z, Y))),
        (atom(relation, X, Z), (atom(relation, Y, X), atom(relation, Y, Z), Compare(X, "!=", Z))),
        (atom(relation, X, X), (atom(relation, X, Y), atom(relation, Y, X))),
        (atom(relation, X, X), (atom(relation, ANY, X),)),
        (atom(relation, X, L), (*path, atom(relation, Z, L))),
        (atom(relation, X, Z), (*path, atom(relation, X, ANY))),
        (atom(relation, X, Y), (atom(relation, Y, X), Compare(X, "<", Y))),
        (atom(relation, X, Y), (atom(relation, Y, X), atom(island.mark(), X))),
        (atom(relation, X, island.constant()), (atom(relation, island.constant(), X),)),
        (atom(other, X, Z), path),
    ]


def companions(island: Island, companion: Predicate, relation: Predicate) -> list[Shape]:
    """Relations beside a closed one."""
    e, r, other = island.base(), relation, island.fellow(companion)
    return [
        (atom(companion, X, Y), (atom(r, X, Y),)),
        (atom(companion, X, Y), (atom(r, Y, X),)),
        (atom(companion, X, Y), (atom(r, X, Y), Compare(X, "!=", Y))),
        (atom(companion, X, Z), (atom(r, X, Y), atom(e, Y, Z))),
        (atom(companion, X, Z), (atom(e, X, Y), atom(r, Y, Z))),
        (atom(companion, X, Z), (atom(r, X, Y), atom(r, Y, Z))),
        (atom(companion, X, Z), (atom(r, X, Y), atom(companion, Y, Z))),
        (atom(companion, X, Z), (atom(companion, X, Y), atom(e, Y, Z))),
        (atom(companion, X, Y), (atom(e, X, Y), atom(r, X, X))),
        (atom(companion, X, Y), (atom(other, X, Y), atom(island.mark(), X))),
        (atom(companion, X, Y), (atom(e, X, Y),)),
        (atom(companion, X, Y), (atom(companion, Y, X),)),
    ]


def reached(island: Island, head: Predicate, relation: Predicate) -> list[Shape]:
    """Sets of nodes beside a closed relation."""
    m = island.marks[0]
    return [
        (atom(head, Y), (atom(m, X), atom(relation, X, Y))),
        (atom(head, Y), (atom(head, X), atom(relation, X, Y))),
        (atom(head, X), (atom(head, Y), atom(island.base(), X, Y))),
        (atom(head, X), (atom(relation, X, X),)),
        (atom(head, X), (atom(relation, island.constant(), X), Not(atom(m, X)))),
    ]


def readers_above(island: Island, head: Predicate, relation: Predicate) -> list[Shape]:
    """What reads a closed relation as it is when it is closed."""
    e, m, other = island.base(), island.marks[0], island.rng.choice(island.closed)
    return [
        (atom(head, X, Y), (atom(m, X), atom(m, Y), Not(atom(relation, X, Y)))),
        (atom(head, X, Y), (atom(e, X, Y), Not(atom(relation, Y, X)))),
        (atom(head, X, Y), (atom(relation, X, Y), Not(atom(relation, Y, Y)))),
        (atom(head, X, X), (atom(m, X), Not(atom(relation, X, L)))),
        (atom(head, X, Z), (atom(relation, X, Y), atom(other, Y, Z), atom(m, Y))),
        (atom(head, X, Y), (atom(relation, X, Y), Compare(X, "<=", Y))),
        (atom(head, X, Y), (atom(relation, X, Y), Not(atom(e, X, Y)))),
        *(
            (atom(head, X, Y), (atom(relation, X, Y), atom(count, Y, N), Compare(N, ">", 2)))
            for count in island.counts
        ),
    ]
