"""What the constants of a text mean: numbers, the names of types, operators.

Nothing here knows where a constant stands in the text; language/reader.py reports bad ones with
their places.
"""

from __future__ import annotations

import math
import re
import sys
from decimal import Decimal, InvalidOperation

from zodiac_sql.language.datatypes import float_of
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
    "float": Type.FLOAT, "double": Type.FLOAT, "real": Type.FLOAT, "decimal": Type.DECIMAL,
    "bool": Type.BOOL, "boolean": Type.BOOL,
    "date": Type.DATE, "timestamp": Type.TIMESTAMP, "datetime": Type.TIMESTAMP,
    "any": Type.ANY, "term": Type.ANY,
}  # fmt: skip
"""What a declaration or a Python function can call a type, in lower case."""


def integer(digits: str, sign: str = "") -> int:
    """An integer. For more digits than Python reads it is 2**64, which is out of range as well."""
    return int(sign + digits) if len(digits) < sys.int_info.default_max_str_digits else 2**64


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
