"""Values as the naive engine has them: how they compare, and what a symbol means as text."""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass
from decimal import Decimal, localcontext

from generators.programs import Var

Value = str | int | Decimal | float | bool | datetime.date | datetime.datetime
Row = tuple[Value, ...]

NAN = float("nan")


@dataclass(frozen=True)
class Call:
    """A function of the language applied to expressions; `+` and the like by their sign."""

    function: str
    arguments: tuple[Expression, ...]


Expression = Var | Value | Call
Environment = dict[Var, Value]


class Overflow(Exception):
    """An integer left the 64 bits, or a decimal its digits: the library must refuse the change."""


class NoValue(Exception):
    """An expression has no value: the body has no solution."""


def as_type(value: Value, type_: str | None) -> Value:
    if type_ == "decimal" and isinstance(value, int):
        return Decimal(value)
    return one_float(float(value)) if type_ == "float" and not isinstance(value, str) else value  # type: ignore[arg-type]


def is_decimal(value: Decimal) -> bool:
    """Whether a number has at most 20 digits before the point, and 18 after it."""
    with localcontext(prec=200):
        scaled = value.scaleb(18)
        return value.is_finite() and abs(scaled) < Decimal(10) ** 38 and scaled == scaled // 1


def one_float(value: float) -> float:
    """The one form of a float: -0.0 is 0.0, and there is one NaN."""
    return NAN if math.isnan(value) else value + 0.0


def equal(left: Value, right: Value) -> bool:
    return compared(left, "=", right)


def compared(left: Value, operator: str, right: Value) -> bool:
    """Beside a float, numbers are floats; NaN is the greatest; symbols compare by their meaning."""
    if isinstance(left, float) or isinstance(right, float):
        left, right = as_type(left, "float"), as_type(right, "float")
    if operator in ("=", "!="):
        return (left is right or left == right) == (operator == "=")
    a, b = order_of(left), order_of(right)
    return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[operator]


def order_of(value: Value) -> tuple[object, ...]:
    if isinstance(value, str):
        return (lexical(value),)
    if isinstance(value, float):
        return (math.isnan(value), 0.0 if math.isnan(value) else value)
    return (value,)


def lexical(symbol: str) -> str:
    """What a symbol means as text: without quotes, language, datatype or angle brackets."""
    if symbol.startswith("<"):
        return symbol[1:-1]
    if not symbol.startswith('"'):
        return symbol
    text, escapes = "", {"n": "\n", "r": "\r", "t": "\t"}
    inside = iter(symbol[1 : symbol.rindex('"')])
    for letter in inside:
        if letter == "\\":
            letter = next(inside)
            letter = escapes.get(letter, letter)
        text += letter
    return text


def plain(text: str) -> str:
    """The symbol of some text that a function made."""
    head, _, rest = text.partition(":")
    scheme = head[:1].isalpha() and head.isascii() and all(c.isalnum() or c in "+.-" for c in head)
    iri = (scheme and rest.startswith("//")) or (head == "urn" and ":" in text)
    iri = iri and not any(c in ' \t\n\r\f\v<>"{}|\\^`' for c in text)
    if not (iri or text[:1] in ("<", '"') or text[:2] == "_:"):
        return text
    for letter, escape in (
        ("\\", "\\\\"),
        ('"', '\\"'),
        ("\n", "\\n"),
        ("\r", "\\r"),
        ("\t", "\\t"),
    ):
        text = text.replace(letter, escape)
    return f'"{text}"'
