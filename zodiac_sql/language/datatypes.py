"""The datatypes of XML Schema that stand for native types: how their values are written, and which
there are.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from zodiac_sql.language import decimals, symbols, zones
from zodiac_sql.language.moments import date_of, is_finer, moment_of
from zodiac_sql.language.syntax import Constant, Expression, Type

INTEGER_BOUNDS: Mapping[str, tuple[int | None, int | None]] = {
    "integer": (None, None), "long": (None, None), "int": (-(2**31), 2**31 - 1),
    "short": (-(2**15), 2**15 - 1), "byte": (-128, 127),
    "nonNegativeInteger": (0, None), "positiveInteger": (1, None),
    "nonPositiveInteger": (None, 0), "negativeInteger": (None, -1),
    "unsignedLong": (0, None), "unsignedInt": (0, 2**32 - 1),
    "unsignedShort": (0, 2**16 - 1), "unsignedByte": (0, 255),
}  # fmt: skip
"""The least and the greatest value of xsd:integer and what is derived from it. All integers have 64
bits here, which xsd:long says once more."""

_TYPES: Mapping[str, Type] = {
    **dict.fromkeys(INTEGER_BOUNDS, Type.INT),
    "decimal": Type.DECIMAL, **dict.fromkeys(("double", "float"), Type.FLOAT),
    "boolean": Type.BOOL, "date": Type.DATE, "dateTime": Type.TIMESTAMP,
}  # fmt: skip

_DOUBLE = re.compile(rf"{decimals.NUMBER}([eE][+-]?[0-9]+)?|[+-]?INF|NaN")
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})?"
_FORMS: Mapping[str, re.Pattern[str]] = {
    **dict.fromkeys(INTEGER_BOUNDS, re.compile("[+-]?[0-9]+")),
    "decimal": re.compile(decimals.NUMBER), "double": _DOUBLE, "float": _DOUBLE,
    "boolean": re.compile("true|false|1|0"),
    "date": re.compile(_DATE), "dateTime": re.compile(f"{_DATE}T{_TIME}"),
}  # fmt: skip
"""How the values of a datatype are written."""

_WHITE = " \t\n\r"
"""What XML Schema calls white space, which may surround a value."""


def xsd_type(datatype: str) -> Type | None:
    """The native type that an IRI of XML Schema stands for, or None."""
    local = datatype.removeprefix(symbols.XSD)
    return _TYPES.get(local) if local != datatype else None


def value_of(datatype: str, text: str) -> Any:
    """The value that a text has in a datatype with a native type.

    Raises ValueError if it has none, and OverflowError for a decimal that has no room, and for a
    time that another time zone moves beyond the ends of the calendar. An integer may have more than
    64 bits.
    """
    local = datatype.removeprefix(symbols.XSD)
    bare = text.strip(_WHITE)
    if not _FORMS[local].fullmatch(bare):
        raise ValueError(f"{bare} is not written as an xsd:{local}")
    value = former_value_of(_TYPES[local], bare)
    least, most = INTEGER_BOUNDS.get(local, (None, None))
    if (least is not None and value < least) or (most is not None and value > most):
        raise ValueError(f"{bare} is not among the values of xsd:{local}")
    return value


def as_written(constant: Constant, text: str, datatype: str) -> Constant:
    """A constant with the literal as which it was written, if its value alone is another one."""
    literal = f'"{text.strip(_WHITE)}"^^<{datatype}>'
    return constant if literal == text_of_term(constant) else replace(constant, literal=literal)


def datatype_of_constant(constant: Constant) -> str | None:
    """What Predicate.datatypes has of literals like a constant: the datatype, and the zone of a
    time. None if they are those of its type.
    """
    if constant.literal is None:
        return None
    text, datatype = constant.literal.removesuffix(">").split('"^^<')
    zone = _ZONE.search(text) if constant.type is Type.TIMESTAMP else None
    if zone:
        return zones.in_zone(datatype, zone[0])
    return None if datatype == f"{symbols.XSD}{_NAMES[constant.type]}" else datatype


_ZONE = re.compile(r"(Z|[+-][0-9]{2}:[0-9]{2})\Z")


def former_value_of(type_: Type, text: str) -> Any:
    """The value that rules took a text for until December 2026: Python reads more than XML Schema.

    Raises errors as `value_of` does.
    """
    return _VALUES[type_](text.strip())


def hint_of(datatype: str) -> str:
    """How values of a datatype are written, or which there are; "" if its name says that."""
    local = datatype.removeprefix(symbols.XSD)
    least, most = INTEGER_BOUNDS.get(local, (None, None))
    if least is not None and most is not None:
        return f"Its values are from {least} to {most}."
    if least is not None or most is not None:
        return f"Its values begin with {least}." if most is None else f"Its values end with {most}."
    return f'Right is "{_EXAMPLES[local]}"^^xsd:{local}.' if local in _EXAMPLES else ""


MOMENTS = (Type.DATE, Type.TIMESTAMP)


def as_moment(given: Expression, wanted: Collection[Type | None]) -> Constant | None:
    """The date or timestamp that a text in quotes writes, if one of these types is wanted of it.

    One with a time zone is the instant in UTC. None if the text writes none that can be kept.
    """
    if not isinstance(given, Constant) or given.type is not Type.SYMBOL:
        return None
    for type_, read in ((Type.DATE, date_of), (Type.TIMESTAMP, moment_of)):
        if type_ in wanted:
            try:
                return Constant(type_, _in_utc(read(str(given.value))), given.span)
            except (ValueError, OverflowError):
                continue
    return None


def _in_utc(value: datetime.date) -> datetime.date:
    if isinstance(value, datetime.datetime) and value.tzinfo:
        return value.astimezone(datetime.UTC).replace(tzinfo=None)
    return value


def moment_hint(given: Expression, wanted: Collection[Type | None]) -> str:
    """How to write a date or a time, if a text was given for one; else ""."""
    moments = [type_ for type_ in MOMENTS if type_ in wanted]
    if not moments or not isinstance(given, Constant) or given.type is not Type.SYMBOL:
        return ""
    if Type.TIMESTAMP in moments and is_finer(str(given.value)):
        return "It is finer than microseconds, which a timestamp has. Round it first."
    datatype, text = _NAMES[moments[0]], str(given.value)
    try:
        value_of(datatype, text)
    except (ValueError, OverflowError):
        text = _EXAMPLES[datatype]
    name = "date" if moments[0] is Type.DATE else "time"
    return f'A {name} is written "{text}", or "{text}"^^xsd:{datatype}.'


_EXAMPLES = {
    "integer": "42", "decimal": "0.5", "double": "1.5e3", "float": "1.5e3", "boolean": "true",
    "date": "2026-01-31", "dateTime": "2026-01-31T12:30:00",
}  # fmt: skip


def text_of_term(constant: Constant) -> str:
    """The text of the symbol that is the same term as a constant."""
    value = constant.value
    return str(value) if constant.type is Type.SYMBOL else written(value, constant.type)


def written(value: Any, type_: Type) -> str:
    """A value of a native type as rules write it with a datatype, and as exports have it."""
    if type_ is Type.FLOAT and not math.isfinite(value):
        text = "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"
    elif type_ is Type.BOOL:
        text = str(value).lower()
    elif isinstance(value, datetime.datetime):
        text = value.isoformat().rstrip("0") if value.microsecond else value.isoformat()
    elif type_ is Type.DECIMAL:
        text = decimals.written(value)
    else:
        text = value.isoformat() if isinstance(value, datetime.date) else repr(value)
    return f'"{text}"^^<{symbols.XSD}{_NAMES[type_]}>'


_NAMES = {
    Type.INT: "integer", Type.DECIMAL: "decimal", Type.FLOAT: "double", Type.BOOL: "boolean",
    Type.DATE: "date", Type.TIMESTAMP: "dateTime",
}  # fmt: skip


def float_of(text: str) -> float:
    """A float; -0.0 is 0.0."""
    return float(text) + 0.0


def _boolean(text: str) -> bool:
    if text not in ("true", "false", "1", "0"):
        raise ValueError(text)
    return text in ("true", "1")


def _timestamp(text: str) -> datetime.datetime:
    moment = _in_utc(datetime.datetime.fromisoformat(text))
    assert isinstance(moment, datetime.datetime)
    return moment


_VALUES: Mapping[Type, Callable[[str], Any]] = {
    Type.INT: int,
    Type.DECIMAL: decimals.decimal_of,
    Type.FLOAT: float_of,
    Type.BOOL: _boolean,
    Type.DATE: datetime.date.fromisoformat,
    Type.TIMESTAMP: _timestamp,
}
