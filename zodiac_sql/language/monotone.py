"""Which way an expression moves when the best values that it is made of get better.

A recursion through MIN or MAX has one answer, whatever the order of evaluation, only if nothing
gets lost or worse by a better value. So each expression is one of four: FIXED does not depend on
such values, RISING gets greater or stays when they get greater, FALLING gets less or stays, and
UNKNOWN (None) is all else.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from zodiac_sql.language.syntax import Call, Comparison, Constant, Expression, Variable

FIXED, RISING, FALLING = 0, 1, -1

Direction = int | None

_SAME_WAY = frozenset({"least", "greatest", "round", "floor", "ceil", "exp", "float"})
"""These rise with each of their arguments (round with its first; the second must be fixed)."""


@dataclass(frozen=True, slots=True)
class Directions:
    """The directions of the variables of one body; those that are not in it are FIXED.

    `positive` are variables that a comparison of the body keeps from being negative.
    """

    known: Mapping[str, Direction]
    positive: Collection[str] = field(default_factory=frozenset)
    least: bool = True
    """Whether less is better."""

    def of(self, expression: Expression) -> Direction:
        """Which way an expression moves."""
        if isinstance(expression, Constant):
            return FIXED
        if isinstance(expression, Variable):
            return self.known.get(expression.name, FIXED)
        ways = [self.of(argument) for argument in expression.arguments]
        if all(way == FIXED for way in ways):
            return FIXED
        if None in ways:
            return None
        return self._moving(expression, [way for way in ways if way is not None])

    def _moving(self, call: Call, ways: Sequence[int]) -> Direction:
        match call.function:
            case "+":
                return together(ways)
            case "-" if len(ways) == 2:
                return together([ways[0], -ways[1]])
            case "*" if len(ways) == 2:
                return self._times(call, ways)
            case "/" if len(ways) == 2 and ways[1] == FIXED:
                return self._scaled(ways[0], call.arguments[1])
            case "round" if len(ways) == 2 and ways[1] != FIXED:
                return None
            case "if" if len(ways) == 3 and ways[0] == FIXED:
                return together(ways[1:])
            case "add_days" | "add_seconds" if self.least and self._later(call, ways):
                return ways[0]
            case name if name in _SAME_WAY:
                return together(ways)
            case _:
                return None

    def _later(self, call: Call, ways: Sequence[int]) -> bool:
        """Whether a moment is moved to a later one: then only late ones go beyond the calendar."""
        return len(ways) == 2 and ways[1] == FIXED and self.is_positive(call.arguments[1])

    def _times(self, call: Call, ways: Sequence[int]) -> Direction:
        first, second = call.arguments
        if ways[1] == FIXED:
            return self._scaled(ways[0], second)
        return self._scaled(ways[1], first) if ways[0] == FIXED else None

    def _scaled(self, way: int, factor: Expression) -> Direction:
        if self.is_positive(factor):
            return way
        value = factor.value if isinstance(factor, Constant) else 0
        return -way if isinstance(value, int | float | Decimal) and value < 0 else None

    def is_positive(self, expression: Expression) -> bool:
        """Whether an expression is never negative, as far as its text tells."""
        if isinstance(expression, Constant):
            return expression.type.numeric and not float(str(expression.value)) < 0
        if isinstance(expression, Variable):
            return expression.name in self.positive
        if expression.function in ("abs", "length", "exp", "sqrt"):
            return True
        signs = [self.is_positive(argument) for argument in expression.arguments]
        if expression.function == "greatest":
            return any(signs)
        return expression.function in ("+", "*", "/", "least") and all(signs)

    def holds_on(self, comparison: Comparison, better: int) -> bool:
        """Whether a comparison that holds still holds when values get better.

        `better` is where better values are: FALLING for MIN, RISING for MAX.
        """
        ways = self.of(comparison.left), self.of(comparison.right)
        if ways == (FIXED, FIXED):
            return True
        left, right = ways
        if left is None or right is None or comparison.operator in ("=", "!="):
            return False
        if comparison.operator in (">", ">="):
            left, right = right, left
        # What is to be less must not get greater, and the other side must not get less.
        return left * better <= 0 <= right * better


def together(ways: Sequence[int]) -> Direction:
    """Which way something moves that rises with each of its parts."""
    moving = {way for way in ways if way != FIXED}
    return moving.pop() if len(moving) == 1 else (None if moving else FIXED)


def never_negative(filters: Sequence[Comparison]) -> frozenset[str]:
    """The variables that a comparison with a number keeps from being negative: `W >= 0`."""
    found = set()
    for test in filters:
        low, operator, high = test.left, test.operator, test.right
        if operator in (">", ">="):
            low, high = high, low
        elif operator not in ("<", "<="):
            continue
        number = isinstance(low, Constant) and low.type.numeric and float(str(low.value))
        if isinstance(high, Variable) and number is not False and number >= 0:
            found.add(high.name)
    return frozenset(found)
