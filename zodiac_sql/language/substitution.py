"""Constants in place of variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from zodiac_sql.language.syntax import (
    Atom,
    Binding,
    Call,
    Comparison,
    Constant,
    Expression,
    Literal,
    Negation,
    Variable,
)


def put_in(literal: Literal, values: Mapping[str, Constant]) -> Literal:
    """A literal with constants in place of some variables."""
    if isinstance(literal, Atom):
        terms = tuple(
            values.get(t.name, t) if isinstance(t, Variable) else t for t in literal.terms
        )
        return replace(literal, terms=terms)
    if isinstance(literal, Negation):
        return Negation(cast(Atom, put_in(literal.atom, values)))
    if isinstance(literal, Comparison):
        return replace(literal, left=_put(literal.left, values), right=_put(literal.right, values))
    if isinstance(literal, Binding):
        expression = _put(literal.expression, values)
        if literal.variable.name in values:
            return Comparison(values[literal.variable.name], "=", expression)
        return replace(literal, expression=expression)
    return replace(literal, body=tuple(put_in(inner, values) for inner in literal.body))


def _put(expression: Expression, values: Mapping[str, Constant]) -> Expression:
    if isinstance(expression, Variable):
        return values.get(expression.name, expression)
    if isinstance(expression, Call):
        return replace(expression, arguments=tuple(_put(a, values) for a in expression.arguments))
    return expression
