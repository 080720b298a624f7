"""Which variables of a body are bound, by what, and in which order.

A positive atom binds its variables, an aggregate its group and result, and `V = expression` or
BIND binds V once the expression's variables are bound. Everything else must find its variables
bound, except that a variable occurring only under a negation is existential there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from zodiac_sql.rules import (
    Aggregate,
    Atom,
    Binding,
    Call,
    Comparison,
    Constant,
    Expression,
    Literal,
    Negation,
    Rule,
    Type,
    Variable,
)


@dataclass(frozen=True, slots=True)
class Arranged:
    """A body in the order in which it can be evaluated.

    `steps` are bindings of new variables, each after what it needs; `filters` only test. What
    could not be placed, because a variable is never bound, is `unplaced`.
    """

    atoms: tuple[Atom, ...]
    aggregates: tuple[Aggregate, ...]
    steps: tuple[Binding, ...]
    filters: tuple[Comparison, ...]
    negations: tuple[Negation, ...]
    bound: frozenset[str]
    unplaced: tuple[Comparison | Binding, ...]


def arrange(body: tuple[Literal, ...]) -> Arranged:
    """Sort a body's literals into what binds and what tests."""
    atoms = tuple(literal for literal in body if isinstance(literal, Atom))
    aggregates = tuple(literal for literal in body if isinstance(literal, Aggregate))
    bound = {v.name for atom in atoms for v in variables(*atom.terms)}
    for aggregate in aggregates:
        bound |= {v.name for v in (*aggregate.group, aggregate.result)}

    waiting = [literal for literal in body if isinstance(literal, Comparison | Binding)]
    steps: list[Binding] = []
    filters: list[Comparison] = []
    while True:
        left = [literal for literal in waiting if not _place(literal, bound, steps, filters)]
        if len(left) == len(waiting):
            break
        waiting = left
    negations = tuple(literal for literal in body if isinstance(literal, Negation))
    return Arranged(
        atoms, aggregates, tuple(steps), tuple(filters), negations, frozenset(bound), tuple(left)
    )


def _place(
    literal: Comparison | Binding, bound: set[str], steps: list[Binding], filters: list[Comparison]
) -> bool:
    """Place a literal as a test or as a binding, if what it needs is bound."""
    if isinstance(literal, Binding):
        if not _known(literal.expression, bound):
            return False
        if literal.variable.name in bound:
            filters.append(Comparison(literal.variable, "=", literal.expression, literal.span))
        else:
            steps.append(literal)
            bound.add(literal.variable.name)
        return True
    if _known(literal.left, bound) and _known(literal.right, bound):
        filters.append(literal)
        return True
    for target, value in ((literal.left, literal.right), (literal.right, literal.left)):
        if literal.operator == "=" and isinstance(target, Variable) and _known(value, bound):
            steps.append(Binding(value, target, literal.span))
            bound.add(target.name)
            return True
    return False


def variables(*expressions: Expression) -> Iterator[Variable]:
    """Every variable in expressions, from left to right, as often as it occurs."""
    for expression in expressions:
        if isinstance(expression, Variable):
            yield expression
        elif isinstance(expression, Call):
            yield from variables(*expression.arguments)


def expressions_of(literal: Comparison | Binding) -> tuple[Expression, ...]:
    """The expressions a comparison or binding needs the values of."""
    if isinstance(literal, Binding):
        return (literal.expression,)
    return (literal.left, literal.right)


def _known(expression: Expression, bound: set[str]) -> bool:
    return all(variable.name in bound for variable in variables(expression))


def symbols_in(rules: Iterable[Rule]) -> set[str]:
    """The text of every symbol that rules mention as a constant."""
    return {
        str(constant.value)
        for rule in rules
        for constant in (*_constants(rule.head.terms), *_body_constants(rule.body))
        if constant.type is Type.SYMBOL
    }


def _body_constants(body: tuple[Literal, ...]) -> Iterator[Constant]:
    for literal in body:
        if isinstance(literal, Atom):
            yield from _constants(literal.terms)
        elif isinstance(literal, Negation):
            yield from _constants(literal.atom.terms)
        elif isinstance(literal, Aggregate):
            yield from _body_constants(literal.body)
        else:
            yield from _constants(expressions_of(literal))


def _constants(expressions: Iterable[Expression]) -> Iterator[Constant]:
    for expression in expressions:
        if isinstance(expression, Constant):
            yield expression
        elif isinstance(expression, Call):
            yield from _constants(expression.arguments)


def used_functions(rules: Iterable[Rule]) -> set[str]:
    """Names of all functions and aggregates in rules."""
    return {name for rule in rules for name in functions_in(rule.body)}


def functions_in(body: tuple[Literal, ...]) -> Iterator[str]:
    """Names of the functions and aggregates in a body."""
    for literal in body:
        if isinstance(literal, Aggregate):
            yield literal.function
            yield from functions_in(literal.body)
        elif isinstance(literal, Comparison | Binding):
            yield from (call.function for call in calls(*expressions_of(literal)))


def calls(*expressions: Expression) -> Iterator[Call]:
    """Every call in expressions, the outer before the inner."""
    for expression in expressions:
        if isinstance(expression, Call):
            yield expression
            yield from calls(*expression.arguments)
