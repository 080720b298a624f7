"""Whether a rule never makes a better value of a best value: a path never gets shorter by going on.

Then each best value follows from best values, down to explicit facts. Without that, a value may
rest on one that has got better since: MIN(greatest(E, 5)) is still 5 when E is no longer 4, but 3.

Mostly it depends on the facts: E + W is no less than E if no W is negative. So what must hold of
them is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from zodiac_sql.language.binding import arrange
from zodiac_sql.language.monotone import Directions, never_negative
from zodiac_sql.language.syntax import Best, Call, Constant, Expression, Rule, Variable


@dataclass(frozen=True, slots=True)
class Demand:
    """That no value in a column of a predicate is negative, or with `sign` -1, none is positive."""

    predicate: str
    place: int
    sign: int


Demands = frozenset[Demand]


def demands_of(rule: Rule, bests: Mapping[str, Best]) -> Demands | None:
    """What must hold of facts so that a rule never makes a better value; None if no facts help."""
    if rule.best is None:
        return frozenset()
    values = [
        atom.terms[bests[atom.predicate].place]
        for atom in rule.positive_atoms()
        if atom.predicate in bests
    ]
    body = _Body(rule, bests, 1 if rule.best.function == "min" else -1)
    found = [body.beyond(rule.head.terms[rule.best.place], value) for value in values]
    if any(one is None for one in found):
        return None
    return frozenset().union(*(one for one in found if one is not None))


class _Body:
    """The body of a rule. `sign` is 1 for MIN: worse is greater."""

    def __init__(self, rule: Rule, bests: Mapping[str, Best], sign: int) -> None:
        arranged = arrange(rule.body)
        self.sign = sign
        self.steps = {step.variable.name: step.expression for step in arranged.steps}
        self.text = Directions({}, never_negative(arranged.filters))
        self.columns = {
            term.name: (atom.predicate, place)
            for atom in arranged.atoms
            if atom.predicate not in bests
            for place, term in enumerate(atom.terms)
            if isinstance(term, Variable)
        }

    def beyond(self, expression: Expression, value: Expression) -> Demands | None:
        """What makes an expression no better than a value."""
        if expression == value:
            return frozenset()
        if isinstance(expression, Variable) and expression.name in self.steps:
            return self.beyond(self.steps[expression.name], value)
        if not isinstance(expression, Call):
            return None
        parts = expression.arguments
        worse, better = ("greatest", "least") if self.sign > 0 else ("least", "greatest")
        match expression.function:
            case "+":
                first, second = parts
                return _either(
                    _both(self.beyond(first, value), self.signed(second, self.sign)),
                    _both(self.beyond(second, value), self.signed(first, self.sign)),
                )
            case "-" if len(parts) == 2:
                return _both(self.beyond(parts[0], value), self.signed(parts[1], -self.sign))
            case name if name == worse:
                return _either(*(self.beyond(part, value) for part in parts))
            case name if name == better:
                return _both(*(self.beyond(part, value) for part in parts))
            case "if" if len(parts) == 3:
                return _both(*(self.beyond(part, value) for part in parts[1:]))
            case "add_days" | "add_seconds" if self.sign > 0:
                return _both(self.beyond(parts[0], value), self.signed(parts[1], 1))
            case "ceil" if self.sign > 0:
                return self.beyond(parts[0], value)
            case "floor" if self.sign < 0:
                return self.beyond(parts[0], value)
            case _:
                return None

    def signed(self, expression: Expression, sign: int) -> Demands | None:
        """What makes an expression have no other sign than this."""
        if isinstance(expression, Constant):
            return frozenset() if float(str(expression)) * sign >= 0 else None
        if sign > 0 and self.text.is_positive(expression):
            return frozenset()
        if isinstance(expression, Variable):
            if expression.name in self.columns:
                return frozenset({Demand(*self.columns[expression.name], sign)})
            step = self.steps.get(expression.name)
            return None if step is None else self.signed(step, sign)
        if expression.function in ("+", "least", "greatest"):
            return _both(*(self.signed(part, sign) for part in expression.arguments))
        if expression.function == "*" and sign > 0:
            return _both(*(self.signed(part, 1) for part in expression.arguments))
        return None


def _both(*parts: Demands | None) -> Demands | None:
    known = [part for part in parts if part is not None]
    return frozenset().union(*known) if len(known) == len(parts) else None


def _either(*parts: Demands | None) -> Demands | None:
    known = [part for part in parts if part is not None]
    return min(known, key=len) if known else None
