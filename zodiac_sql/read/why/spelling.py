"""How values, expressions and literals are written with their values put in."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from math import inf, isfinite

from zodiac_sql.language.decimals import written
from zodiac_sql.language.symbols import XSD, iri, quoted
from zodiac_sql.language.syntax import (
    Call,
    Comparison,
    Constant,
    Expression,
    Type,
    Value,
    Variable,
)

_NAME = re.compile(r"[a-z][A-Za-z0-9_]*")
_WORDS = ("true", "false", "not")


def spelled(value: Value, type_: Type) -> str:
    """A value as a constant of the rule language."""
    if type_ is Type.ANY:
        return _term(str(value))
    if type_ is Type.SYMBOL:
        return _symbol(str(value))
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.datetime):
        return f'"{value.isoformat()}"^^xsd:dateTime'
    if isinstance(value, datetime.date):
        return f'"{value.isoformat()}"^^xsd:date'
    if isinstance(value, Decimal):
        return f'"{written(value)}"^^xsd:decimal'
    if isinstance(value, float) and not isfinite(value):
        return f'"{_NOT_FINITE.get(value, "NaN")}"^^xsd:double'
    return repr(value)


_NOT_FINITE = {inf: "INF", -inf: "-INF"}


def _symbol(text: str) -> str:
    if text.startswith(("<", '"', "_:")):
        return text
    if iri(text) == text:
        return f"<{text}>"
    return text if _NAME.fullmatch(text) and text not in _WORDS else quoted(text)


def _term(text: str) -> str:
    """A term of a column of all kinds: a literal as the constant that is written so in a fact."""
    found = _LITERAL.fullmatch(text)
    if found is None:
        return _symbol(text)
    form, datatype = found[1], found[2]
    if datatype in _SHORT and _SHORT[datatype](form):
        return form
    return f'"{form}"^^xsd:{datatype}'


_LITERAL = re.compile(rf'"([^"\\]*)"\^\^<{re.escape(XSD)}([A-Za-z]+)>')

_PLAIN = re.compile(r"-?[0-9]+\.[0-9]+")

_SHORT: Mapping[str, Callable[[str], object]] = {
    "integer": re.compile("0|-?[1-9][0-9]{0,17}").fullmatch,
    "double": lambda form: _PLAIN.fullmatch(form) and repr(float(form)) == form,
    "boolean": re.compile("true|false").fullmatch,
}
"""Whether a literal needs no quotes: rules would write it as a constant of a native type."""


def filled_in(expression: Expression, values: Mapping[str, str]) -> str:
    """An expression with the texts of its variables' values put in."""
    if isinstance(expression, Variable):
        return values.get(expression.name, str(expression))
    if isinstance(expression, Constant):
        return spelled(expression.value, expression.type)
    assert isinstance(expression, Call)
    arguments = [filled_in(argument, values) for argument in expression.arguments]
    if len(arguments) == 2 and not expression.function.isidentifier():
        return f"({arguments[0]} {expression.function} {arguments[1]})"
    return f"{expression.function}({', '.join(map(bare, arguments))})"


def compared(test: Comparison, values: Mapping[str, str]) -> str:
    """A comparison with the texts of its variables' values put in.

    Of an expression that stands in an atom (language/values.py), the expression, and its value.
    """
    if isinstance(test.left, Variable) and test.left.made:
        text, value = bare(filled_in(test.right, values)), values.get(test.left.name)
        return text if value is None else f"{text} = {value}"
    left, right = (bare(filled_in(side, values)) for side in (test.left, test.right))
    return f"{left} {test.operator} {right}"


def bare(text: str) -> str:
    """An expression without the parentheses around the whole."""
    if text.startswith("(") and text.endswith(")"):
        depth = 0
        for place, character in enumerate(text):
            depth += (character == "(") - (character == ")")
            if depth == 0 and place < len(text) - 1:
                return text
        return text[1:-1]
    return text
