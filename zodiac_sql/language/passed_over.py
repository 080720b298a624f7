"""What a rule asks of the terms of mixed columns: those that have no such value are passed over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from zodiac_sql.language.binding import arrange, calls
from zodiac_sql.language.functions import COMPARISONS, Functions, signature
from zodiac_sql.language.syntax import (
    Aggregate,
    Atom,
    Call,
    Expression,
    Literal,
    Rule,
    Type,
    Variable,
)
from zodiac_sql.language.types import body_types, expression_type

Columns = Mapping[str, Sequence[Type | None]]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a rule asks of a column of a predicate: a kind of values, for a comparison or call."""

    rule: str
    predicate: str
    place: int
    kind: Type
    """FLOAT for numbers, TIMESTAMP for dates and times, BOOL, SYMBOL for all else, or ANY for
    whatever has an order.
    """
    told: str
    """The comparison or the call, as it is written."""
    is_compared: bool
    """Whether it is a comparison: of SYMBOL, that asks for plain texts."""


def asked(rule: Rule, columns: Columns, functions: Functions) -> tuple[Asked, ...]:
    """What a rule asks of the columns from which its variables are."""
    found = (_asked(rule.name, body, columns, functions) for body in _bodies(rule.body))
    return tuple(dict.fromkeys(chain.from_iterable(found)))


Body = tuple[Literal, ...]


def _bodies(body: Body) -> Iterator[Body]:
    """A body, and those of its aggregates."""
    yield body
    for literal in body:
        if isinstance(literal, Aggregate):
            yield from _bodies(literal.body)


def _asked(rule: str, body: Body, columns: Columns, functions: Functions) -> Iterator[Asked]:
    atoms = [literal for literal in body if isinstance(literal, Atom)]
    if not any(Type.ANY in columns[atom.predicate] for atom in atoms):
        return
    types = body_types(body, columns, functions).types
    yield from (
        Asked(rule, atom.predicate, place, kind, told, is_compared)
        for name, kind, told, is_compared in _of_variables(body, types, functions)
        for atom in atoms
        for place, term in enumerate(atom.terms)
        if isinstance(term, Variable)
        and term.name == name
        and columns[atom.predicate][place] is Type.ANY
    )


_OF_ORDER = frozenset(("<", "<=", ">", ">=", "least", "greatest"))
"""Operators and functions that ask for an order. Equality always has a value."""

_OfVariable = tuple[str, Type, str, bool]
"""The name of a variable, and what Asked has of it."""


def _of_variables(
    body: Body, types: Mapping[str, Type | None], functions: Functions
) -> Iterator[_OfVariable]:
    """Variables of terms, the kinds of values that are asked of them, and by what."""
    arranged = arrange(body)
    for test in arranged.filters:
        if test.operator in _OF_ORDER:
            yield from _of_compared((test.left, test.right), str(test), types, functions)
    expressions = [step.expression for step in arranged.steps]
    expressions += [side for test in arranged.filters for side in (test.left, test.right)]
    for call in calls(*expressions):
        if call.function in _OF_ORDER:
            yield from _of_compared(call.arguments, str(call), types, functions)
        elif call.function not in COMPARISONS:
            yield from _of_call(call, types, functions)


def _of_compared(
    sides: Sequence[Expression],
    told: str,
    types: Mapping[str, Type | None],
    functions: Functions,
) -> Iterator[_OfVariable]:
    """Terms are asked for values of the kind of what they are compared with.

    Of terms alone it is ANY: which of them meet is not known.
    """
    found = [t for t in (expression_type(side, types, functions) for side in sides) if t]
    kinds = {_kind(type_) for type_ in found if type_ is not Type.ANY} or {Type.ANY}
    if len(kinds) == 1:
        (kind,) = kinds
        for side in sides:
            if _is_term(side, types):
                assert isinstance(side, Variable)
                yield side.name, kind, told, True


def _of_call(
    call: Call, types: Mapping[str, Type | None], functions: Functions
) -> Iterator[_OfVariable]:
    builtin = signature(call.function, False, functions)
    if builtin is None or call.function == "if":
        return
    for place, argument in enumerate(call.arguments):
        kinds = {_kind(t) for t in builtin.parameter(place, len(call.arguments)) if t != Type.ANY}
        if _is_term(argument, types) and len(kinds) == 1:
            assert isinstance(argument, Variable)
            yield argument.name, kinds.pop(), str(call), False


def _is_term(expression: Expression, types: Mapping[str, Type | None]) -> bool:
    return isinstance(expression, Variable) and types.get(expression.name) is Type.ANY


def _kind(type_: Type) -> Type:
    """The type that stands for all whose values compare with those of one."""
    if type_.numeric:
        return Type.FLOAT
    return Type.TIMESTAMP if type_ is Type.DATE else type_
