"""Arithmetic, conditions and aggregates of mixed terms, as the oracle reads the language's page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal
from functools import partial, reduce
from typing import Any

from generators.programs import Var
from support.mixed_terms import (
    Elsewhere,
    MixedValue,
    Moment,
    Number,
    Term,
    Written,
    compare,
    exact_number,
    meaning,
    narrowed,
    number_of,
    term_of,
    term_of_number,
)
from support.mixed_types import COMPARISONS, EXTREMES, parameter
from support.naive_functions import AGGREGATES, finished
from support.naive_functions import evaluate as native_value
from support.naive_values import Call, NoValue, lexical, one_float, plain

_EXACT = Context(prec=200)
_PLACE = Decimal(1).scaleb(-18)
COMPUTED = ("+", "-", "*", "%", "abs", "floor", "ceil", "round")


def evaluate(expression: Any, environment: Mapping[Var, MixedValue]) -> MixedValue:
    """The value of an expression. Raises NoValue."""
    if isinstance(expression, Var):
        return environment[expression]
    if isinstance(expression, Written):
        return evaluate(expression.value, environment)
    if not isinstance(expression, Call):
        return one_float(expression) if isinstance(expression, float) else expression
    if expression.function == "if":
        condition, *both = expression.arguments
        return evaluate(both[not _truth(evaluate(condition, environment))], environment)
    if expression.function in ("and", "or"):
        return _either(expression, environment)
    values = [evaluate(argument, environment) for argument in expression.arguments]
    if expression.function == "not":
        return not _truth(values[0])
    if expression.function in COMPARISONS:
        return compare(values[0], expression.function, values[1])
    function = expression.function
    if not any(isinstance(value, Term) for value in values):
        return native_value(Call(function, tuple(values)), {})
    if function in EXTREMES:
        return reduce(partial(_better, "<=" if function == "least" else ">="), values)
    if function in (*COMPUTED, "/"):
        return _of_terms(function, values)
    if function in ("int", "float", "decimal"):
        return _converted(function, values[0])
    given = [_taken(function, place, len(values), value) for place, value in enumerate(values)]
    return native_value(Call(function, tuple(given)), {})


def _better(operator: str, first: MixedValue, second: MixedValue) -> MixedValue:
    """The first of two values if it compares so with the second: numbers, or dates and times."""
    if not all(isinstance(meaning(value), Number | Moment) for value in (first, second)):
        raise NoValue
    return term_of(first if compare(first, operator, second) else second)


def _converted(function: str, value: MixedValue) -> MixedValue:
    """The number that a term is, or that it is the text of."""
    found = meaning(value)
    if isinstance(found, str):
        return native_value(Call(function, (plain(found),)), {})
    if not isinstance(found, Number):
        raise NoValue
    if function == "int":
        return native_value(
            Call("int", (found.double if found.exact is None else found.exact,)), {}
        )
    try:
        return narrowed(term_of(value), function)
    except Elsewhere:
        raise NoValue from None


def _taken(function: str, place: int, count: int, value: MixedValue) -> MixedValue:
    """What a function takes of a term: a value of a type that it takes. Raises NoValue."""
    if not isinstance(value, Term):
        return value
    wanted, found = parameter(function, place, count), meaning(value)
    if not wanted:
        return plain(lexical(value.text))
    if wanted == ("symbol",) and isinstance(found, str):
        return plain(found)
    if "date" in wanted and isinstance(found, Moment):
        return found.when
    for type_ in ("float", "int", "timestamp"):
        if type_ in wanted:
            try:
                return narrowed(value, type_)
            except Elsewhere:
                break
    raise NoValue


def _truth(value: MixedValue) -> bool:
    found = meaning(value)
    if not isinstance(found, bool):
        raise NoValue
    return found


def _either(call: Call, environment: Mapping[Var, MixedValue]) -> bool:
    """One part may decide if the other has no value."""
    decisive, missing = call.function == "or", None
    for part in call.arguments:
        try:
            if _truth(evaluate(part, environment)) == decisive:
                return decisive
        except NoValue as error:
            missing = error
    if missing:
        raise missing
    return not decisive


def _of_terms(function: str, values: Sequence[MixedValue]) -> MixedValue:
    """A function of numbers, some of which are terms: a native float makes it a native one."""
    numbers = [number_of(value) for value in values]
    if function == "/":
        left, right = (number.double for number in numbers)
        return native_value(Call("/", (left, right)), {})
    native = any(isinstance(value, float) for value in values)
    exact = None not in [number.exact for number in numbers] and not native
    if exact:
        kind = "integer" if all(n.kind == "integer" for n in numbers) else "decimal"
        found = exact_value(kind, _exactly(function, [n.exact for n in numbers]))
        if found is not None:
            return term_of_number(found)
    places = [int(n.double) if function == "round" and i else n.double
              for i, n in enumerate(numbers)]  # fmt: skip
    value = native_value(Call(function, tuple(places)), {})
    assert isinstance(value, float)
    return value if native else term_of(value)


def exact_value(kind: str, value: Decimal) -> Number | None:
    """An exact number as a term can have it, or None: then it is a float."""
    found = exact_number(kind, value.quantize(_PLACE, ROUND_HALF_UP, _EXACT))
    return None if found.exact is None else found


def _exactly(function: str, values: Sequence[Any]) -> Decimal:
    first, *others = values
    context = _EXACT
    if function in ("+", "-", "*"):
        operation = {"+": context.add, "-": context.subtract, "*": context.multiply}[function]
        return operation(first, others[0])
    if function == "%":
        if others[0] == 0:
            raise NoValue
        return context.remainder(first, others[0])
    if function == "abs":
        return first.copy_abs()
    if function == "round":
        step = Decimal(1).scaleb(-int(others[0]) if others else 0)
        return context.multiply(
            context.divide(first, step).quantize(Decimal(1), ROUND_HALF_UP, context), step
        )
    direction = ROUND_FLOOR if function == "floor" else ROUND_CEILING
    return first.quantize(Decimal(1), direction, context)


# --- aggregates ----------------------------------------------------------------------------------


def aggregate(function: str, values: Sequence[MixedValue]) -> MixedValue:
    """The value of a group. Raises NoValue."""
    if function == "COUNT":
        return len(values)
    if not isinstance(values[0], Term):
        found = AGGREGATES[function](values)
        return found if isinstance(found, str) else finished(found)
    if function in ("MIN", "MAX"):
        return (min if function == "MIN" else max)(values, key=order)
    numbers = [n for n in map(meaning, values) if isinstance(n, Number)]
    if not numbers:
        raise NoValue
    if function == "SUM":
        return term_of_number(_sum(numbers))
    doubles = [number.double for number in numbers]
    if function == "MED":
        return one_float(AGGREGATES["MED"](doubles))  # type: ignore[arg-type]
    total = _sum(numbers)
    return one_float(total.double / len(numbers))


def _sum(numbers: Sequence[Number]) -> Number:
    if all(number.exact is not None for number in numbers):
        kind = "integer" if all(n.kind == "integer" for n in numbers) else "decimal"
        exact = exact_value(kind, sum((n.exact for n in numbers), Decimal()))  # type: ignore[misc]
        if exact is not None:
            return exact
    return Number("double", one_float(math.fsum(n.double for n in numbers)
                                      if all(math.isfinite(n.double) for n in numbers)
                                      else sum(n.double for n in numbers)))  # fmt: skip


def order(value: MixedValue) -> tuple[Any, ...]:
    """The order of all terms: numbers, booleans, dates and times, then all others by text."""
    found, text = meaning(value), term_of(value).text
    if isinstance(found, Number):
        nan = math.isnan(found.double)
        number = found.exact if found.exact is not None else 0.0 if nan else found.double
        return (0, nan, number, text)
    if isinstance(found, bool):
        return (1, found, text)
    if isinstance(found, Moment):
        return (2, found.when, text)
    return (3, found, text)
