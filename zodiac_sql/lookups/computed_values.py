"""The functions that rules compute values with, in SQLite, as far as Python has what DuckDB has.

They are Python's, because SQLite makes a float of an int that is too large, and has no value where
DuckDB has NaN. A function without a value derives nothing, as in sql/functions.py; where DuckDB
would refuse the rule, or has a value that SQLite does not know, the change is left to it.
"""

from __future__ import annotations

import math
import operator
import sqlite3
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from zodiac_sql.language.binding import calls
from zodiac_sql.language.functions import BUILTINS, meant, result_type
from zodiac_sql.language.intervals import interval_of
from zodiac_sql.language.syntax import Call, Constant, Expression, Type, Variable
from zodiac_sql.lookups.buckets import bucket_begin
from zodiac_sql.lookups.values import ORDERED, Unknown, UnknownValueError
from zodiac_sql.sql.functions import PARTIAL

MOST_PARTS = 64
"""A value that is made of more parts than this is left to DuckDB: each use writes all of them."""

_KEPT = [type_ for type_ in Type if type_ is not Type.ANY]
"""The types of values: rules that read those of terms are left to DuckDB."""

_Number = int | float
_A_DAY = 86_400_000_000
_MICROSECONDS = {Type.DATE: _A_DAY, Type.TIMESTAMP: 1}
"""How many of them the numbers stand for by which SQLite has moments."""


def _quotient(a: _Number, b: _Number) -> float | None:
    return None if b == 0 else float(a) / float(b)


def _remainder(a: int, b: int) -> int | None:
    """It has the sign of the dividend, as in C."""
    return None if b == 0 else int(math.copysign(1, a)) * (abs(a) % abs(b))


def _root(a: _Number) -> float | None:
    return math.sqrt(a) if a >= 0 else None


def _floor(a: float) -> float:
    return a if math.isinf(a) else float(math.floor(a))


def _ceiling(a: float) -> float:
    return a if math.isinf(a) else float(math.ceil(a))


def _rounded(a: float, places: int = 0) -> float:
    """Halves away from zero, as C rounds the product with a power of ten; else as it is."""
    if places < 0:
        raise UnknownValueError
    power = 10.0**places if places <= sys.float_info.max_10_exp else math.inf
    product = a * power
    if not math.isfinite(product) or math.isinf(power):
        return a
    whole = math.trunc(product)
    away = math.copysign(1, product) if abs(product - whole) >= 0.5 else 0
    return (whole + away) / power


def _cut_off(a: float) -> int | None:
    return int(a) if -(2.0**63) <= a < 2.0**63 else None


def _seconds_between(a: Type, b: Type) -> Callable[[int, int], float]:
    first, last = _MICROSECONDS[a], _MICROSECONDS[b]
    return lambda x, y: float(y * last - x * first) / 1e6


def _day(a: Type) -> Callable[[int], int]:
    return lambda x: x * _MICROSECONDS[a] // _A_DAY


def _days_between(a: Type, b: Type) -> Callable[[int, int], int]:
    first, last = _day(a), _day(b)
    return lambda x, y: last(y) - first(x)


def _bucket(of: Type) -> Callable[[int, int, int], int | None]:
    """The number of the moment when a bucket begins, by the months or microseconds that it has."""

    def begin(months: int, microseconds: int, x: int) -> int | None:
        begun = bucket_begin(months, microseconds, x * _MICROSECONDS[of])
        return None if begun is None else begun // _MICROSECONDS[of]

    return begin


def _epoch(a: Type) -> Callable[[int], float]:
    return lambda x: float(x * _MICROSECONDS[a]) / 1e6


def _choice(condition: bool | None, a: Any, b: Any) -> Any:
    return None if condition is None else a if condition else b


def _both(a: bool | None, b: bool | None) -> bool | None:
    return None if None in (a, b) and False not in (a, b) else bool(a and b)


def _either(a: bool | None, b: bool | None) -> bool | None:
    return None if None in (a, b) and True not in (a, b) else bool(a or b)


_INT, _FLOAT, _BOOL = Type.INT, Type.FLOAT, Type.BOOL
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_ONE = ((_INT,), (_FLOAT,))
_TWO = tuple(product((_INT, _FLOAT), repeat=2))

_FUNCTIONS: Mapping[tuple[str, tuple[Type, ...]], Callable[..., object]] = {
    **{("+", types): operator.add for types in _TWO},
    **{("-", types): operator.sub for types in _TWO},
    **{("*", types): operator.mul for types in _TWO},
    **{("/", types): _quotient for types in _TWO},
    ("%", (_INT, _INT)): _remainder,
    **{("abs", types): abs for types in _ONE},
    **{("sqrt", types): _root for types in _ONE},
    **{("float", types): float for types in _ONE},
    ("floor", (_FLOAT,)): _floor,
    ("ceil", (_FLOAT,)): _ceiling,
    ("int", (_FLOAT,)): _cut_off,
    **{("date", (one,)): _day(one) for one in _MICROSECONDS},
    **{("days_between", two): _days_between(*two) for two in product(_MICROSECONDS, repeat=2)},
    **{
        ("seconds_between", two): _seconds_between(*two) for two in product(_MICROSECONDS, repeat=2)
    },
    **{("epoch", (one,)): _epoch(one) for one in _MICROSECONDS},
    ("round", (_FLOAT,)): _rounded,
    ("round", (_FLOAT, _INT)): _rounded,
    ("not", (_BOOL,)): operator.not_,
    **{
        (sign, (type_, type_)): compare
        for sign, compare in _COMPARISONS.items()
        for type_ in _KEPT
        if type_ in ORDERED or sign in ("=", "!=")
    },
}
_OF_NOTHING: Mapping[tuple[str, tuple[Type, ...]], Callable[..., Any]] = {
    **{("if", (_BOOL, type_, type_)): _choice for type_ in _KEPT},
    ("and", (_BOOL, _BOOL)): _both,
    ("or", (_BOOL, _BOOL)): _either,
}
"""Those that may have a value where an argument has none."""

_BUCKETS = {Type.DATE: "bucket_of_day", Type.TIMESTAMP: "bucket_of_moment"}
"""time_bucket in SQLite, by the type of what it takes. Its interval is two numbers there."""

NAMES = {key: f"f{number}" for number, key in enumerate((*_FUNCTIONS, *_OF_NOTHING))}
"""Their names in SQLite."""

_PARTIAL = {name for (function, _), name in NAMES.items() if function in PARTIAL}
_PARTIAL |= {*_BUCKETS.values()}
"""Those that have no value for some arguments."""


EXACTLY = "exactly"
"""The function that reads a float from a text in base 16. SQLite rounds some decimals wrongly."""


def is_read_exactly(value: float) -> bool:
    """Whether SQLite reads a decimal right: it does if no digit is lost on the way."""
    return abs(value) < 2**40 and (value * 1024).is_integer()


def make_functions(connection: sqlite3.Connection, unknown: Unknown) -> None:
    """Let SQLite compute these functions."""
    connection.create_function(EXACTLY, 1, float.fromhex, deterministic=True)
    called = {key: _calling(compute, unknown) for key, compute in _FUNCTIONS.items()}
    for key, call in {**called, **_OF_NOTHING}.items():
        connection.create_function(NAMES[key], len(key[1]), call, deterministic=True)
    for type_, name in _BUCKETS.items():
        call = _calling(_bucket(type_), unknown)
        connection.create_function(name, 3, call, deterministic=True)


def _calling(compute: Callable[..., object], unknown: Unknown) -> Callable[..., Any]:
    def call(*arguments: object) -> Any:
        return None if None in arguments else unknown.value(compute, *arguments)

    return call


@dataclass(frozen=True, slots=True)
class Named:
    """An expression with the names that functions have in SQLite, its type, and its size."""

    expression: Expression
    type: Type
    parts: int


def is_partial(expression: Expression) -> bool:
    """Whether an expression, in which functions have their names in SQLite, may have no value."""
    return any(call.function in _PARTIAL for call in calls(expression))


def named(expression: Expression, known: Mapping[str, Named]) -> Named | None:
    """An expression over known variables. None: it is not computed in SQLite."""
    if isinstance(expression, Variable):
        there = known.get(expression.name)
        return there and Named(expression, there.type, there.parts)
    if isinstance(expression, Constant):
        return Named(expression, expression.type, 1)
    if expression.function == "time_bucket":
        return _named_bucket(expression, known)
    arguments = [named(argument, known) for argument in expression.arguments]
    found = [argument for argument in arguments if argument is not None]
    types = tuple(argument.type for argument in found)
    name = NAMES.get((expression.function, types))
    if name is None or len(found) < len(arguments):
        return None
    type_ = result_type(BUILTINS[expression.function], types)
    parts = 1 + sum(argument.parts for argument in found)
    if type_ is None or parts > MOST_PARTS:
        return None
    call = Call(name, tuple(argument.expression for argument in found), expression.span)
    return Named(call, type_, parts)


def _named_bucket(call: Call, known: Mapping[str, Named]) -> Named | None:
    """A call of time_bucket. With a time zone, it is not computed in SQLite."""
    interval, moment, *zone = call.arguments
    found = named(moment, known)
    name = _BUCKETS.get(found.type) if found else None
    if zone or found is None or name is None or not isinstance(interval, Constant):
        return None
    width = interval_of(meant(interval))
    numbers = (Constant(_INT, width.months), Constant(_INT, width.microseconds))
    parts = found.parts + 1
    if parts > MOST_PARTS:
        return None
    return Named(Call(name, (*numbers, found.expression), call.span), found.type, parts)
