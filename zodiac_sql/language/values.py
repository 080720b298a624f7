"""Expressions where a variable must stand: in an atom, or under an aggregate.

    next(X + 1) :- p(X).             written
    next(V1') :- p(X), V1' = X + 1.  meant

No user can write a variable with such a name.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from zodiac_sql.language.syntax import Call, Comparison, Variable


@dataclass(slots=True)
class ClauseValues:
    """The variables of a clause that stand for expressions, and the comparisons that say so."""

    _made: int = 0
    _inner: list[Comparison] = field(default_factory=list)
    """What belongs to the body that is being read."""

    @contextmanager
    def named(self) -> Iterator[list[Comparison]]:
        """The comparisons for what is read inside the block, without those of inner blocks."""
        outer, self._inner = self._inner, []
        try:
            yield self._inner
        finally:
            self._inner = outer

    def name(self, expression: Call) -> Variable:
        """The variable that stands for an expression; the same for the same one in one body."""
        for known in self._inner:
            if known.right == expression and isinstance(known.left, Variable):
                return known.left
        self._made += 1
        variable = Variable(f"V{self._made}'", expression.span)
        self._inner.append(Comparison(variable, "=", expression, expression.span))
        return variable
