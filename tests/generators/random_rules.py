"""One random rule at a time: its body, its head, and pairs of rules that close a relation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from generators.programs import (
    INTEGERS,
    SYMBOLS,
    Aggregate,
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
    T,
    Term,
    Value,
    Var,
    with_anonymous,
)

VARIABLES = ("X", "Y", "Z", "U", "V")  # at most five in a rule, so that cross products stay small
EDB_NAMES = ("e", "f", "g")
IDB_NAMES = ("p", "q", "P", "r", "Q", "s", "t", "u", "v")  # p and P are two predicates
OPERATORS = ("!=", "<", "=", "<=", ">", ">=")


def chance(rng: Random, percent: int) -> bool:
    return rng.randrange(100) < percent


def shuffled(rng: Random, items: Sequence[T]) -> tuple[T, ...]:
    return tuple(rng.sample(items, len(items)))


def _constant(rng: Random, kind: Kind) -> Value:
    return rng.choice(INTEGERS) if kind.numeric else rng.choice(SYMBOLS)


@dataclass
class _RuleBuilder:
    """Collects a body literal by literal and remembers which variables it binds."""

    rng: Random
    bound: dict[Var, Kind] = field(default_factory=dict)
    body: list[Literal] = field(default_factory=list)
    locals: int = 0

    def of(self, kind: Kind) -> list[Var]:
        return [v for v, k in self.bound.items() if k.numeric == kind.numeric]

    def positive(self, predicate: Predicate) -> None:
        terms = tuple(self._term(kind) for kind in predicate.kinds)
        self.body.append(Atom(predicate.name, terms))

    def _term(self, kind: Kind) -> Term:
        if chance(self.rng, 6):
            return _constant(self.rng, kind)
        if chance(self.rng, 6):
            return Var("_")
        known = self.of(kind)
        room = len(self.bound) < len(VARIABLES)
        if known and (not room or chance(self.rng, 55)):
            return self.rng.choice(known)
        return self.fresh(kind) if room else _constant(self.rng, kind)

    def fresh(self, kind: Kind) -> Var:
        variable = Var(VARIABLES[len(self.bound)])
        self.bound[variable] = kind
        return variable

    def negative(self, predicate: Predicate) -> None:
        terms = [self._negated_term(kind) for kind in predicate.kinds]
        if len(terms) > 1 and predicate.kinds[0] is predicate.kinds[1] and chance(self.rng, 10):
            self.locals += 1
            terms[:2] = [Var(f"L{self.locals}")] * 2
        self.body.append(Not(Atom(predicate.name, tuple(terms))))

    def _negated_term(self, kind: Kind) -> Term:
        known = self.of(kind)
        if known and not chance(self.rng, 30):
            return self.rng.choice(known)
        choice = self.rng.choice(("constant", "anonymous", "local"))
        if choice == "constant":
            return _constant(self.rng, kind)
        if choice == "anonymous":
            return Var("_")
        # A name of its own: what a local variable shared by two negations means is not settled.
        self.locals += 1
        return Var(f"L{self.locals}")

    def comparison(self) -> None:
        if not self.bound:
            return
        left = self.rng.choice(list(self.bound))
        kind = self.bound[left]
        others = [v for v in self.of(kind) if v != left]
        right: Expression
        if others and chance(self.rng, 60):
            right = self.rng.choice(others)
        else:
            right = _constant(self.rng, kind)
        if kind.numeric and chance(self.rng, 20):
            right = Arithmetic(right, self.rng.choice(("+", "-")), 1)
        self.body.append(Compare(left, self.rng.choice(OPERATORS), right))

    def binding(self) -> None:
        """`V = expression` over INT variables; the result is BIG, so arithmetic ends there."""
        inputs = [v for v, k in self.bound.items() if k is Kind.INT]
        if not inputs:
            return
        operands: list[Expression] = [*inputs, 1, 2, 3]
        left: Expression = self.rng.choice(inputs)
        for _ in range(self.rng.randint(1, 2)):
            operator = self.rng.choice(("+", "-", "*"))
            left = Arithmetic(left, operator, self.rng.choice(operands))
        result = Var(f"B{sum(isinstance(literal, Bind) for literal in self.body)}")
        self.body.append(Bind(left, result))
        self.bound[result] = Kind.BIG

    def head(self, predicate: Predicate) -> Atom:
        return Atom(predicate.name, tuple(self._head_term(kind) for kind in predicate.kinds))

    def _head_term(self, kind: Kind) -> Term:
        fitting = [v for v in self.of(kind) if kind is not Kind.INT or self.bound[v] is kind]
        if kind is Kind.BIG:  # what was computed should be seen
            computed = [v for v in fitting if self.bound[v] is Kind.BIG]
            fitting = computed or fitting
        if not fitting or chance(self.rng, 5):
            return _constant(self.rng, kind)
        return self.rng.choice(fitting)

    def shuffled(self) -> tuple[Literal, ...]:
        return shuffled(self.rng, self.body)


def plain_rule(
    rng: Random, name: str, head: Predicate, lower: Sequence[Predicate], same: Sequence[Predicate]
) -> Rule:
    """A rule without an aggregate. It is recursive if it uses `same`, the head's own level."""
    builder = _RuleBuilder(rng)
    recursive = False
    for position in range(rng.choice((1, 2, 2, 2, 3))):
        recurse = bool(same) and (position == 0 or chance(rng, 45))
        recursive = recursive or recurse
        builder.positive(rng.choice(same if recurse else lower))
    if not recursive and chance(rng, 80 if Kind.BIG in head.kinds else 10):
        builder.binding()
    if chance(rng, 30):
        builder.comparison()
    if chance(rng, 35):
        derived = [p for p in lower if p.level > 0]
        builder.negative(rng.choice(derived * 2 + list(lower)))
    return Rule(name, builder.head(head), builder.shuffled())


def aggregate_rule(
    rng: Random, names: tuple[str, str], level: int, lower: Sequence[Predicate]
) -> tuple[Predicate, Rule] | None:
    """A rule with an aggregate and the predicate it derives; None if the body binds nothing."""
    inner = _RuleBuilder(rng)
    for _ in range(rng.choice((1, 1, 2))):
        inner.positive(rng.choice(lower))
    if chance(rng, 20):
        inner.comparison()
    if chance(rng, 25):
        inner.negative(rng.choice(lower))
    if not inner.bound:
        return None
    argument = rng.choice(list(inner.bound))
    function = "COUNT"
    if inner.bound[argument].numeric:
        extremes = ("COUNT", "MIN", "MAX")
        small = inner.bound[argument] is Kind.INT
        function = rng.choice(("SUM", *extremes) if small else extremes)
    own = chance(rng, 15)  # then a group may have a single value of the argument: its own
    others = [v for v in inner.bound if own or v != argument]
    group = shuffled(rng, others)[: rng.choice((1, 1, 2, 0))]
    result = Var("N")
    body = inner.shuffled()
    if chance(rng, 40):
        body = with_anonymous(body, [argument, *group])
    distinct = chance(rng, 25)
    literal = Aggregate(body, group, function, argument, result, distinct=distinct)
    bound = {v: inner.bound[v] for v in group} | {result: Kind.BIG}
    outer = _RuleBuilder(rng, bound, [literal], inner.locals)
    if chance(rng, 20):
        outer.comparison()
    if chance(rng, 15):
        outer.negative(rng.choice(lower))
    terms = shuffled(rng, [*group, result])
    predicate = Predicate(names[1], tuple(outer.bound[v] for v in terms), level, aggregate=True)
    return predicate, Rule(names[0], Atom(predicate.name, terms), outer.shuffled())


def closure_rules(head: Predicate, base: Predicate) -> list[Rule]:
    """What recursion is made of, over a binary head."""
    h, b = binary(head), binary(base)
    return [
        Rule("", h("XZ"), (h("XY"), b("YZ"))),
        Rule("", h("XZ"), (b("XY"), h("YZ"))),
        Rule("", h("XZ"), (h("XY"), h("YZ"))),
        Rule("", h("XZ"), (h("XY"), h("YZ"), Compare(Var("X"), "!=", Var("Z")))),
        Rule("", h("XY"), (h("YX"),)),
        Rule("", h("XY"), (b("ZX"), h("ZU"), b("UY"))),  # same generation
    ]


def mutual_rules(head: Predicate, base: Predicate, partner: Predicate) -> list[Rule]:
    """What recursion through another predicate of the head's level is made of."""
    h, b, g = binary(head), binary(base), binary(partner)
    return [
        Rule("", h("XZ"), (g("XY"), b("YZ"))),
        Rule("", h("XZ"), (h("XY"), g("YZ"))),
        Rule("", h("XZ"), (g("XY"), g("YZ"))),
        Rule("", h("XY"), (g("YX"),)),
    ]


def binary(predicate: Predicate) -> Callable[[str], Atom]:
    return lambda names: Atom(predicate.name, tuple(map(Var, names)))
