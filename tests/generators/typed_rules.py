"""One random rule over all types at a time, and the expressions in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from random import Random

from generators.programs import (
    Aggregate,
    Atom,
    Bind,
    Compare,
    Literal,
    Not,
    Rule,
    Var,
    with_anonymous,
)
from generators.random_rules import chance, shuffled
from generators.typed_expressions import Scope, more_expressions
from generators.typed_language import NUMBERS, POOLS, Kind, Predicate
from support.naive_types import Types, variable_types
from support.naive_values import Call, Expression, Value

# --- expressions ---------------------------------------------------------------------------------


def _closed(scope: Scope) -> tuple[Expression, Kind] | None:
    """An expression whose iteration ends: it may stand in a recursive rule."""
    rng = scope.rng
    kind = rng.choice((Kind.SMALL, Kind.SMALL, Kind.CENT, Kind.FLOAT, Kind.SYMBOL, Kind.SYMBOL))
    known = scope.of(kind)
    if not known:
        return None
    x = rng.choice(known)
    if kind is Kind.SYMBOL:
        return rng.choice(
            [
                Call("upper", (x,)), Call("lower", (x,)), Call("trim", (x,)),
                Call("substr", (x, 1, 2)), Call("substr", (x, 2)), Call("replace", (x, "a", "b")),
            ]
        ), kind  # fmt: skip
    if kind is Kind.CENT:
        return rng.choice(
            [
                Call("abs", (x,)), Call("%", (x, 3)), Call("floor", (x,)), Call("ceil", (x,)),
                Call("round", (x,)), Call("round", (x, 1)), Call("%", (x, Decimal("0.75"))),
                Call("least", (Call("+", (x, Decimal("0.5"))), 3)),
                Call("greatest", (Call("-", (x, 1)), Decimal("-2.5"))),
            ]
        ), kind  # fmt: skip
    if kind is Kind.FLOAT:
        return rng.choice(
            [
                Call("abs", (x,)), Call("floor", (x,)), Call("ceil", (x,)), Call("round", (x,)),
                Call("%", (x, 3)), Call("least", (x, 2.5)), Call("greatest", (x, 1)),
                Call("-", (0, Call("abs", (x,)))), Call("round", (x, 1)),
            ]
        ), kind  # fmt: skip
    return rng.choice(
        [
            Call("abs", (x,)), Call("%", (x, 3)), Call("least", (Call("+", (x, 1)), 3)),
            Call("greatest", (Call("-", (x, 1)), -2)), Call("round", (x,)), Call("floor", (x,)),
            Call("%", (Call("+", (x, 1)), 4)),
        ]
    ), kind  # fmt: skip


def _open(scope: Scope) -> tuple[Expression, Kind] | None:
    """Any expression: its rule is not recursive."""
    rng = scope.rng
    what = rng.choice(
        ("arithmetic", "arithmetic", "decimal", "decimal", "float", "float", "text", "text", "time",
         "int", "if", "if", "read", "pattern", "moment")
    )  # fmt: skip
    if what in ("if", "read", "pattern", "moment"):
        return more_expressions(scope, what)
    if what == "arithmetic":
        a, b = scope.value(Kind.SMALL), scope.value(Kind.SMALL)
        operator = rng.choice("+-*%/")
        return Call(operator, (a, b)), Kind.FLOAT if operator == "/" else Kind.INT
    if what == "decimal":
        return _of_decimals(scope)
    if what == "float":
        a = scope.value(Kind.FLOAT, Kind.SMALL)
        b = scope.value(Kind.FLOAT, Kind.INT, Kind.DECIMAL)
        if chance(rng, 15):  # it may have no value
            a = Call("/", (scope.value(Kind.SMALL), scope.value(Kind.SMALL)))
        mixed = rng.choice(("+", "-", "*", "/", "%", "least", "greatest", "power"))
        one = rng.choice(("sqrt", "abs", "floor", "ceil", "round"))
        call = Call(mixed, (a, b)) if chance(rng, 60) else Call(one, (scope.value(Kind.FLOAT),))
        return _typed(call, scope)
    if what == "text":
        kinds = tuple(Kind)
        symbol = scope.value(Kind.SYMBOL)
        return rng.choice(
            [
                (Call("concat", (scope.value(*kinds), "_", scope.value(*kinds))), Kind.SYMBOL),
                (Call("concat", (scope.value(*NUMBERS), "")), Kind.SYMBOL),
                (Call("concat", ("urn:", symbol)), Kind.SYMBOL),
                (Call("length", (symbol,)), Kind.INT),
                (Call("contains", (symbol, scope.value(Kind.SYMBOL))), Kind.BOOL),
                (Call("starts_with", (symbol, scope.value(Kind.SYMBOL))), Kind.BOOL),
                (Call("upper", (symbol,)), Kind.SYMBOL),
            ]
        )
    if what == "time":
        day, moment = scope.value(Kind.DATE), scope.value(Kind.TIMESTAMP)
        return rng.choice(
            [
                (Call("year", (day,)), Kind.INT), (Call("month", (day,)), Kind.SMALL),
                (Call("second", (moment,)), Kind.INT), (Call("hour", (moment,)), Kind.INT),
                (Call("least", (day, scope.value(Kind.DATE))), Kind.DATE),
            ]
        )  # fmt: skip
    a, b = scope.value(Kind.INT, Kind.SMALL), scope.value(Kind.INT)
    return Call(rng.choice(("least", "greatest")), (a, b)), Kind.INT


def _of_decimals(scope: Scope) -> tuple[Expression, Kind]:
    """A value that is made of decimals. No product or sum of a few cents is too long or large."""
    rng = scope.rng
    a, b = scope.value(Kind.CENT), scope.value(Kind.CENT, Kind.SMALL)
    large, other = scope.value(Kind.DECIMAL), scope.value(Kind.DECIMAL, Kind.INT)
    return rng.choice(
        [
            (Call(rng.choice("+-*"), (a, b)), Kind.DECIMAL),
            (Call(rng.choice("+-*"), (b, a)), Kind.DECIMAL),
            (Call("/", (a, b)), Kind.FLOAT), (Call("/", (large, other)), Kind.FLOAT),
            (Call("%", (large, scope.value(Kind.DECIMAL, Kind.CENT))), Kind.DECIMAL),
            (Call(rng.choice(("least", "greatest")), (large, other)), Kind.DECIMAL),
            (Call(rng.choice(("abs", "floor")), (large,)), Kind.DECIMAL),
            (Call(rng.choice(("ceil", "round")), (a,)), Kind.DECIMAL),
            (Call("round", (a, scope.value(Kind.SMALL))), Kind.DECIMAL),
            (Call("round", (large, 17)), Kind.DECIMAL) if large in POOLS[Kind.CENT]
            else (Call("round", (a, rng.choice((-25, -1, 1, 18, 2**40)))), Kind.DECIMAL),
            (Call("power", (a, 2)), Kind.FLOAT),
        ]
    )  # fmt: skip


def _typed(call: Call, scope: Scope) -> tuple[Expression, Kind] | None:
    """A call with the kind of its value; nothing if only ints were drawn, which could overflow."""
    kinds = [
        scope.bound[a]
        if isinstance(a, Var)
        else Kind.FLOAT
        if isinstance(a, float | Call)
        else Kind.INT
        for a in call.arguments
    ]
    if Kind.FLOAT not in kinds and call.function not in ("/", "sqrt", "power"):
        return None
    return call, Kind.FLOAT


# --- rules ---------------------------------------------------------------------------------------


@dataclass
class Rules:
    """Draws the rules of one program."""

    rng: Random
    predicates: list[Predicate]
    names: int = 0

    def name(self) -> str:
        self.names += 1
        return f"r{self.names}"

    def rule(self, head: Predicate) -> Rule:
        """A rule for a predicate that no aggregate derives."""
        scope = Scope(self.rng)
        own = [p for p in self.predicates if p.level == head.level and not p.aggregate]
        lower = [p for p in self.predicates if p.level < head.level]
        recursive = chance(self.rng, 45)
        body: list[Literal] = []
        for number in range(self.rng.choice((1, 1, 2, 2, 3))):
            near = own if recursive and (number == 0 or chance(self.rng, 25)) else lower
            body.append(self.atom(self.rng.choice(near), scope))
        if chance(self.rng, 4):
            body, scope, recursive = [], Scope(self.rng), False
        if chance(self.rng, 20) or not body:
            self.constant(body, scope)
        if chance(self.rng, 55):
            self.binding(body, scope, _closed if recursive else _open)
        if chance(self.rng, 30):
            self.comparison(body, scope)
        if chance(self.rng, 30):
            body.append(Not(self.negated(self.rng.choice(lower), scope)))
        written = shuffled(self.rng, with_whole_days(body, self.types))
        return Rule(self.name(), self.head(head, scope, written), written)

    @property
    def types(self) -> Types:
        """The types of all columns."""
        return {p.name: tuple(k.type for k in p.kinds) for p in self.predicates}

    def atom(self, predicate: Predicate, scope: Scope) -> Atom:
        return Atom(predicate.name, tuple(self.term(kind, scope) for kind in predicate.kinds))

    def term(self, kind: Kind, scope: Scope) -> Value | Var:
        rng = self.rng
        if chance(rng, 6):
            return rng.choice(POOLS[rng.choice(_GIVEN) if kind.numeric else kind])
        if chance(rng, 8):
            return Var("_")
        same = scope.of(*NUMBERS) if kind.numeric else scope.of(kind)
        if same and chance(rng, 60):
            variable = rng.choice(same)
            scope.bound[variable] = _met(scope.bound[variable], kind)
            return variable
        return scope.fresh(kind)

    def negated(self, predicate: Predicate, scope: Scope) -> Atom:
        terms: list[Value | Var] = []
        for kind in predicate.kinds:
            same = [v for v, k in scope.bound.items() if k == kind or (k.numeric and kind.numeric)]
            if same and chance(self.rng, 75):
                variable = self.rng.choice(same)
                scope.bound[variable] = _met(scope.bound[variable], kind)
                terms.append(variable)
            elif chance(self.rng, 30):
                terms.append(self.rng.choice(POOLS[kind]))
            else:
                terms.append(self.local(terms, predicate.kinds, kind, scope))
        return Atom(predicate.name, tuple(terms))

    def local(
        self, terms: Sequence[Value | Var], kinds: Sequence[Kind], kind: Kind, scope: Scope
    ) -> Var:
        """A variable that only a negated atom has: a new one, or one of the terms before."""
        before = [
            t for t, k in zip(terms, kinds, strict=False)
            if (k == kind or (k.numeric and kind.numeric))
            and isinstance(t, Var) and not t.anonymous and t not in scope.bound
        ]  # fmt: skip
        if before and chance(self.rng, 50):
            return before[0]
        return Var("_") if chance(self.rng, 50) else scope.fresh()

    def constant(self, body: list[Literal], scope: Scope) -> None:
        """A variable that a constant, or another variable, binds."""
        kind = self.rng.choice(list(Kind))
        value: Expression = self.rng.choice(POOLS[kind])
        if scope.bound and chance(self.rng, 40):
            value = self.rng.choice(list(scope.bound))
            kind = scope.bound[value]
        variable = scope.fresh(kind)
        pair = (value, variable) if chance(self.rng, 30) else (variable, value)
        body.append(Compare(pair[0], "=", pair[1]))

    def binding(
        self,
        body: list[Literal],
        scope: Scope,
        draw: Callable[[Scope], tuple[Expression, Kind] | None],
    ) -> None:
        drawn = draw(scope)
        if drawn is None:
            return
        expression, kind = drawn
        known = [v for v, k in scope.bound.items() if k == kind]
        if known and chance(self.rng, 12):
            body.append(Bind(expression, self.rng.choice(known)))
        elif chance(self.rng, 50):
            body.append(Compare(scope.fresh(kind), "=", expression))
        else:
            body.append(Bind(expression, scope.fresh(kind)))

    def comparison(self, body: list[Literal], scope: Scope) -> None:
        if not scope.bound:
            return
        left = self.rng.choice(list(scope.bound))
        kind = scope.bound[left]
        kinds = NUMBERS if kind.numeric else (kind,)
        operator = self.rng.choice(("=", "!=", "<", "<=", ">", ">="))
        body.append(Compare(left, operator, scope.value(*kinds)))

    def head(self, head: Predicate, scope: Scope, body: Sequence[Literal]) -> Atom:
        terms: list[Value | Var] = []
        final = variable_types(
            body, self.types
        )  # another name for a variable may have become a float
        for kind in head.kinds:
            fitting = [
                v
                for v, k in scope.bound.items()
                if _fits(k, kind) and final[v] in _NARROWER.get(kind.type, (final[v],))
            ]
            if fitting and not chance(self.rng, 5):
                newest = fitting[-1] if chance(self.rng, 50) else self.rng.choice(fitting)
                terms.append(newest)
            else:
                terms.append(self.rng.choice(POOLS[kind]))
        return Atom(head.name, tuple(terms))

    def aggregate(self, head: Predicate) -> Rule:
        """The one rule of a predicate: its last column is the result, the others are the group."""
        scope = Scope(self.rng)
        lower = [p for p in self.predicates if p.level < head.level]
        body = [self.atom(self.rng.choice(lower), scope) for _ in range(self.rng.choice((1, 1, 2)))]
        if chance(self.rng, 25):
            self.binding(body, scope, _open)
        if chance(self.rng, 20):
            body.append(Not(self.negated(self.rng.choice(lower), scope)))
        if not scope.bound:
            body = [self.atom(lower[0], scope), Compare(scope.fresh(Kind.SMALL), "=", 1)]
        body = with_whole_days(body, self.types)
        argument = self.rng.choice(list(scope.bound))
        function, result = self.rng.choice(_aggregates(scope.bound[argument], head.kinds[-1]))
        own = chance(self.rng, 15)  # the argument may be one of the group
        group = [v for v in self.group(head, scope) if own or v != argument]
        domain = self.domain(group, lower, scope) if chance(self.rng, 40) else None
        literal = Aggregate(
            tuple(body), tuple(group), function, argument, Var("R"), distinct=chance(self.rng, 25)
        )
        found = [(literal, result)]
        if chance(self.rng, 40):
            argument = self.rng.choice(list(scope.bound))
            function, other = self.rng.choice(_aggregates(scope.bound[argument], Kind.FLOAT))
            second = replace(literal, function=function, argument=argument, result=Var("S"),
                             distinct=chance(self.rng, 25))  # fmt: skip
            found.append((second, other))
        if chance(self.rng, 40):
            kept = [*group, *(one.argument for one, _ in found)]
            unnamed = with_anonymous(body, kept)
            found = [(replace(one, body=unnamed), kind) for one, kind in found]
        values = [
            replace(one, otherwise=self.rng.choice((0, -1)))
            if kind.numeric and domain is not None and chance(self.rng, 80)
            else one
            for one, kind in found
        ]
        kinds = {**scope.bound, **{one.result: kind for one, kind in found}}
        whole: list[Literal] = [*([domain] if domain else []), *values]
        terms: list[Value | Var] = []
        for kind in head.kinds[:-1]:
            fitting = [v for v in (*group, *[one.result for one, _ in found[1:]])
                       if _fits(kinds[v], kind)]  # fmt: skip
            terms.append(self.rng.choice(fitting) if fitting else self.rng.choice(POOLS[kind]))
        last = Var("R") if _fits(result, head.kinds[-1]) else self.rng.choice(POOLS[head.kinds[-1]])
        return Rule(self.name(), Atom(head.name, (*terms, last)), tuple(whole))

    def domain(self, group: Sequence[Var], lower: Sequence[Predicate], scope: Scope) -> Atom | None:
        """An atom that says which groups there are, if a predicate has columns for them."""
        for predicate in self.rng.sample(list(lower), len(lower)):
            terms = [Var("_")] * len(predicate.kinds)
            for variable in group:
                free = [i for i, (term, kind) in enumerate(zip(terms, predicate.kinds, strict=True))
                        if term.anonymous and kind.type == scope.bound[variable].type]  # fmt: skip
                if not free:
                    break
                terms[self.rng.choice(free)] = variable
            else:
                return Atom(predicate.name, tuple(terms))
        return None

    def group(self, head: Predicate, scope: Scope) -> list[Var]:
        found: list[Var] = []
        for kind in head.kinds[:-1]:
            fitting = [v for v, k in scope.bound.items() if _fits(k, kind) and v not in found]
            if fitting:
                found.append(self.rng.choice(fitting))
        return found

    def closure(self, head: Predicate, base: Sequence[Predicate]) -> list[Rule]:
        """The rules of a transitive, perhaps symmetric relation: modules close these."""
        x, y, z = Var("X"), Var("Y"), Var("Z")
        rules = [
            Rule(
                self.name(),
                Atom(head.name, (x, z)),
                (Atom(head.name, (x, y)), Atom(head.name, (y, z))),
            )
        ]
        if chance(self.rng, 50):
            rules.append(Rule(self.name(), Atom(head.name, (y, x)), (Atom(head.name, (x, y)),)))
        for predicate in base:
            if len(predicate.kinds) == 2 and all(map(_fits, predicate.kinds, head.kinds)):
                step = Atom(predicate.name, (x, y))
                rules.append(Rule(self.name(), Atom(head.name, (x, y)), (step,)))
        return rules

    def cycle(self, head: Predicate, base: Sequence[Predicate]) -> Rule | None:
        """A rule whose body is a cycle of three or four atoms: hypertree decompositions."""
        pairs = [p for p in base if len(p.kinds) == 2 and _meet(p.kinds[0], p.kinds[1])]
        if not pairs:
            return None
        scope = Scope(self.rng)
        first = self.rng.choice(pairs)
        pairs = [p for p in pairs if all(map(_meet, p.kinds, first.kinds))]
        ring = [scope.fresh() for _ in range(self.rng.choice((3, 4, 4)))]
        body: list[Literal] = []
        for here, there in zip(ring, [*ring[1:], ring[0]], strict=True):
            predicate = self.rng.choice(pairs)
            for variable, kind in zip((here, there), predicate.kinds, strict=True):
                scope.bound[variable] = _met(scope.bound.get(variable, kind), kind)
            body.append(Atom(predicate.name, (here, there)))
        if chance(self.rng, 60):
            self.binding(body, scope, _open)
        if chance(self.rng, 40):
            self.comparison(body, scope)
        written = shuffled(self.rng, with_whole_days(body, self.types))
        return Rule(self.name(), self.head(head, scope, written), written)


def with_whole_days(body: Sequence[Literal], types: Types) -> list[Literal]:
    """A body in which days that are added are ints: a variable may have become wider since."""
    final = variable_types(body, types)

    def whole(expression: Expression) -> Expression:
        if not isinstance(expression, Call):
            return expression
        first, *others = map(whole, expression.arguments)
        if expression.function == "add_days" and final.get(others[0]) in ("float", "decimal"):
            others = [Call("int", (others[0],))]
        return Call(expression.function, (first, *others))

    def mended(literal: Literal) -> Literal:
        if isinstance(literal, Bind):
            return replace(literal, expression=whole(literal.expression))
        if isinstance(literal, Compare):
            return replace(literal, left=whole(literal.left), right=whole(literal.right))
        return literal

    return [mended(literal) for literal in body]


_GIVEN = (Kind.SMALL, Kind.CENT, Kind.DECIMAL, Kind.FLOAT)
"""The kinds of constants in columns of numbers."""

_NARROWER = {"int": ("int",), "decimal": ("int", "decimal")}
"""The types that fit a column of a type."""


def _fits(kind: Kind, column: Kind) -> bool:
    """Whether values of a kind may go into a column."""
    wider = {
        Kind.SMALL: (Kind.INT, Kind.CENT, Kind.DECIMAL, Kind.FLOAT),
        Kind.INT: (Kind.DECIMAL, Kind.FLOAT), Kind.CENT: (Kind.DECIMAL, Kind.FLOAT),
        Kind.DECIMAL: (Kind.FLOAT,),
    }  # fmt: skip
    return kind == column or column in wider.get(kind, ())


def _meet(one: Kind, other: Kind) -> bool:
    return one == other or (one.numeric and other.numeric)


def _met(known: Kind, here: Kind) -> Kind:
    """The kind of a variable that stands in two columns."""
    for wide in (Kind.FLOAT, Kind.DECIMAL):
        if wide in (known, here):
            return wide
    if Kind.CENT in (known, here):
        return Kind.DECIMAL if Kind.INT in (known, here) else Kind.CENT
    return Kind.INT if Kind.INT in (known, here) else known


def _aggregates(argument: Kind, column: Kind) -> list[tuple[str, Kind]]:
    """Aggregates of an argument, and the kinds of their results."""
    found = [("COUNT", Kind.INT), ("MIN", argument), ("MAX", argument)]
    if argument in (Kind.SMALL, Kind.FLOAT):
        total = Kind.FLOAT if argument is Kind.FLOAT else Kind.INT
        found += [("SUM", total), ("AVG", Kind.FLOAT)]
    if argument is Kind.INT:
        found += [("SUM", Kind.INT)]
    if argument in (Kind.CENT, Kind.DECIMAL):
        found += [("SUM", Kind.DECIMAL)]
    if argument is Kind.CENT:
        found += [("AVG", Kind.FLOAT)]
    if argument.numeric:
        found += [("MED", Kind.FLOAT)]
    return [one for one in found if _fits(one[1], column)] or found
