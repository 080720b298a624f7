"""Rules with MIN or MAX in their heads, over groups and values from mixed columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from generators.mixed_expressions import Scope
from generators.programs import Atom, Compare, Literal, Rule, Var
from generators.random_rules import chance
from support.mixed_types import MOMENTS, Clash, check, comparable, joined
from support.naive_values import Call

if TYPE_CHECKING:
    from generators.mixed_programs import Predicate
    from generators.mixed_rules import MixedRules

VALUE = Var("E")
"""The best value that a recursive rule reads."""


@dataclass(frozen=True)
class MixedBest:
    """Draws the rules of one predicate, whose last column has the best values.

    No recursion makes its value better along a cycle.
    """

    drawn: MixedRules
    head: Predicate

    def rules(self) -> list[Rule]:
        rng = self.drawn.rng
        found = [self.rule(recursive=False) for _ in range(rng.choice((1, 1, 2)))]
        found += [self.rule(recursive=True) for _ in range(rng.choice((0, 1, 1, 2)))]
        return [rule for rule in found if rule is not None]

    def rule(self, recursive: bool) -> Rule | None:
        drawn, head = self.drawn, self.head
        for _ in range(30):
            scope, body = Scope(), list[Literal]()
            lower = [p for p in drawn.predicates if p.level < head.level]
            body += [drawn.atom(drawn.rng.choice(lower), scope) for _ in range(1)]
            if recursive:
                own = [drawn.term(kind, scope) for kind in head.kinds[:-1]]
                body.append(Atom(head.name, (*own, VALUE)))
            value = self.value(scope, recursive)
            if value is None:
                continue
            if recursive and head.kinds[-1] != "any" and chance(drawn.rng, 25):
                worse = ("<", "<=") if head.best == "MIN" else (">", ">=")
                limit = drawn.rng.choice(drawn.pools[head.kinds[-1]])
                body.append(Compare(VALUE, drawn.rng.choice(worse), limit))
            drawn.rng.shuffle(body)
            terms = drawn.head(head, scope).terms[:-1]
            atom = Atom(head.name, (*terms, Call(head.best, (value,))))
            rule = Rule(drawn.name(), atom, tuple(body))
            try:
                check(rule, drawn.types)
            except Clash:
                continue
            return rule
        return None

    def value(self, scope: Scope, recursive: bool) -> Any:
        rng, kind = self.drawn.rng, self.head.kinds[-1]
        other = self.term(scope) if kind == "any" else self.native(scope)
        if not recursive:
            return other
        if other is None or chance(rng, 35):
            return VALUE
        if kind == "any":
            return self.passed_on(scope, other)
        least = self.head.best == "MIN"
        if least and kind == "int" and chance(rng, 50):
            return Call("+", (VALUE, Call("abs", (other,))))
        return Call("greatest" if least else "least", (VALUE, other))

    def passed_on(self, scope: Scope, other: Any) -> Any:
        """The value as it is: nothing may be computed from a term that depends on itself."""
        condition, _ = self.drawn.condition(scope)
        if not isinstance(condition, Call) or chance(self.drawn.rng, 50):
            return VALUE
        both = (VALUE, other) if chance(self.drawn.rng, 50) else (other, VALUE)
        return Call("if", (condition.arguments[0], *both))

    def term(self, scope: Scope) -> Any:
        """A value of any kind: of a variable, mostly one of terms, computed, or a constant."""
        rng = self.drawn.rng
        found = scope.of(("any",)) or list(scope.bound)
        if found and not chance(rng, 35):
            return rng.choice(found)
        value, kind = self.drawn.expression(scope)
        return self.drawn.constant("any") if kind is None else value

    def native(self, scope: Scope) -> Any:
        """A value of the column's type: of a native variable, or what a term is."""
        rng, kind = self.drawn.rng, self.head.kinds[-1]
        natives = [v for v, known in scope.bound.items() if joined(known, kind) == kind]
        mixed = scope.of(("any",))
        if mixed and (not natives or chance(rng, 60)):
            x = rng.choice(mixed)
            if kind in MOMENTS:
                return Call("date", (x,)) if kind == "date" else Call("add_seconds", (x, 1))
            return Call(kind, (x,))
        if not natives:
            return None
        found = rng.choice(natives)
        return found if comparable(scope.bound[found], kind) else None
