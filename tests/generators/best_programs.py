"""Random programs with MIN and MAX in heads: recursive, mutually recursive or neither.

A family is one or two predicates that may depend on each other, each with a few rules. Families
read explicit facts, what families before them say, and negations of plain predicates in between.
What a program means is in support/best_values.py, which shares nothing with the library.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

Value = int | float | str
Row = tuple[Value, ...]
Facts = Mapping[str, frozenset[Row]]
Expression = Value | tuple[object, ...]
"""A constant, a variable (a text that begins with an upper-case letter), or (function, *parts)."""

NODES = ("a", "b", "c", "d", "e")
SCHEMA = {"edge": ("node", "node", "weight"), "start": ("node", "weight"), "shut": ("node",)}
"""The explicit predicates, and what their columns hold."""


@dataclass(frozen=True)
class Atom:
    predicate: str
    terms: tuple[Value, ...]
    negated: bool = False

    def __str__(self) -> str:
        terms = ", ".join(map(str, self.terms))
        return f"{'not ' if self.negated else ''}{self.predicate}({terms})"


@dataclass(frozen=True)
class Rule:
    """`value` is None in the head of a plain rule; else it stands at `place` among the terms."""

    name: str
    head: Atom
    body: tuple[Atom, ...]
    tests: tuple[tuple[str, Expression, Expression], ...] = ()
    function: str = ""
    place: int = 0
    value: Expression = 0
    apart: bool = False
    """Whether the value is computed in the body."""

    def __str__(self) -> str:
        terms = list(map(str, self.head.terms))
        body = [*map(str, self.body)]
        body += [f"{written(a)} {operator} {written(b)}" for operator, a, b in self.tests]
        if self.function:
            value = written(self.value)
            if self.apart:
                body.append(f"V = {value}")
                value = "V"
            terms.insert(self.place, f"{self.function}({value})")
        return f"{self.name}: {self.head.predicate}({', '.join(terms)}) :- {', '.join(body)}."


@dataclass(frozen=True)
class Program:
    """The rules in the order of their levels: a rule reads what is before, or of its own family."""

    rules: tuple[Rule, ...]
    families: tuple[tuple[str, ...], ...]
    weights: tuple[Value, ...]


def written(expression: Expression) -> str:
    if not isinstance(expression, tuple):
        return str(expression)
    function, *parts = expression
    inner = [written(part) for part in parts]  # type: ignore[arg-type]
    if len(inner) == 2 and not str(function).isalpha():
        return f"({inner[0]} {function} {inner[1]})"
    return f"{function}({', '.join(inner)})"


def random_program(rng: Random) -> Program:
    """One or two families, with plain predicates after each."""
    weights: tuple[Value, ...] = (0, 1, 2, 3, 5)
    if rng.random() < 0.3:
        weights = (0.0, 0.5, 1.0, 2.5, 1e16)
    if rng.random() < 0.15:
        weights = (*weights, -1 if isinstance(weights[0], int) else -1.0)
    maker = _Maker(rng, weights)
    for _ in range(rng.randint(1, 2)):
        maker.family()
        maker.plain()
    return Program(tuple(maker.rules), tuple(maker.families), weights)


class _Maker:
    def __init__(self, rng: Random, weights: tuple[Value, ...]) -> None:
        self.rng, self.weights = rng, weights
        self.rules: list[Rule] = []
        self.families: list[tuple[str, ...]] = []
        self.known: dict[str, tuple[int, int]] = {}
        """Groups' sizes and the places of values of the families that are there."""
        self.plains: list[str] = []

    def family(self) -> None:
        rng, number = self.rng, len(self.families) + 1
        function = rng.choice(["MIN", "MAX", "min", "Max"])
        names = [f"p{number}{letter}" for letter in "ab"[: rng.choice([1, 1, 2])]]
        own = {name: self._shape() for name in names}
        for name in names:
            for _ in range(rng.choice([1, 1, 2])):
                self._add(name, own[name], function, {})
            for _ in range(rng.choice([0, 1, 1, 2])):
                self._add(name, own[name], function, own)
        self.known |= own
        self.families.append(tuple(names))

    def _shape(self) -> tuple[int, int]:
        size = self.rng.choice([0, 1, 1, 1, 2])
        return size, self.rng.randint(0, size)

    def _add(
        self, name: str, shape: tuple[int, int], function: str, own: Mapping[str, tuple[int, int]]
    ) -> None:
        """One rule for a predicate: recursive if there are predicates of its `own` family."""
        rng = self.rng
        body: list[Atom] = []
        moving: list[str] = []
        if own:
            for variable in ("E", "F")[: rng.choice([1, 1, 1, 2])]:
                other = rng.choice(list(own))
                body.append(self._atom(other, own[other], variable))
                moving.append(variable)
        body.append(Atom("edge", (self._node(), self._node(), "W")))
        if rng.random() < 0.3:
            body.append(Atom("start", (self._node(), "S")))
        if self.known and rng.random() < 0.4:
            other = rng.choice(list(self.known))
            body.append(self._atom(other, self.known[other], "K"))
        negatable = ["shut", *self.plains]
        nodes = sorted({t for a in body for t in a.terms if t in ("X", "Y", "Z")}, key=str)
        if nodes and rng.random() < 0.25:
            body.append(Atom(rng.choice(negatable), (rng.choice(nodes),), True))
        elif nodes and rng.random() < 0.15:
            body.append(Atom(rng.choice(negatable), (rng.choice(nodes),)))
        rng.shuffle(body)
        fixed = [v for v in ("W", "S", "K") if any(v in a.terms for a in body)]
        group = tuple(rng.choice([*nodes, "a"] if nodes else ["a"]) for _ in range(shape[0]))
        self.rules.append(
            Rule(
                f"r{len(self.rules) + 1}", Atom(name, group), tuple(body),
                self._tests(function, moving, fixed), function, shape[1],
                self._value(function.lower() == "min", moving, fixed), rng.random() < 0.5,
            )
        )  # fmt: skip

    def _atom(self, name: str, shape: tuple[int, int], variable: str) -> Atom:
        terms: list[Value] = [self._node() for _ in range(shape[0])]
        terms.insert(shape[1], variable)
        return Atom(name, tuple(terms))

    def _node(self) -> str:
        return self.rng.choice(["X", "X", "Y", "Y", "Z", "a"])

    def _value(self, least: bool, moving: list[str], fixed: list[str]) -> Expression:
        """Mostly one that gets worse along a cycle, as a path gets longer."""
        rng = self.rng
        if not moving:
            return rng.choice([rng.choice(fixed), rng.choice(self.weights), ("+", fixed[0], 1)])
        value: Expression = moving[0]
        if len(moving) > 1 and rng.random() < 0.7:
            value = (rng.choice(["+" if least else "least", "least", "greatest"]), *moving)
        other = rng.choice([*fixed, rng.choice(self.weights), 1])
        match rng.randint(0, 9):
            case 0:
                return value
            case 1 | 2 | 3 | 4:
                return ("+" if least else "-", value, other)
            case 5:
                return ("least", value, other)
            case 6:
                return ("greatest", value, other)
            case 7:
                # Without bounds, such a value could grow beyond 64 bits.
                return ("least", ("greatest", ("-", value, other), -9), 9)
            case 8:
                return ("least", ("*", value, rng.choice([0, 1, 2])), 20)
            case _:
                return ("least", ("+", value, ("abs", other)), 12)

    def _tests(
        self, function: str, moving: list[str], fixed: list[str]
    ) -> tuple[tuple[str, Expression, Expression], ...]:
        rng, tests = self.rng, list[tuple[str, Expression, Expression]]()
        less = function.lower() == "min"
        if moving and rng.random() < 0.35:
            limit: Expression = rng.choice([*fixed, 3, 6])
            operator = rng.choice(["<", "<="])
            value: Expression = rng.choice([moving[0], ("+", moving[0], 1)])
            one = (operator, value, limit) if less else (operator, limit, value)
            turned = ({"<": ">", "<=": ">="}[operator], one[2], one[1])
            tests.append(rng.choice([one, turned]))
        if len(fixed) > 1 and rng.random() < 0.3:
            tests.append((rng.choice(["<", "!=", "=", ">="]), fixed[0], fixed[1]))
        return tuple(tests)

    def plain(self) -> None:
        """A plain predicate that says which nodes have values above a limit."""
        name = f"q{len(self.families)}"
        for family in self.families[-1]:
            shape = self.known[family]
            if not shape[0]:
                continue
            terms: list[Value] = ["X"] * shape[0]
            terms.insert(shape[1], "V")
            tests = (("<", 2, "V"),) if self.rng.random() < 0.6 else ()
            rule = Rule(
                f"r{len(self.rules) + 1}", Atom(name, ("X",)), (Atom(family, tuple(terms)),), tests
            )
            self.rules.append(rule)
            if name not in self.plains:
                self.plains.append(name)


def random_facts(rng: Random, program: Program, count: int) -> dict[str, frozenset[Row]]:
    """Some explicit facts."""
    found: dict[str, set[Row]] = {name: set() for name in SCHEMA}
    for _ in range(count):
        name = rng.choice(["edge", "edge", "edge", "start", "shut"])
        kinds = {"node": NODES, "weight": program.weights}
        found[name].add(tuple(rng.choice(kinds[kind]) for kind in SCHEMA[name]))
    return {name: frozenset(rows) for name, rows in found.items()}
