"""Values of a Python program as terms of a column that holds terms of all kinds.

A term is the text of its symbol. Numbers, booleans, dates and times are the literals of their
datatypes, as facts/native_text.py writes those of native columns.
"""

from __future__ import annotations

import datetime
import decimal
import math
import numbers
import re
from typing import Any

from zodiac_sql.facts.python_values import is_bool
from zodiac_sql.language.symbols import NATIVE_LITERAL, XSD

MOST_WHOLE = 2**63
"""Floats below it may be ints of 64 bits."""


def term_of(value: Any, declared: bool) -> str:
    """The term of a value.

    A column that nobody `declared` may have been one of ints, then of floats: so a whole number is
    an int there, and a time with a zone an instant. In others each value is what it is.
    """
    if isinstance(value, str):
        return str(value)
    if is_bool(type(value)):
        return _literal("true" if value else "false", "boolean")
    if isinstance(value, numbers.Integral):
        return _literal(str(int(value)), "integer")
    if isinstance(value, decimal.Decimal):
        return _decimal(value, declared)
    if isinstance(value, numbers.Real):
        return _float(float(value), declared)
    if isinstance(value, datetime.datetime):
        return _literal(_moment(value, declared), "dateTime")
    return _literal(value.isoformat(), "date")


def is_native_literal(text: str) -> bool:
    """Whether a text is a literal that `term_of` makes: it stands as it is."""
    return _NATIVE.fullmatch(text) is not None


_NATIVE = re.compile(NATIVE_LITERAL)


def _decimal(value: decimal.Decimal, declared: bool) -> str:
    if value == value.to_integral_value() and not declared and abs(value) < MOST_WHOLE:
        return _literal(str(int(value)), "integer")
    text = f"{value:f}"
    digits = text.rstrip("0") if "." in text else f"{text}."
    digits = digits.removeprefix("-") if not value else digits
    return _literal(f"{digits}0" if digits.endswith(".") else digits, "decimal")


def _float(value: float, declared: bool) -> str:
    if math.isnan(value):
        return _literal("NaN", "double")
    if math.isinf(value):
        return _literal("INF" if value > 0 else "-INF", "double")
    if value.is_integer() and not declared and abs(value) < MOST_WHOLE:
        return _literal(str(int(value)), "integer")
    return _literal(repr(value + 0.0), "double")


def _moment(value: datetime.datetime, declared: bool) -> str:
    if value.tzinfo is not None and not declared:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
        return f"{_clock(value)}Z"
    offset = value.isoformat()[len(value.replace(tzinfo=None).isoformat()) :]
    return f"{_clock(value.replace(tzinfo=None))}{offset}"


def _clock(value: datetime.datetime) -> str:
    text = value.isoformat()
    return text.rstrip("0") if value.microsecond else text


def _literal(form: str, datatype: str) -> str:
    return f'"{form}"^^<{XSD}{datatype}>'
