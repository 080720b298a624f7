"""The functions and aggregates of the language in plain Python, for the naive engine."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal, localcontext

from generators.programs import Var
from support.naive_moments import bucket_of, day_of, days_between, formatted
from support.naive_values import (
    NAN,
    Call,
    Expression,
    NoValue,
    Overflow,
    Value,
    as_type,
    compared,
    is_decimal,
    lexical,
    one_float,
    order_of,
    plain,
)

# --- functions -----------------------------------------------------------------------------------


def evaluate(expression: Expression, environment: Mapping[Var, Value]) -> Value:
    """The value of an expression. Raises NoValue or Overflow."""
    if isinstance(expression, Var):
        return environment[expression]
    if not isinstance(expression, Call):
        return one_float(expression) if isinstance(expression, float) else expression
    if expression.function in ("if", "and", "or"):
        return _lazy(expression, environment)
    arguments = [evaluate(argument, environment) for argument in expression.arguments]
    if expression.function in ("=", "!=", "<", "<=", ">", ">="):
        return compared(_day(arguments), expression.function, _day(arguments[::-1]))
    if expression.function in ("concat", "text", "int", "float", "decimal", *_TEXT, *_WITH_TEXTS):
        arguments = [lexical(a) if isinstance(a, str) else a for a in arguments]
    elif any(isinstance(a, float) for a in arguments) and expression.function not in _AS_THEY_ARE:
        arguments = [as_type(a, "float") for a in arguments]
    with localcontext(prec=200):  # all digits of a product, and more
        return finished(_FUNCTIONS[expression.function](*arguments))


def _lazy(call: Call, environment: Mapping[Var, Value]) -> Value:
    """A condition chooses one of two values; one part may decide `and` and `or`."""
    if call.function == "if":
        condition, *both = call.arguments
        return evaluate(both[not evaluate(condition, environment)], environment)
    decisive, missing = call.function == "or", None
    for part in call.arguments:
        try:
            if evaluate(part, environment) == decisive:
                return decisive
        except NoValue as error:
            missing = error
    if missing:
        raise missing
    return not decisive


def _day(values: Sequence[Value]) -> Value:
    """The first of two values; a date as the moment when it begins if the other is a moment."""
    first, other = values
    if isinstance(other, datetime.datetime) and not isinstance(first, datetime.datetime):
        assert isinstance(first, datetime.date)
        return datetime.datetime.combine(first, datetime.time())
    return first


def _read(pattern: str, read: Callable[[str], Value]) -> Callable[[Value], Value]:
    def apply(value: Value) -> Value:
        if isinstance(value, str) and not re.fullmatch(pattern, value, re.ASCII):
            raise NoValue
        try:
            found = read(value)  # type: ignore[arg-type]
        except (OverflowError, ValueError):
            raise NoValue from None
        if type(found) is int and not -(2**63) <= found < 2**63:
            raise NoValue
        return found

    return apply


def _decimal(value: Value) -> Value:
    """The decimal that a number or a text is written as, if there is one."""
    if isinstance(value, str) and not re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)", value, re.ASCII):
        raise NoValue
    made = Decimal(repr(value) if isinstance(value, float) else value)  # type: ignore[arg-type]
    if not is_decimal(made):
        raise NoValue
    return made + 0


_NUMBER = r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?(?i:inf|infinity)|(?i:nan)"


def _later(unit: str) -> Callable[..., Value]:
    def apply(moment: datetime.date, amount: float) -> Value:
        try:
            if unit == "days":
                return moment + datetime.timedelta(days=amount)
            exact = Decimal(float(amount) * 1_000_000).quantize(Decimal(1), ROUND_HALF_UP)
            return moment + datetime.timedelta(microseconds=int(exact))
        except (OverflowError, ValueError, ArithmeticError):
            raise NoValue from None

    return apply


def _seconds(moment: datetime.date) -> float:
    midnight = datetime.datetime(1970, 1, 1)
    passed = _day((moment, midnight)) - midnight  # type: ignore[operator]
    return float(passed // datetime.timedelta(microseconds=1)) / 1e6


def _micros_between(first: datetime.date, second: datetime.date) -> float:
    midnight = datetime.datetime(1970, 1, 1)
    a, b = _day((first, midnight)), _day((second, midnight))
    return float((b - a) // datetime.timedelta(microseconds=1)) / 1e6  # type: ignore[operator]


def _first_match(text: str, pattern: str, group: int = 0) -> str:
    found = re.search(pattern, text, re.ASCII)
    if not found:
        raise NoValue
    return found[group] or ""


def finished(value: Value) -> Value:
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, float):
        return one_float(value)
    if type(value) is int and not -(2**63) <= value < 2**63:
        raise Overflow
    if isinstance(value, Decimal) and not is_decimal(value):
        raise Overflow
    return value


def _divided(a: float, b: float) -> float:
    if b == 0:
        raise NoValue
    return float(a) / float(b)


def _remainder(a: float, b: float) -> float:
    """What is left of a division that is cut off towards zero."""
    if b == 0:
        raise NoValue
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) % abs(b) * (1 if a >= 0 else -1)
    if isinstance(a, Decimal) or isinstance(b, Decimal):
        return Decimal(a) % Decimal(b)
    return _or_nan(math.fmod, a, b)


def _rounded(value: float, places: int = 0) -> float:
    """Half goes away from zero."""
    if isinstance(value, Decimal):
        return value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP) if places < 18 else value
    if isinstance(value, int) or not math.isfinite(value):
        return value
    moved = value * 10.0**places if places else value
    if not math.isfinite(moved):
        return value
    whole = (
        float(Decimal(moved).quantize(Decimal(1), ROUND_HALF_UP)) if abs(moved) < 2**52 else moved
    )
    return whole / 10.0**places if places else whole


def _whole(function: Callable[[float], int]) -> Callable[[float], float]:
    def apply(value: float) -> float:
        if isinstance(value, int) or not math.isfinite(value):
            return value
        return type(value)(function(value))

    return apply


def _or_nan(function: Callable[..., float], *values: float) -> float:
    try:
        return function(*map(float, values))
    except ValueError:
        return NAN


def _power(base: float, exponent: float) -> float:
    base, exponent = float(base), float(exponent)
    if base == 0 and exponent < 0:
        raise NoValue
    try:
        return math.pow(base, exponent)
    except ValueError:
        raise NoValue from None
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf


def _exponential(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _root(value: float) -> float:
    if value < 0:
        raise NoValue
    return math.sqrt(value)


def _logarithm(value: float) -> float:
    if value <= 0:
        raise NoValue
    return math.log(value)


def _written(value: Value) -> str:
    """A value within a text."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.datetime):
        text = value.isoformat(" ")
        return text.rstrip("0") if value.microsecond else text
    if isinstance(value, Decimal):
        whole, _, places = f"{value:f}".partition(".")
        return f"{whole}.{places.rstrip('0') or '0'}".replace(
            "-0.0", "0.0" if not value else "-0.0"
        )
    return value.isoformat() if isinstance(value, datetime.date) else str(value)


def _piece(text: str, start: int, length: int | None = None) -> str:
    """A piece of a text; the first letter has number 1."""
    return text[start - 1 :] if length is None else text[start - 1 : start - 1 + length]


_TEXT: Mapping[str, Callable[..., Value]] = {
    "length": len,
    "lower": str.lower,
    "upper": str.upper,
    "trim": lambda text: text.strip(" "),
    "substr": _piece,
    "replace": lambda text, old, new: text.replace(old, new) if old else text,
    "contains": lambda text, part: part in text,
    "starts_with": str.startswith,
    "ends_with": str.endswith,
    "matches": lambda text, pattern: bool(re.search(pattern, text, re.ASCII)),
    "regex_replace": lambda text, pattern, by: re.sub(pattern, by, text, flags=re.ASCII),
    "regex_extract": _first_match,
}

_WITH_TEXTS = ("date", "time_bucket", "format_time")
"""Functions of moments that take formats, intervals or zones."""

_AS_THEY_ARE = ("round", "add_days", "add_seconds")
"""Functions whose ints stay ints beside floats."""

_FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    **_TEXT,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divided,
    "%": _remainder,
    "abs": abs,
    "round": _rounded,
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
    "sqrt": _root,
    "power": _power,
    "exp": _exponential,
    "ln": _logarithm,
    "least": lambda *values: min(values, key=order_of),
    "greatest": lambda *values: max(values, key=order_of),
    "concat": lambda *values: "".join(map(_written, values)),
    "year": lambda moment: moment.year,
    "month": lambda moment: moment.month,
    "day": lambda moment: moment.day,
    "hour": lambda moment: moment.hour,
    "minute": lambda moment: moment.minute,
    "second": lambda moment: moment.second,
    "text": _written,
    "int": _read(r"[+-]?\d+", int),
    "float": _read(_NUMBER, float),
    "decimal": _decimal,
    "not": lambda value: not value,
    "add_days": _later("days"),
    "add_seconds": _later("seconds"),
    "days_between": days_between,
    "seconds_between": _micros_between,
    "epoch": _seconds,
    "date": day_of,
    "time_bucket": bucket_of,
    "format_time": formatted,
}


# --- aggregates ----------------------------------------------------------------------------------


def _meaning(value: Value) -> tuple[object, ...]:
    """Symbols of the same meaning are ordered by their text."""
    return (*order_of(value), value) if isinstance(value, str) else order_of(value)


def _sum(values: Sequence[float]) -> float:
    """Floats from the least to the greatest: their sum depends on the order."""
    total: float = 0.0 if isinstance(values[0], float) else 0
    with localcontext(prec=200):
        for value in sorted(values, key=order_of):
            total += value
    return total


def _median(values: Sequence[float]) -> float:
    ordered = [float(value) for value in sorted(values, key=order_of)]
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return low if len(ordered) % 2 else low * 0.5 + high * 0.5


AGGREGATES: Mapping[str, Callable[[Sequence], Value]] = {  # type: ignore[type-arg]
    "COUNT": len,
    "SUM": _sum,
    "MIN": lambda values: min(values, key=_meaning),
    "MAX": lambda values: max(values, key=_meaning),
    "AVG": lambda values: float(_sum(values)) / len(values),
    "MED": _median,
}
