"""What the constants of a text mean: numbers, texts, and the values of the XML Schema types.

Nothing here knows where a constant stands in the text; language/reader.py reports bad ones with
their places.
"""

from __future__ import annotations

import datetime
import math
import re
import sys
from decimal import Decimal, InvalidOperation
from typing import Any

from zodiac_sql.language import symbols
from zodiac_sql.language.syntax import Type

_OPERATORS = {"<>": "!=", "==": "=", "≠": "!=", "≤": "<=", "≥": ">="}
_OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def comparison(operator: str) -> str:
    """The operator of a comparison, which can be written in several ways."""
    return _OPERATORS.get(operator, operator)


def opposite(operator: str) -> str:
    """The operator that holds of two values exactly if another one does not."""
    return _OPPOSITE[comparison(operator)]


TYPE_NAMES = {
    "symbol": Type.SYMBOL, "string": Type.SYMBOL, "text": Type.SYMBOL, "iri": Type.SYMBOL,
    "int": Type.INT, "integer": Type.INT, "number": Type.INT, "bigint": Type.INT,
    "float": Type.FLOAT, "double": Type.FLOAT, "real": Type.FLOAT, "decimal": Type.FLOAT,
    "bool": Type.BOOL, "boolean": Type.BOOL,
    "date": Type.DATE, "timestamp": Type.TIMESTAMP, "datetime": Type.TIMESTAMP,
}  # fmt: skip
"""What a declaration or a Python function can call a type, in lower case."""

_XSD_TYPES = {
    **dict.fromkeys(
        ("integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger",
         "nonPositiveInteger", "negativeInteger", "unsignedInt", "unsignedLong", "unsignedShort",
         "unsignedByte"), Type.INT),
    **dict.fromkeys(("decimal", "double", "float"), Type.FLOAT),
    "boolean": Type.BOOL, "date": Type.DATE, "dateTime": Type.TIMESTAMP,
}  # fmt: skip


def xsd_type(datatype: str) -> Type | None:
    """The native type that an IRI of XML Schema stands for, or None."""
    local = datatype.removeprefix(symbols.XSD)
    return _XSD_TYPES.get(local) if local != datatype else None


_ESCAPED = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r"}


def unquoted(quoted: str) -> tuple[str, list[str]]:
    """The text between the quotes, with \\n, \\t, \\", \\\\ and \\uXXXX read.

    Also returns the escapes that stand for no character; they are left out of the text.
    """
    bad: list[str] = []

    def read(escape: re.Match[str]) -> str:
        digits = escape[1] or escape[2]
        if not digits:
            return _SIMPLE.get(escape[3], escape[3])
        code = int(digits, 16)
        if code > sys.maxunicode or 0xD800 <= code <= 0xDFFF:
            bad.append(escape[0])
            return ""
        return chr(code)

    return _ESCAPED.sub(read, quoted[1:-1]), bad


def integer(digits: str, sign: str = "") -> int:
    """An integer. For more digits than Python reads it is 2**64, which is out of range as well."""
    return int(sign + digits) if len(digits) < sys.int_info.default_max_str_digits else 2**64


def float_of(text: str) -> float:
    """A float; -0.0 is 0.0."""
    return float(text) + 0.0


def rounded(text: str) -> float | None:
    """The float that a number becomes, if it is not written as the same number; else None."""
    value = float_of(text)
    if not math.isfinite(value):
        return None
    try:
        return None if Decimal(repr(value)) == Decimal(text) else value
    except InvalidOperation:  # an exponent of more than 18 digits: the number is 0, or nearly
        return value if re.match(r"[^eE]*[1-9]", text) else None


def loses_digits(text: str) -> bool:
    """Whether a decimal in a file differs from its double, written with as many digits.

    Unlike `rounded`, which is for rules, this allows more digits than the double needs: many
    programs write 0.10000000000000001 for 0.1.
    """
    if text.lstrip("-").isdigit():
        return False
    double = float(text)
    digits = "".join(c for c in re.split("[eE]", text)[0] if c.isdigit()).lstrip("0")
    if double == 0 or math.isinf(double):
        return math.isinf(double) or digits != ""
    if abs(double) >= sys.float_info.min and len(digits.rstrip("0")) <= sys.float_info.dig:
        return False
    if len(digits) > _MOST_DIGITS_OF_A_DOUBLE:
        return True
    written = f"{double:.{len(digits) - 1}e}".partition("e")[0]
    return written.replace(".", "").replace("-", "") != digits


_MOST_DIGITS_OF_A_DOUBLE = 1100
"""No double has more digits."""


def _boolean(text: str) -> bool:
    if text not in ("true", "false", "1", "0"):
        raise ValueError(text)
    return text in ("true", "1")


def _timestamp(text: str) -> datetime.datetime:
    moment = datetime.datetime.fromisoformat(text)
    return moment.astimezone(datetime.UTC).replace(tzinfo=None) if moment.tzinfo else moment


def value_of(type_: Type, text: str) -> Any:
    """The value that a text has in a type other than SYMBOL.

    Raises ValueError if it has none, and OverflowError for a time that another time zone moves
    beyond the ends of the calendar.
    """
    return _VALUES[type_](text.strip())


_VALUES: dict[Type, Any] = {
    Type.INT: int,
    Type.FLOAT: float_of,
    Type.BOOL: _boolean,
    Type.DATE: datetime.date.fromisoformat,
    Type.TIMESTAMP: _timestamp,
}
