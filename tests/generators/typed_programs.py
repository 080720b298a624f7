"""Random programs over the whole language and all types, and random changes to them.

programs.py draws what clingo can evaluate. This draws the rest, for naive.py: floats with NaN,
infinities, subnormals and -0.0; ints at the ends of their 64 bits and beyond what a float can
hold; texts that need quotes, languages and IRIs; dates and times; ints that meet floats; computed
values in recursion; variables that only a constant binds; names that look like the library's own.

By construction a program is stratified (a predicate has a level; negation and aggregates look at
lower ones only) and finite (a rule that may be recursive applies only functions whose iteration
ends), and no integer overflows but in a SUM: arithmetic on ints reads SMALL columns only and
writes INT columns, which it never reads.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
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
    chance,
    shuffled,
)
from support.naive import Call, Expression, Row, Types, Value, variable_types


class Kind(StrEnum):
    """What a column holds. SMALL and INT are both of type int."""

    SYMBOL = "symbol"
    SMALL = "small"
    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    DATE = "date"
    TIMESTAMP = "timestamp"

    @property
    def type(self) -> str:
        return "int" if self is Kind.SMALL else self.value

    @property
    def numeric(self) -> bool:
        return self in (Kind.SMALL, Kind.INT, Kind.FLOAT)


LARGE = 2**53
POOLS: dict[Kind, tuple[Value, ...]] = {
    Kind.SYMBOL: (
        "a", "b", "A", "C d", "", "é", "1", "inf", 'x"y\\', "a\nb", "urn:x", '"urn:"', "<tag:x>",
        "http://e/x", '"Haus"@de', '"5"^^<http://e/t>',
    ),
    Kind.SMALL: (0, 1, 2, 3, -1, -2),
    Kind.INT: (
        0, 1, 2, -1, LARGE, LARGE + 1, LARGE + 2, -LARGE - 1, 2**63 - 1, 2**63 - 2, -(2**63),
    ),
    Kind.FLOAT: (
        0.0, -0.0, 1.0, 2.0, 0.5, -0.5, 2.5, -1.0, 0.1, 0.30000000000000004, 0.0009221885624698875,
        math.nan, math.inf, -math.inf, 5e-324, 1e300, float(LARGE), float(LARGE + 2), 2.0**63,
    ),
    Kind.BOOL: (True, False),
    Kind.DATE: (
        datetime.date(2026, 1, 31), datetime.date(1, 1, 1), datetime.date(9999, 12, 31),
        datetime.date(2024, 2, 29),
    ),
    Kind.TIMESTAMP: (
        datetime.datetime(2026, 1, 31, 12, 0), datetime.datetime(2026, 1, 31, 12, 0, 0, 500000),
        datetime.datetime(1969, 12, 31, 23, 59, 59, 999999), datetime.datetime(2026, 1, 31),
    ),
}  # fmt: skip

EXPLICIT_NAMES = ("e", "f", "found", "raw", "h1_p", "E", "known", "p_n1", "symbol")
DERIVED_NAMES = ("p", "q", "P", "h2_p", "heads", "p_outside_h1", "term", "r", "x_e")


@dataclass(frozen=True)
class Predicate:
    name: str
    kinds: tuple[Kind, ...]
    level: int
    aggregate: bool = False


@dataclass(frozen=True)
class Program:
    schema: tuple[Predicate, ...]
    rules: tuple[Rule, ...]
    facts: dict[str, frozenset[Row]]

    @property
    def types(self) -> Types:
        return {p.name: tuple(k.type for k in p.kinds) for p in self.schema}

    @property
    def declarations(self) -> str:
        return "".join(f"{declaration(p)}\n" for p in self.schema)


@dataclass(frozen=True)
class Change:
    """One atomic change: facts and rules that leave and come."""

    inserts: tuple[tuple[str, tuple[Row, ...]], ...] = ()
    deletes: tuple[tuple[str, tuple[Row, ...]], ...] = ()
    add: tuple[Rule, ...] = ()
    drop: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [f"insert {n}{list(rows)}" for n, rows in self.inserts]
        parts += [f"delete {n}{list(rows)}" for n, rows in self.deletes]
        parts += [f"add {rule_text(rule)}" for rule in self.add]
        return "; ".join([*parts, *(f"drop {name}" for name in self.drop)])


# --- text ----------------------------------------------------------------------------------------


def declaration(predicate: Predicate) -> str:
    columns = ", ".join(f"c{i}: {kind.type}" for i, kind in enumerate(predicate.kinds))
    return f".decl {predicate.name}({columns})"


def rule_text(rule: Rule) -> str:
    """A rule in the language."""
    return f"{rule.name}: {_atom(rule.head)} :- {', '.join(map(_literal, rule.body))}."


def _atom(atom: Atom) -> str:
    return f"{atom.predicate}({', '.join(map(_expression, atom.terms))})"


def _literal(literal: Literal) -> str:
    if isinstance(literal, Atom):
        return _atom(literal)
    if isinstance(literal, Not):
        return f"not {_atom(literal.atom)}"
    if isinstance(literal, Compare):
        return f"{_expression(literal.left)} {literal.operator} {_expression(literal.right)}"
    if isinstance(literal, Bind):
        return f"BIND({_expression(literal.expression)} AS {literal.variable.name})"
    on = f" ON {', '.join(v.name for v in literal.group)}" if literal.group else ""
    body = ", ".join(map(_literal, literal.body))
    function = f"{literal.function}({literal.argument.name})"
    return f"AGGREGATE({body}){on} WITH {function} AS {literal.result.name}"


def _expression(expression: Expression) -> str:
    if isinstance(expression, Var):
        return expression.name
    if not isinstance(expression, Call):
        return constant_text(expression)
    arguments = [_expression(argument) for argument in expression.arguments]
    if expression.function in ("+", "-", "*", "/", "%"):
        return f"({arguments[0]} {expression.function} {arguments[1]})"
    return f"{expression.function}({', '.join(arguments)})"


_XSD = "http://www.w3.org/2001/XMLSchema#"


def constant_text(value: Value) -> str:
    """A constant in the language."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.datetime):
        return f'"{value.isoformat()}"^^<{_XSD}dateTime>'
    if isinstance(value, datetime.date):
        return f'"{value.isoformat()}"^^<{_XSD}date>'
    if isinstance(value, float) and not math.isfinite(value):
        name = "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"
        return f'"{name}"^^<{_XSD}double>'
    if not isinstance(value, str):
        return repr(value)
    if value.startswith(("http://", "urn:")):
        return f"<{value}>"
    if value.startswith(("<", '"')):
        return value
    if value.isascii() and value.isalpha() and value.islower() and value != "inf":
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


# --- expressions ---------------------------------------------------------------------------------

Maker = Callable[[Random, "Scope"], tuple[Expression, Kind]]


@dataclass
class Scope:
    """The variables that a body has bound so far."""

    rng: Random
    bound: dict[Var, Kind] = field(default_factory=dict)
    made: int = 0

    def of(self, *kinds: Kind) -> list[Var]:
        return [v for v, k in self.bound.items() if k in kinds]

    def fresh(self, kind: Kind | None = None) -> Var:
        variable = Var("XYZUVWABCDGHIJ"[self.made % 14] + ("" if self.made < 14 else "1"))
        self.made += 1
        if kind is not None:
            self.bound[variable] = kind
        return variable

    def value(self, *kinds: Kind) -> Expression:
        """A variable of one of some kinds, or now and then a constant."""
        known = self.of(*kinds)
        if known and not chance(self.rng, 25):
            return self.rng.choice(known)
        return self.rng.choice(POOLS[self.rng.choice(kinds)])


def _closed(scope: Scope) -> tuple[Expression, Kind] | None:
    """An expression whose iteration ends: it may stand in a recursive rule."""
    rng = scope.rng
    kind = rng.choice((Kind.SMALL, Kind.SMALL, Kind.FLOAT, Kind.SYMBOL, Kind.SYMBOL))
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
    what = rng.choice(("arithmetic", "arithmetic", "float", "float", "text", "text", "time", "int"))
    if what == "arithmetic":
        a, b = scope.value(Kind.SMALL), scope.value(Kind.SMALL)
        operator = rng.choice("+-*%/")
        return Call(operator, (a, b)), Kind.FLOAT if operator == "/" else Kind.INT
    if what == "float":
        a, b = scope.value(Kind.FLOAT, Kind.SMALL), scope.value(Kind.FLOAT, Kind.INT)
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
                (Call("concat", (scope.value(Kind.FLOAT, Kind.INT), "")), Kind.SYMBOL),
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


def _typed(call: Call, scope: Scope) -> tuple[Expression, Kind] | None:
    """A call with the kind of its value; nothing where only ints were drawn, which could overflow."""
    kinds = [
        scope.bound[a] if isinstance(a, Var) else Kind.FLOAT if isinstance(a, float) else Kind.INT
        for a in call.arguments
    ]
    if Kind.FLOAT not in kinds and call.function not in ("/", "sqrt", "power"):
        return None
    return call, Kind.FLOAT


# --- rules ---------------------------------------------------------------------------------------


@dataclass
class _Rules:
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
        written = shuffled(self.rng, body)
        return Rule(self.name(), self.head(head, scope, written), written)

    def atom(self, predicate: Predicate, scope: Scope) -> Atom:
        return Atom(predicate.name, tuple(self.term(kind, scope) for kind in predicate.kinds))

    def term(self, kind: Kind, scope: Scope) -> Value | Var:
        rng = self.rng
        if chance(rng, 6):
            return rng.choice(POOLS[rng.choice((Kind.SMALL, Kind.FLOAT)) if kind.numeric else kind])
        if chance(rng, 8):
            return Var("_")
        same = scope.of(Kind.SMALL, Kind.INT, Kind.FLOAT) if kind.numeric else scope.of(kind)
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
                terms.append(Var("_") if chance(self.rng, 50) else scope.fresh())
        return Atom(predicate.name, tuple(terms))

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
        kinds = (Kind.SMALL, Kind.INT, Kind.FLOAT) if kind.numeric else (kind,)
        operator = self.rng.choice(("=", "!=", "<", "<=", ">", ">="))
        body.append(Compare(left, operator, scope.value(*kinds)))

    def head(self, head: Predicate, scope: Scope, body: Sequence[Literal]) -> Atom:
        terms: list[Value | Var] = []
        types = {p.name: tuple(k.type for k in p.kinds) for p in self.predicates}
        final = variable_types(body, types)  # another name for a variable may have become a float
        for kind in head.kinds:
            fitting = [
                v
                for v, k in scope.bound.items()
                if _fits(k, kind) and (kind.type != "int" or final[v] == "int")
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
        argument = self.rng.choice(list(scope.bound))
        function, result = self.rng.choice(_aggregates(scope.bound[argument], head.kinds[-1]))
        group = [v for v in self.group(head, scope) if v != argument]
        literal = Aggregate(tuple(body), tuple(group), function, argument, Var("R"))
        terms: list[Value | Var] = []
        for kind in head.kinds[:-1]:
            fitting = [v for v in group if _fits(scope.bound[v], kind)]
            terms.append(self.rng.choice(fitting) if fitting else self.rng.choice(POOLS[kind]))
        last = Var("R") if _fits(result, head.kinds[-1]) else self.rng.choice(POOLS[head.kinds[-1]])
        return Rule(self.name(), Atom(head.name, (*terms, last)), (literal,))

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
        written = shuffled(self.rng, body)
        return Rule(self.name(), self.head(head, scope, written), written)


def _fits(kind: Kind, column: Kind) -> bool:
    """Whether values of a kind may go into a column."""
    wider = {Kind.SMALL: (Kind.INT, Kind.FLOAT), Kind.INT: (Kind.FLOAT,)}
    return kind == column or column in wider.get(kind, ())


def _meet(one: Kind, other: Kind) -> bool:
    return one == other or (one.numeric and other.numeric)


def _met(known: Kind, here: Kind) -> Kind:
    """The kind of a variable that stands in two columns."""
    if Kind.FLOAT in (known, here):
        return Kind.FLOAT
    return Kind.INT if Kind.INT in (known, here) else known


def _aggregates(argument: Kind, column: Kind) -> list[tuple[str, Kind]]:
    """Aggregates of an argument, and the kinds of their results."""
    found = [("COUNT", Kind.INT), ("MIN", argument), ("MAX", argument)]
    if argument in (Kind.SMALL, Kind.FLOAT):
        total = Kind.FLOAT if argument is Kind.FLOAT else Kind.INT
        found += [("SUM", total), ("AVG", Kind.FLOAT)]
    if argument is Kind.INT:
        found += [("SUM", Kind.INT)]
    if argument.numeric:
        found += [("MED", Kind.FLOAT)]
    return [one for one in found if _fits(one[1], column)] or found


# --- programs ------------------------------------------------------------------------------------


def random_program(rng: Random) -> Program:
    """A program of two to five derived predicates over two to four explicit ones."""
    favourite = rng.sample(list(Kind), 2)
    predicates: list[Predicate] = []
    names = iter(rng.sample(EXPLICIT_NAMES, 4))
    for _ in range(rng.choice((2, 3, 3, 4))):
        predicates.append(Predicate(next(names), _kinds(rng, favourite), 0))
    names = iter(rng.sample(DERIVED_NAMES, 5))
    for level in range(1, rng.choice((2, 3, 3, 4))):
        for _ in range(rng.choice((1, 1, 2))):
            name = next(names, None)
            if name is not None:
                aggregate = chance(rng, 25)
                predicates.append(Predicate(name, _kinds(rng, favourite), level, aggregate))
    drawn = _Rules(rng, predicates)
    rules = [rule for p in predicates if p.level for rule in _rules_of(drawn, p)]
    # A rule that reads the same as another is passed over when it is added.
    rules = list({_shape(rule): rule for rule in rules}.values())
    facts = {
        p.name: frozenset(random_rows(rng, p, rng.choice((1, 3, 5, 6))))
        for p in predicates
        if not p.aggregate and (p.level == 0 or chance(rng, 20))
    }
    return Program(tuple(predicates), tuple(rules), facts)


def _shape(rule: Rule) -> tuple[str, ...]:
    """The same for all rules that differ in names of variables or the order of their bodies only."""
    texts = [_atom(rule.head), *sorted(map(_literal, rule.body))]
    return tuple(re.sub(r"\b[A-Z]1?\b", "V", text) for text in texts)


def _kinds(rng: Random, favourite: Sequence[Kind]) -> tuple[Kind, ...]:
    """One to three columns, mostly of the program's favourite kinds, so that they join."""
    size = rng.choice((1, 2, 2, 2, 3))
    if chance(rng, 30):
        return (rng.choice(favourite),) * size
    every = list(Kind)
    return tuple(rng.choice(favourite if chance(rng, 75) else every) for _ in range(size))


def _rules_of(drawn: _Rules, predicate: Predicate) -> list[Rule]:
    if predicate.aggregate:
        return [drawn.aggregate(predicate)]
    lower = [p for p in drawn.predicates if p.level < predicate.level]
    rng, rules = drawn.rng, []
    if len(set(predicate.kinds)) == 1 and len(predicate.kinds) == 2 and chance(rng, 50):
        rules += drawn.closure(predicate, lower)
    if chance(rng, 25):
        cyclic = drawn.cycle(predicate, lower)
        rules += [cyclic] if cyclic else []
    return rules + [drawn.rule(predicate) for _ in range(rng.choice((1, 2, 2, 3)))]


def random_rows(rng: Random, predicate: Predicate, count: int) -> list[Row]:
    """Rows from small pools, so that they join; ints go into columns of floats, too."""
    rows = []
    for _ in range(count):
        row = []
        for kind in predicate.kinds:
            pool = POOLS[kind]
            value = rng.choice(pool[:3] if chance(rng, 50) else pool)
            if kind is Kind.FLOAT and chance(rng, 15):
                value = rng.choice(POOLS[Kind.INT])
            row.append(value)
        rows.append(tuple(row))
    return rows


# --- changes -------------------------------------------------------------------------------------


@dataclass
class State:
    """Rules and facts as the changes so far have left them."""

    rules: dict[str, Rule]
    facts: dict[str, list[Row]]

    @classmethod
    def of(cls, program: Program) -> State:
        return cls(
            {r.name: r for r in program.rules}, {n: list(f) for n, f in program.facts.items()}
        )

    def after(self, change: Change) -> State:
        """What is there after a change. Insertion goes before deletion of the same fact."""
        rules = {n: r for n, r in self.rules.items() if n not in change.drop}
        rules |= {rule.name: rule for rule in change.add}
        facts = {name: list(rows) for name, rows in self.facts.items()}
        for name, rows in change.deletes:
            gone = {_key(row) for row in rows}
            facts[name] = [row for row in facts.get(name, []) if _key(row) not in gone]
        for name, rows in change.inserts:
            facts[name] = facts.get(name, []) + list(rows)
        return State(rules, facts)


def _key(row: Row) -> tuple[object, ...]:
    """What makes two rows the same fact of one predicate."""
    return tuple("nan" if isinstance(v, float) and math.isnan(v) else v for v in row)


def random_change(rng: Random, program: Program, state: State) -> Change:
    """A change that is possible in a state."""
    what = rng.choice(("facts", "facts", "facts", "rules", "both"))
    inserts, deletes = {}, {}
    open_ = [p for p in program.schema if not p.aggregate]
    if what != "rules":
        for _ in range(rng.choice((1, 1, 2))):
            predicate = rng.choice([p for p in open_ if p.level == 0] * 4 + open_)
            present = state.facts.get(predicate.name, [])
            if present and chance(rng, 50):
                deletes[predicate.name] = shuffled(rng, present)[: rng.choice((1, 1, 2, 9))]
            else:
                inserts[predicate.name] = tuple(random_rows(rng, predicate, rng.choice((1, 2, 4))))
    add: list[Rule] = []
    drop: list[str] = []
    if what != "facts":
        absent = [rule for rule in program.rules if rule.name not in state.rules]
        if absent and chance(rng, 60):
            add.append(rng.choice(absent))
        elif state.rules:
            drop.append(rng.choice(list(state.rules)))
    deletes = {n: rows for n, rows in deletes.items() if n not in inserts}
    return Change(tuple(inserts.items()), tuple(deletes.items()), tuple(add), tuple(drop))


def facts_text(facts: Iterable[tuple[str, Iterable[Row]]]) -> str:
    """Facts as a person would write them down."""
    return "\n".join(
        f"{name}({', '.join(map(constant_text, row))})." for name, rows in facts for row in rows
    )
