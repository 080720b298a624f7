"""Random rules over mixed and native columns, and their text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

from generators.programs import Aggregate, Atom, Bind, Compare, Literal, Not, Rule, Var
from generators.random_rules import chance
from generators.typed_language import constant_text
from support.mixed_types import NUMBERS, Clash, Types, check, comparable, joined, met, value_type
from support.naive_values import Call

if TYPE_CHECKING:
    from generators.mixed_programs import Predicate

__all__ = ["MixedRules", "chance", "rule_text"]

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
TRIES = 30


@dataclass
class Scope:
    """The variables of a body so far, with the kinds that they are meant to have."""

    bound: dict[Var, str] = field(default_factory=dict)
    prefix: str = "V"

    def fresh(self, kind: str | None = None) -> Var:
        variable = Var(f"{self.prefix}{len(self.bound)}")
        if kind is not None:
            self.bound[variable] = kind
        return variable

    def of(self, kinds: Collection[str]) -> list[Var]:
        return [variable for variable, kind in self.bound.items() if kind in kinds]


@dataclass
class MixedRules:
    """Draws the rules of one program."""

    rng: Random
    predicates: list[Predicate]
    pools: Mapping[str, Sequence[Any]]
    names: int = 0

    @property
    def types(self) -> Types:
        return {p.name: p.kinds for p in self.predicates}

    def rules_of(self, head: Predicate) -> list[Rule]:
        """Rules for a predicate, all of which are well-typed if columns are what they are meant to.

        Without a declaration, a head may widen a column.
        """
        if head.aggregate:
            return self._drawn(head, lambda: self.aggregate(head))
        rules: list[Rule] = []
        if len(set(head.kinds)) == 1 and len(head.kinds) == 2 and chance(self.rng, 50):
            rules += self.closure(head)
        for _ in range(self.rng.choice((1, 1, 2, 2))):
            rules += self._drawn(head, lambda: self.rule(head))
        return rules

    def _drawn(self, head: Predicate, draw: Callable[[], Rule]) -> list[Rule]:
        for _ in range(TRIES):
            rule = draw()
            types = dict(self.types)
            if not head.declared and chance(self.rng, 15):
                types[head.name] = ("any",) * len(head.kinds)
            try:
                check(rule, types)
            except Clash:
                continue
            return [rule]
        return []

    def name(self) -> str:
        self.names += 1
        return f"r{self.names}"

    # --- bodies ---

    def rule(self, head: Predicate) -> Rule:
        rng, scope = self.rng, Scope()
        own = [p for p in self.predicates if p.level == head.level and not p.aggregate]
        lower = [p for p in self.predicates if p.level < head.level]
        recursive = bool(own) and chance(rng, 35)
        body: list[Literal] = []
        for number in range(rng.choice((1, 1, 2, 2, 3))):
            near = own if recursive and (number == 0 or chance(rng, 25)) else lower
            body.append(self.atom(rng.choice(near), scope))
        if not recursive and chance(rng, 45):
            self.binding(body, scope)
        if chance(rng, 45):
            self.comparison(body, scope)
        if chance(rng, 30):
            body.append(Not(self.negated(rng.choice(lower), scope)))
        rng.shuffle(body)
        return Rule(self.name(), self.head(head, scope), tuple(body))

    def atom(self, predicate: Predicate, scope: Scope) -> Atom:
        return Atom(predicate.name, tuple(self.term(kind, scope) for kind in predicate.kinds))

    def term(self, kind: str, scope: Scope) -> Any:
        rng = self.rng
        if chance(rng, 8):
            return self.constant(kind)
        if chance(rng, 8):
            return Var("_")
        same = [v for v, known in scope.bound.items() if comparable(known, kind)]
        if same and chance(rng, 60):
            variable = rng.choice(same)
            scope.bound[variable] = met(scope.bound[variable], kind) or kind
            return variable
        return scope.fresh(kind)

    def constant(self, kind: str) -> Any:
        """A constant that a column of a kind, or a comparison with one, allows."""
        if kind in NUMBERS:
            kind = self.rng.choice(NUMBERS)
        return self.rng.choice(
            self.pools[self.rng.choice(list(self.pools)) if kind == "any" else kind]
        )

    def negated(self, predicate: Predicate, scope: Scope) -> Atom:
        terms: list[Any] = []
        for kind in predicate.kinds:
            same = [v for v, known in scope.bound.items() if comparable(known, kind)]
            if same and chance(self.rng, 75):
                terms.append(self.rng.choice(same))
            elif chance(self.rng, 30):
                terms.append(self.constant(kind))
            else:
                terms.append(Var("_") if chance(self.rng, 60) else Var(f"N{len(terms)}"))
        return Atom(predicate.name, tuple(terms))

    def comparison(self, body: list[Literal], scope: Scope) -> None:
        if not scope.bound:
            return
        left = self.rng.choice(list(scope.bound))
        kind = scope.bound[left]
        others = [v for v, known in scope.bound.items() if comparable(known, kind) and v != left]
        right = self.rng.choice(others) if others and chance(self.rng, 60) else self.constant(kind)
        body.append(Compare(left, self.rng.choice(OPERATORS), right))

    def binding(self, body: list[Literal], scope: Scope) -> None:
        expression, kind = self.expression(scope)
        if expression is None or kind is None:
            return
        same = [v for v, known in scope.bound.items() if comparable(known, kind)]
        if same and chance(self.rng, 12):
            body.append(Bind(expression, self.rng.choice(same)))
        elif chance(self.rng, 50):
            body.append(Compare(scope.fresh(kind), "=", expression))
        else:
            body.append(Bind(expression, scope.fresh(kind)))

    def expression(self, scope: Scope) -> tuple[Any, str | None]:
        rng = self.rng
        numbers = scope.of(("any", *NUMBERS))
        if not numbers or chance(rng, 25):
            return self.condition(scope)
        x = rng.choice(numbers)
        kinds = [scope.bound[x]]
        if chance(rng, 40):
            function = rng.choice(("abs", "floor", "ceil", "round"))
            if function == "round" and chance(rng, 50):
                return Call("round", (x, rng.choice((0, 1, 2)))), kinds[0]
            return Call(function, (x,)), kinds[0]
        y = rng.choice(numbers) if chance(rng, 50) else rng.choice((1, 2, 3, 0, 0.5, 2.5))
        kinds.append(
            scope.bound[y] if isinstance(y, Var) else "float" if isinstance(y, float) else "int"
        )
        operator = rng.choice("+-*/%")
        if operator == "*" and isinstance(y, Var) and "any" not in kinds:
            operator = "+"  # no product of ints is beyond 64 bits
        if operator == "/" or "float" in kinds:
            return Call(operator, (x, y)), "float"
        native = "decimal" if "decimal" in kinds else "int"
        return Call(operator, (x, y)), "any" if "any" in kinds else native

    def condition(self, scope: Scope) -> tuple[Any, str | None]:
        if not scope.bound:
            return None, None
        rng = self.rng
        x, y = rng.choice(list(scope.bound)), rng.choice(list(scope.bound))
        kind = scope.bound[x]
        others = [v for v, known in scope.bound.items() if comparable(known, kind)]
        test = Call(rng.choice(OPERATORS), (x, rng.choice((*others, self.constant(kind)))))
        result = scope.bound[y]
        other = self.constant(result)
        if result in NUMBERS:
            result = joined(result, value_type(other))
        return Call("if", (test, y, other)), result

    # --- heads ---

    def head(self, head: Predicate, scope: Scope) -> Atom:
        terms: list[Any] = []
        for kind in head.kinds:
            widening = not head.declared and chance(self.rng, 8)
            fitting = [v for v, k in scope.bound.items() if widening or joined(k, kind) == kind]
            if fitting and not chance(self.rng, 6):
                terms.append(fitting[-1] if chance(self.rng, 40) else self.rng.choice(fitting))
            else:
                pool = self.rng.choice(list(self.pools)) if kind == "any" else kind
                terms.append(self.rng.choice(self.pools[pool]))
        return Atom(head.name, tuple(terms))

    def closure(self, head: Predicate) -> list[Rule]:
        """The rules of a transitive relation, perhaps symmetric, or of different terms only."""
        x, y, z = Var("X"), Var("Y"), Var("Z")
        body: list[Literal] = [Atom(head.name, (x, y)), Atom(head.name, (y, z))]
        if chance(self.rng, 40):
            body.append(Compare(x, self.rng.choice(("!=", "!=", "<", ">=")), z))
        rules = [Rule(self.name(), Atom(head.name, (x, z)), tuple(body))]
        if chance(self.rng, 40):
            rules.append(Rule(self.name(), Atom(head.name, (y, x)), (Atom(head.name, (x, y)),)))
        for predicate in self.predicates:
            fits = len(predicate.kinds) == 2 and predicate.level < head.level
            if fits and all(
                joined(k, h) == h for k, h in zip(predicate.kinds, head.kinds, strict=True)
            ):
                step = Atom(predicate.name, (x, y))
                rules.append(Rule(self.name(), Atom(head.name, (x, y)), (step,)))
        return rules

    # --- aggregates ---

    def aggregate(self, head: Predicate) -> Rule:
        """The one rule of a predicate: its last column is the result, the others are the group."""
        rng, scope = self.rng, Scope()
        lower = [p for p in self.predicates if p.level < head.level]
        body = [self.atom(rng.choice(lower), scope) for _ in range(rng.choice((1, 1, 2)))]
        inside: list[Literal] = [*body]
        if chance(rng, 20):
            self.comparison(inside, scope)
        if chance(rng, 20):
            inside.append(Not(self.negated(rng.choice(lower), scope)))
        if not scope.bound:
            inside = [Atom(lower[0].name, tuple(map(scope.fresh, lower[0].kinds)))]
        argument = rng.choice(scope.of(("any", *NUMBERS)) or list(scope.bound))
        functions = ["COUNT", "MIN", "MAX"]
        if scope.bound[argument] in ("any", *NUMBERS):
            functions += ["SUM", "SUM", "AVG", "MED"]
        function = rng.choice(functions)
        groups = [v for v in scope.bound if v != argument or chance(rng, 20)]
        group = tuple(rng.sample(groups, min(len(groups), len(head.kinds) - 1)))
        one = Aggregate(
            tuple(inside), group, function, argument, Var("R"), distinct=chance(rng, 25)
        )
        whole: list[Literal] = [one]
        if group and chance(rng, 20):
            whole.insert(
                0, self.atom(rng.choice(lower), Scope({v: scope.bound[v] for v in group}, "W"))
            )
        terms: list[Any] = list(group)
        while len(terms) < len(head.kinds) - 1:
            terms.append(self.constant(head.kinds[len(terms)]))
        return Rule(self.name(), Atom(head.name, (*terms, Var("R"))), tuple(whole))


# --- text ----------------------------------------------------------------------------------------


def rule_text(rule: Rule) -> str:
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
    value = f"{literal.function}({'DISTINCT ' * literal.distinct}{literal.argument.name})"
    return (
        f"AGGREGATE({', '.join(map(_literal, literal.body))}){on} WITH {value}"
        f" AS {literal.result.name}"
    )


def _expression(expression: Any) -> str:
    if isinstance(expression, Var):
        return expression.name
    if not isinstance(expression, Call):
        blank = isinstance(expression, str) and expression.startswith("_:")
        return expression if blank else constant_text(expression)
    arguments = [_expression(argument) for argument in expression.arguments]
    if expression.function in ("+", "-", "*", "/", "%", *OPERATORS):
        return f"({arguments[0]} {expression.function} {arguments[1]})"
    return f"{expression.function}({', '.join(arguments)})"
