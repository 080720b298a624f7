"""Terms of all kinds as the oracle of mixed columns has them: what they mean, and how they compare.

This is a reading of its own of docs/reference/terms.md, in plain Python. It shares no code
with zodiac_sql. A value of a native column is Python's int, float, bool, date or datetime; a symbol
is a `str`, its text as people see it; a value of a mixed column is a `Term`, with the same text.
"""

from __future__ import annotations

import datetime
import math
import re
from dataclasses import dataclass
from decimal import Context, Decimal
from functools import lru_cache
from typing import Any

from support.naive_values import NoValue, compared, is_decimal, lexical, one_float

XSD = "http://www.w3.org/2001/XMLSchema#"


@dataclass(frozen=True, order=True)
class Term:
    """What a mixed column holds. Two terms are one if their texts are the same."""

    text: str


MixedValue = Any
"""A Term, a symbol, or a native value."""


class Elsewhere(Exception):
    """A term stands for no value of a native column: it is not there."""


# --- what terms mean -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Number:
    """A number: exact where it is an integer or a decimal that DECIMAL(38, 18) holds."""

    kind: str
    double: float
    exact: Decimal | None = None


@dataclass(frozen=True)
class Moment:
    """When a date begins, or a time; in UTC if it is zoned.

    The kind is date, local, zoned, or native: of a column that has read times of both kinds.
    """

    kind: str
    when: datetime.datetime

    def meets(self, other: Moment) -> bool:
        """Whether the two have an order."""
        kinds = {self.kind, other.kind}
        return "zoned" not in kinds or kinds <= {"zoned", "native"}


Meaning = Number | Moment | bool | str
"""What a term means; that of other terms than these literals is their text."""

_BOUNDS = {
    "integer": (-(10**99), 10**99), "long": (-(2**63), 2**63 - 1), "int": (-(2**31), 2**31 - 1),
    "short": (-(2**15), 2**15 - 1), "byte": (-128, 127),
    "unsignedInt": (0, 2**32 - 1), "unsignedShort": (0, 2**16 - 1), "unsignedByte": (0, 255),
    "nonNegativeInteger": (0, 10**99), "positiveInteger": (1, 10**99),
    "nonPositiveInteger": (-(10**99), 0), "negativeInteger": (-(10**99), -1),
    "unsignedLong": (0, 2**64 - 1),
}  # fmt: skip
"""Which integers a datatype has."""

_TYPED = re.compile(f'"(.*)"\\^\\^<{re.escape(XSD)}(\\w+)>', re.DOTALL)
_DECIMAL = r"[+-]?(\d+(\.\d*)?|\.\d+)"
_CLOCK = r"(\d\d):(\d\d):(\d\d)(\.\d+)?"
_ZONE = r"Z|[+-]\d\d:\d\d"
_LONG = Context(prec=200)


@lru_cache(100_000)
def meaning_of(text: str) -> Meaning:
    """What a term means. One that is not written as its datatype asks for means its text."""
    found = _TYPED.fullmatch(text)
    value = _read(found[1].strip(" "), found[2]) if found else None
    return lexical(text) if value is None else value


def _read(form: str, datatype: str) -> Meaning | None:
    if datatype in _BOUNDS:
        least, most = _BOUNDS[datatype]
        if not re.fullmatch(r"[+-]?\d+", form, re.ASCII) or not least <= int(form) <= most:
            return None
        return exact_number("integer", Decimal(form))
    if datatype == "decimal":
        whole = re.fullmatch(_DECIMAL, form, re.ASCII)
        return exact_number("decimal", Decimal(form)) if whole else None
    if datatype in ("double", "float"):
        return _double(form)
    if datatype == "boolean":
        return {"true": True, "1": True, "false": False, "0": False}.get(form)
    if datatype in ("date", "dateTime", "dateTimeStamp"):
        return _moment(form, datatype)
    return None


def exact_number(kind: str, value: Decimal) -> Number:
    """A number with all its digits, or without if these are too many."""
    places = max(0, -int(value.normalize(_LONG).as_tuple().exponent))
    fits = places <= 18 and value.copy_abs() < 10**20
    if kind == "integer" and not -(2**63) <= value < 2**63:
        kind = "decimal"  # as an integer it has 64 bits
    return Number(kind, float(value), value if fits else None)


def _double(form: str) -> Number | None:
    if not re.fullmatch(rf"{_DECIMAL}([eE][+-]?\d+)?|[+-]?INF|NaN", form, re.ASCII):
        return None
    return Number("double", one_float(float(form.replace("INF", "inf"))))


def _moment(form: str, datatype: str) -> Moment | None:
    day = re.fullmatch(r"\d{4}-\d\d-\d\d", form, re.ASCII)
    clock = re.fullmatch(rf"(\d{{4}}-\d\d-\d\d)T{_CLOCK}({_ZONE})?", form, re.ASCII)
    try:
        if datatype == "date":
            return Moment("date", datetime.datetime.fromisoformat(form)) if day else None
        if not clock or len((clock[5] or "").rstrip("0")) > 7:
            return None
        midnight = datetime.datetime.fromisoformat(clock[1])
        parts = [int(clock[place]) for place in (2, 3, 4)]
        micros = int((clock[5] or ".0")[1:].ljust(6, "0")[:6])
        ends = parts[0] == 24 and not any((*parts[1:], micros))
        if (parts[0] > 23 and not ends) or parts[1] > 59 or parts[2] > 59:
            return None
        hours, minutes, seconds = parts
        when = midnight + datetime.timedelta(
            hours=hours, minutes=minutes, seconds=seconds, microseconds=micros
        )
        if clock[6] is None:
            return Moment("local", when) if datatype == "dateTime" else None
        return _zoned(when, clock[6])
    except (ValueError, OverflowError):
        return None


def _zoned(when: datetime.datetime, zone: str) -> Moment | None:
    sign, hours, minutes = ("+", 0, 0) if zone == "Z" else (zone[0], int(zone[1:3]), int(zone[4:]))
    if minutes > 59 or 60 * hours + minutes > 840:
        return None
    shift = datetime.timedelta(hours=hours, minutes=minutes)
    return Moment("zoned", when + shift if sign == "-" else when - shift)


def meaning(value: MixedValue) -> Meaning:
    """What any value means: of a mixed column, a native one or one of symbols."""
    if isinstance(value, Term):
        return meaning_of(value.text)
    if isinstance(value, str):
        return meaning_of(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return exact_number("integer", Decimal(value))
    if isinstance(value, Decimal):
        return exact_number("decimal", value)
    if isinstance(value, float):
        return Number("double", one_float(value))
    if isinstance(value, datetime.datetime):
        return Moment("native", value)
    return Moment("date", datetime.datetime.combine(value, datetime.time()))


# --- terms and native values ---------------------------------------------------------------------


@dataclass(frozen=True)
class Written:
    """A constant of a rule that is written as a literal, with a mark as in mixed_literals.py."""

    value: Any
    mark: str


def term_of(value: MixedValue) -> Term:
    """The term that a value of any column is: a native one is its literal."""
    if isinstance(value, Term):
        return value
    if isinstance(value, str):
        return Term(value)
    if isinstance(value, bool):
        return _literal(str(value).lower(), "boolean")
    if isinstance(value, int):
        return _literal(str(value), "integer")
    if isinstance(value, float):
        return _literal(_written(value), "double")
    if isinstance(value, Decimal):
        return _literal(_decimal_text(value), "decimal")
    if isinstance(value, datetime.datetime):
        clock = value.replace(tzinfo=None).isoformat()
        zone = value.isoformat()[len(clock) :]
        clock = clock.rstrip("0") if value.microsecond else clock
        return _literal(clock + zone, "dateTime")
    return _literal(value.isoformat(), "date")


def undeclared_term(value: MixedValue) -> Term:
    """The term that a fact's value is in a column that nobody declared.

    Such a column may have been one of ints, and then of floats: so whole floats are ints there. A
    time with a zone is an instant, written in UTC.
    """
    if isinstance(value, datetime.datetime) and value.tzinfo:
        clock = term_of(value.astimezone(datetime.UTC).replace(tzinfo=None)).text
        return Term(clock.replace('"^^', 'Z"^^'))
    number = isinstance(value, float | Decimal) and math.isfinite(value)
    whole = number and value == int(value) and -(2**63) <= value < 2**63
    return term_of(int(value) if whole else value)


def _literal(form: str, datatype: str) -> Term:
    return Term(f'"{form}"^^<{XSD}{datatype}>')


def _written(value: float) -> str:
    value = one_float(value)
    if math.isfinite(value):
        return repr(value)
    return "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"


def narrowed(term: Term, type_: str) -> MixedValue:
    """The native value that a term is read as. Raises Elsewhere if it is none of its type."""
    value = meaning_of(term.text)
    if type_ in ("int", "decimal", "float") and isinstance(value, Number):
        if type_ == "float":
            return value.double
        if type_ == "decimal":
            return _as_decimal(value)
        whole = value.double if value.exact is None else value.exact
        if math.isfinite(whole) and whole == int(whole) and -(2**63) <= int(whole) < 2**63:
            return int(whole)
    if type_ == "bool" and isinstance(value, bool):
        return value
    if type_ == "timestamp" and isinstance(value, Moment) and value.kind != "date":
        return value.when
    if type_ == "date" and isinstance(value, Moment) and value.kind == "date":
        return value.when.date()
    raise Elsewhere


def _as_decimal(number: Number) -> Decimal:
    """A number as a decimal: a float is the one as which it is written."""
    if number.exact is not None:
        return number.exact
    if math.isfinite(number.double):
        written = Decimal(repr(number.double))
        if is_decimal(written):
            return written
    raise Elsewhere


def as_type(value: MixedValue, type_: str | None) -> MixedValue:
    """A value as a column or a variable of a type has it. Raises Elsewhere if it is not there."""
    if type_ == "any":
        return term_of(value)
    if isinstance(value, Term):
        if type_ in (None, "symbol"):
            return value.text
        return narrowed(value, type_)
    if type_ == "float" and isinstance(value, int | Decimal):
        return one_float(float(value))
    if type_ == "decimal" and isinstance(value, int):
        return Decimal(value)
    return one_float(value) if isinstance(value, float) else value


def same(left: MixedValue, right: MixedValue) -> bool:
    """Whether two values of types that fit join."""
    if isinstance(left, Term | str) and isinstance(right, Term | str):
        return term_of(left) == term_of(right)
    return left is right or compared(left, "=", right)


# --- comparisons ---------------------------------------------------------------------------------


def is_equal(left: MixedValue, right: MixedValue) -> bool:
    """Whether two values are equal, one of which may be a term."""
    a, b = meaning(left), meaning(right)
    if isinstance(a, str) and isinstance(b, str):
        return a == b
    if type(a) is not type(b):
        return False
    if isinstance(a, Moment) and isinstance(b, Moment):
        return a.meets(b) and a.when == b.when
    return _order(a) == _order(b) if not _both_exact(a, b) else a.exact == b.exact  # type: ignore[union-attr]


def _both_exact(a: Meaning, b: Meaning) -> bool:
    return isinstance(a, Number) and isinstance(b, Number) and None not in (a.exact, b.exact)


def compare(left: MixedValue, operator: str, right: MixedValue) -> bool:
    """A comparison; by value if one of the two is a term. Raises NoValue if there is no order."""
    if not isinstance(left, Term) and not isinstance(right, Term):
        return compared(left, operator, right)
    if operator in ("=", "!="):
        return is_equal(left, right) == (operator == "=")
    a, b = meaning(left), meaning(right)
    if type(a) is not type(b):
        raise NoValue
    if isinstance(a, str) and not (_is_plain(left) and _is_plain(right)):
        raise NoValue
    if isinstance(a, Moment) and isinstance(b, Moment) and not a.meets(b):
        raise NoValue
    x, y = _orders(a, b)
    return {"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y}[operator]


def _is_plain(value: MixedValue) -> bool:
    """Whether a text is no IRI or blank node, and no literal with a language or a datatype."""
    text = value.text if isinstance(value, Term) else value
    assert isinstance(text, str)
    if text.startswith('"'):
        return text.endswith('"')
    is_iri = text.startswith("<") or re.match(r"([A-Za-z][A-Za-z0-9+.-]*://|urn:)\S*$", text)
    return not is_iri and not text.startswith("_:")


def _orders(a: Meaning, b: Meaning) -> tuple[Any, Any]:
    if _both_exact(a, b):
        return a.exact, b.exact  # type: ignore[union-attr]
    return _order(a), _order(b)


def _order(value: Meaning) -> Any:
    """What values of one kind are ordered by: NaN is the greatest number."""
    if isinstance(value, Number):
        nan = math.isnan(value.double)
        return (nan, 0.0 if nan else value.double)
    return value.when if isinstance(value, Moment) else value


# --- numbers -------------------------------------------------------------------------------------


def number_of(value: MixedValue) -> Number:
    """A value as a number. Raises NoValue if it is none."""
    found = meaning(value)
    if not isinstance(found, Number):
        raise NoValue
    return found


def term_of_number(number: Number) -> Term:
    """The term of a number that was computed."""
    if number.exact is None:
        return term_of(number.double)
    if number.kind == "integer":
        return term_of(int(number.exact))
    return term_of(number.exact)


def _decimal_text(value: Decimal) -> str:
    """A decimal without zeros that say nothing."""
    text = f"{value if value else abs(value):f}"
    text = text.rstrip("0") if "." in text else f"{text}."
    return f"{text}0" if text.endswith(".") else text
