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
    Constant,
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


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison of what stands in one atom: of each fact there it has a value, or none."""

    rule: str
    atom: Atom
    test: Call
    told: str
    """The comparison or the call, as it is written."""


def asked(rule: Rule, columns: Columns, functions: Functions) -> tuple[Asked, ...]:
    """What a rule asks of the columns from which its variables are, but what is `compared`."""
    found = (_asked(rule.name, body, columns, functions) for body in _bodies(rule.body))
    return tuple(dict.fromkeys(chain.from_iterable(found)))


def compared(rule: Rule, columns: Columns, functions: Functions) -> tuple[Compared, ...]:
    """What a rule compares within one atom, where no column alone says what has no value."""
    found = (_compared(rule.name, body, columns, functions) for body in _bodies(rule.body))
    return tuple(dict.fromkeys(chain.from_iterable(found)))


Body = tuple[Literal, ...]


def _bodies(body: Body) -> Iterator[Body]:
    """A body, and those of its aggregates."""
    yield body
    for literal in body:
        if isinstance(literal, Aggregate):
            yield from _bodies(literal.body)


def _asked(rule: str, body: Body, columns: Columns, functions: Functions) -> Iterator[Asked]:
    atoms = _with_terms(body, columns)
    types = body_types(body, columns, functions).types if atoms else {}
    yield from (
        Asked(rule, atom.predicate, place, of.kind, of.told, of.compared is not None)
        for of in (_of_variables(body, types, functions) if atoms else ())
        if not any(_has_both(atom, of) for atom in atoms)
        for atom in atoms
        for place, term in enumerate(atom.terms)
        if isinstance(term, Variable)
        and term.name == of.variable
        and columns[atom.predicate][place] is Type.ANY
    )


def _compared(rule: str, body: Body, columns: Columns, functions: Functions) -> Iterator[Compared]:
    atoms = _with_terms(body, columns)
    types = body_types(body, columns, functions).types if atoms else {}
    yield from (
        Compared(rule, atom, of.compared, of.told)
        for of in (_of_variables(body, types, functions) if atoms else ())
        for atom in atoms
        if of.compared is not None and _has_both(atom, of)
    )


def _with_terms(body: Body, columns: Columns) -> list[Atom]:
    """The atoms of a body, if one of them has a mixed column."""
    atoms = [literal for literal in body if isinstance(literal, Atom)]
    return atoms if any(Type.ANY in columns[atom.predicate] for atom in atoms) else []


def _has_both(atom: Atom, of: _OfVariable) -> bool:
    """Whether an atom has all that is compared, and what has an order depends on both sides.

    What a rule computes first is left out: of facts that the rule does not read it may fail.
    """
    if of.compared is None or of.kind not in (Type.ANY, Type.SYMBOL):
        return False
    sides = {side for side in of.compared.arguments if not isinstance(side, Constant)}
    return len(sides) > 1 and sides <= set(atom.terms)


_OF_ORDER = frozenset(("<", "<=", ">", ">=", "least", "greatest"))
"""Operators and functions that ask for an order. Equality always has a value."""


@dataclass(frozen=True, slots=True)
class _OfVariable:
    """A variable of terms, and what Asked has of it."""

    variable: str
    kind: Type
    told: str
    compared: Call | None = None
    """The comparison that asks for it."""


def _of_variables(
    body: Body, types: Mapping[str, Type | None], functions: Functions
) -> Iterator[_OfVariable]:
    """Variables of terms, the kinds of values that are asked of them, and by what."""
    arranged = arrange(body)
    for test in arranged.filters:
        if test.operator in _OF_ORDER:
            test_ = Call(test.operator, (test.left, test.right))
            yield from _of_compared(test_, str(test), types, functions)
    expressions = [step.expression for step in arranged.steps]
    expressions += [side for test in arranged.filters for side in (test.left, test.right)]
    for call in calls(*expressions):
        if call.function in _OF_ORDER:
            yield from _of_compared(call, str(call), types, functions)
        elif call.function not in COMPARISONS:
            yield from _of_call(call, types, functions)


def _of_compared(
    test: Call,
    told: str,
    types: Mapping[str, Type | None],
    functions: Functions,
) -> Iterator[_OfVariable]:
    """Terms are asked for values of the kind of what they are compared with.

    Of terms alone it is ANY: which of them meet is not known.
    """
    found = [t for t in (expression_type(side, types, functions) for side in test.arguments) if t]
    kinds = {_kind(type_) for type_ in found if type_ is not Type.ANY} or {Type.ANY}
    if len(kinds) == 1:
        (kind,) = kinds
        for side in test.arguments:
            if _is_term(side, types):
                assert isinstance(side, Variable)
                yield _OfVariable(side.name, kind, told, test)


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
            yield _OfVariable(argument.name, kinds.pop(), str(call))


def _is_term(expression: Expression, types: Mapping[str, Type | None]) -> bool:
    return isinstance(expression, Variable) and types.get(expression.name) is Type.ANY


def _kind(type_: Type) -> Type:
    """The type that stands for all whose values compare with those of one."""
    if type_.numeric:
        return Type.FLOAT
    return Type.TIMESTAMP if type_ is Type.DATE else type_
