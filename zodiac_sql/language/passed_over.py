"""What a rule asks of the terms of mixed columns: those that have no such value are passed over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from zodiac_sql.language.binding import arrange, calls
from zodiac_sql.language.functions import COMPARISONS, Functions, signature
from zodiac_sql.language.syntax import Call, Comparison, Expression, Rule, Type, Variable
from zodiac_sql.language.types import body_types, expression_type

Columns = Mapping[str, Sequence[Type | None]]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a rule asks of a column of a predicate: a kind of values, for a comparison or call."""

    rule: str
    predicate: str
    place: int
    kind: Type
    """FLOAT for numbers, TIMESTAMP for dates and times, BOOL, or SYMBOL for all else."""
    told: str
    """The comparison or the call, as it is written."""


def asked(rule: Rule, columns: Columns, functions: Functions) -> tuple[Asked, ...]:
    """What a rule asks of the columns from which its variables are."""
    atoms = tuple(rule.positive_atoms())
    if not any(Type.ANY in columns[atom.predicate] for atom in atoms):
        return ()
    types = body_types(rule.body, columns, functions).types
    found = dict.fromkeys(
        Asked(rule.name, atom.predicate, place, kind, told)
        for name, kind, told in _of_variables(rule, types, functions)
        for atom in atoms
        for place, term in enumerate(atom.terms)
        if isinstance(term, Variable)
        and term.name == name
        and columns[atom.predicate][place] is Type.ANY
    )
    return tuple(found)


def _of_variables(
    rule: Rule, types: Mapping[str, Type | None], functions: Functions
) -> Iterator[tuple[str, Type, str]]:
    """Variables of terms, the kinds of values that are asked of them, and by what."""
    body = arrange(rule.body)
    for test in body.filters:
        yield from _of_comparison(test, types, functions)
    expressions = [step.expression for step in body.steps]
    expressions += [side for test in body.filters for side in (test.left, test.right)]
    for call in calls(*expressions):
        if call.function not in COMPARISONS:
            yield from _of_call(call, types, functions)


def _of_comparison(
    test: Comparison, types: Mapping[str, Type | None], functions: Functions
) -> Iterator[tuple[str, Type, str]]:
    """A comparison for equality always has a value, and so may one of two terms."""
    if test.operator in ("=", "!="):
        return
    for side, other in ((test.left, test.right), (test.right, test.left)):
        type_ = expression_type(other, types, functions)
        if _is_term(side, types) and type_ not in (None, Type.ANY):
            assert isinstance(side, Variable) and type_ is not None
            yield side.name, _kind(type_), str(test)


def _of_call(
    call: Call, types: Mapping[str, Type | None], functions: Functions
) -> Iterator[tuple[str, Type, str]]:
    builtin = signature(call.function, False, functions)
    if builtin is None or call.function == "if":
        return
    for place, argument in enumerate(call.arguments):
        kinds = {_kind(t) for t in builtin.parameter(place, len(call.arguments)) if t != Type.ANY}
        if _is_term(argument, types) and len(kinds) == 1:
            assert isinstance(argument, Variable)
            yield argument.name, kinds.pop(), str(call)


def _is_term(expression: Expression, types: Mapping[str, Type | None]) -> bool:
    return isinstance(expression, Variable) and types.get(expression.name) is Type.ANY


def _kind(type_: Type) -> Type:
    """The type that stands for all whose values compare with those of one."""
    if type_.numeric:
        return Type.FLOAT
    return Type.TIMESTAMP if type_ is Type.DATE else type_
