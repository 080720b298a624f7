"""Values as people and programs read them: text, CSV and JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from math import isfinite
from typing import Any

from zodiac_sql.language.decimals import PLACES, written


def as_text(value: Any) -> str:
    """A value as text for people and for CSV."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list) and all(isinstance(inner, str) for inner in value):
        return ", ".join(value)
    if isinstance(value, list | Mapping):
        return json.dumps(as_json(value), ensure_ascii=False)
    if isinstance(value, Decimal):
        return _digits(value)
    return value.hex() if isinstance(value, bytes) else str(value)


def printable(text: str, but: str = "") -> str:
    """The text without characters that would break the line or control the terminal."""
    if text.isprintable():
        return text
    return re.sub(
        r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]",
        lambda found: found[0] if found[0] in but else repr(found[0])[1:-1],
        text,
    )


def as_json(value: Any) -> Any:
    """A value that JSON can hold.

    What JSON has no numbers for is text: "NaN", "Infinity", "-Infinity", and decimals that no float
    equals. Dates and the like are text, too.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else json.dumps(value)
    if isinstance(value, Mapping):
        return {str(key): as_json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(inner) for inner in value]
    if isinstance(value, Decimal):
        return _decimal(value)
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return value.hex() if isinstance(value, bytes) else str(value)


def _decimal(value: Decimal) -> int | float | str:
    if value.as_tuple().exponent == 0:
        return int(value)
    return float(value) if Decimal(repr(float(value))) == value else _digits(value)


def _digits(value: Decimal) -> str:
    """The digits of a decimal. A column of facts has 18 places, of which many may say nothing."""
    return written(value) if value.as_tuple().exponent == -PLACES else f"{value:f}"
