"""Random rules over mixed and native columns, and their text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any

from generators.mixed_best import MixedBest
from generators.mixed_expressions import Expressions, Scope
from generators.mixed_values import written_as
from generators.programs import Aggregate, Atom, Bind, Compare, Literal, Not, Rule, Var
from generators.random_rules import chance
from generators.typed_language import constant_text
from support.mixed_literals import literal_of
from support.mixed_terms import Written
from support.mixed_types import (
    NUMBERS,
    Clash,
    Types,
    check,
    comparable,
    is_ill_typed,
    joined,
    met,
    value_type,
)
from support.naive_values import Call

if TYPE_CHECKING:
    from generators.mixed_programs import Predicate

__all__ = ["MixedRules", "chance", "rule_text"]

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
TRIES = 30


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
        if head.best:
            return MixedBest(self, head).rules()
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
        if not recursive and chance(rng, 60):
            self.binding(body, scope)
        if chance(rng, 45):
            self.comparison(body, scope)
        if chance(rng, 30):
            body.append(Not(self.negated(rng.choice(lower), scope)))
        rng.shuffle(body)
        return Rule(self.name(), self.head(head, scope), tuple(body))

    def constraint(self) -> Rule:
        """What must never hold."""
        while True:
            scope = Scope()
            body: list[Literal] = [self.atom(self.rng.choice(self.predicates), scope)]
            if chance(self.rng, 50):
                body.append(self.atom(self.rng.choice(self.predicates), scope))
            self.comparison(body, scope)
            if chance(self.rng, 50):
                body.append(Not(self.negated(self.rng.choice(self.predicates), scope)))
            rule = Rule(self.name(), Atom("never", ()), tuple(body), never=True)
            if scope.bound and not is_ill_typed(rule, self.types):
                return rule

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
        if chance(self.rng, 30):
            found = Expressions(self.rng, scope, self.pools).comparison(OPERATORS)
            if found is not None:
                body.append(Compare(*found))
                return
        left = self.rng.choice(list(scope.bound))
        kind = scope.bound[left]
        others = [v for v, known in scope.bound.items() if comparable(known, kind) and v != left]
        right = self.rng.choice(others) if others and chance(self.rng, 60) else self.constant(kind)
        body.append(Compare(left, self.rng.choice(OPERATORS), right))

    def binding(self, body: list[Literal], scope: Scope) -> None:
        expression, kind = self.expression(scope)
        if chance(self.rng, 10):
            pool = self.rng.choice(("int", "float", "timestamp"))
            expression, kind = self.written(self.rng.choice(self.pools[pool])), pool
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
        if scope.bound and chance(rng, 45):
            return Expressions(rng, scope, self.pools).drawn()
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
        truths = scope.of(("any", "bool"))
        if truths and chance(rng, 25):
            truth = rng.choice(truths)
            test = rng.choice((truth, *(Call(f, (test, truth)) for f in ("and", "or"))))
        result = scope.bound[y]
        other = self.constant(result)
        if chance(rng, 35):
            call, kind = Expressions(rng, scope, self.pools).drawn()
            if kind and comparable(kind, result):
                both = (y, call) if chance(rng, 50) else (call, y)
                return Call("if", (test, *both)), joined(result, kind)
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
                terms.append(self.written(self.rng.choice(self.pools[pool])))
        return Atom(head.name, tuple(terms))

    def written(self, value: Any) -> Any:
        """A constant, perhaps as a literal of another datatype, or with a zone."""
        marks = written_as(value)
        return Written(value, self.rng.choice(marks)) if marks and chance(self.rng, 50) else value

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
        domain = self.domain(group, scope, lower) if chance(rng, 45) else None
        if domain is not None and chance(rng, 70):
            one = replace(one, otherwise=self.otherwise(function, scope.bound[argument]))
        elif domain is None and group and chance(rng, 20):
            domain = self.atom(rng.choice(lower), Scope({v: scope.bound[v] for v in group}, "W"))
        whole: list[Literal] = [*([domain] if domain else []), one]
        if chance(rng, 25):
            second = rng.choice(("COUNT", "MIN", "MAX"))
            other = None if one.otherwise is None else self.otherwise(second, scope.bound[argument])
            whole.append(replace(one, function=second, result=Var("S"), otherwise=other))
        terms: list[Any] = list(group)
        if Var("S") in [x.result for x in whole if isinstance(x, Aggregate)] and terms:
            terms[-1] = Var("S")
        while len(terms) < len(head.kinds) - 1:
            terms.append(self.constant(head.kinds[len(terms)]))
        return Rule(self.name(), Atom(head.name, (*terms, Var("R"))), tuple(whole))

    def domain(self, group: Sequence[Var], scope: Scope, lower: list[Predicate]) -> Atom | None:
        """An atom that says which groups there are, if a predicate has columns for them."""
        fitting = [p for p in lower if len(p.kinds) >= len(group)]
        if not fitting:
            return None
        predicate = self.rng.choice(fitting)
        terms = [*group, *[Var("_")] * (len(predicate.kinds) - len(group))]
        self.rng.shuffle(terms)
        for term, kind in zip(terms, predicate.kinds, strict=True):
            if not term.anonymous and not comparable(scope.bound[term], kind):
                return None
        return Atom(predicate.name, tuple(terms))

    def otherwise(self, function: str, argument: str) -> Any:
        """A value for groups without solutions."""
        kind = {"COUNT": "int", "AVG": "float", "MED": "float"}.get(function, argument)
        return self.rng.choice((0, self.constant(kind if kind in NUMBERS else "float")))


# --- text ----------------------------------------------------------------------------------------


def rule_text(rule: Rule) -> str:
    """A rule in the language. A second value of an aggregate follows the first."""
    texts = list(map(_literal, rule.body))
    for place, (first, second) in enumerate(zip(rule.body, rule.body[1:], strict=False), 1):
        if isinstance(first, Aggregate) and isinstance(second, Aggregate):
            texts[place] = _value(second)
    head = "!-" if rule.never else f"{_atom(rule.head)} :-"
    return f"{rule.name}: {head} {', '.join(texts)}."


def _atom(atom: Atom) -> str:
    name = f"<{atom.predicate}>" if "://" in atom.predicate else atom.predicate
    return f"{name}({', '.join(map(_expression, atom.terms))})"


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
    return f"AGGREGATE({', '.join(map(_literal, literal.body))}){on} WITH {_value(literal)}"


def _value(literal: Aggregate) -> str:
    other = "" if literal.otherwise is None else f" ELSE {_expression(literal.otherwise)}"
    distinct = "DISTINCT " * literal.distinct
    return f"{literal.function}({distinct}{literal.argument.name}) AS {literal.result.name}{other}"


def _expression(expression: Any) -> str:
    if isinstance(expression, Var):
        return expression.name
    if not isinstance(expression, Call):
        if isinstance(expression, Written):
            return literal_of(expression.value, expression.mark).text
        blank = isinstance(expression, str) and expression.startswith("_:")
        return expression if blank else constant_text(expression)
    arguments = [_expression(argument) for argument in expression.arguments]
    if expression.function in ("+", "-", "*", "/", "%", "and", "or", *OPERATORS):
        return f"({arguments[0]} {expression.function} {arguments[1]})"
    return f"{expression.function}({', '.join(arguments)})"
