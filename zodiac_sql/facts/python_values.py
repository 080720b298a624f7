"""Values of a program: which can be facts, and how messages show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def is_bool(kind: type) -> bool:
    """Whether a class has booleans: Python's or numpy's."""
    return kind.__name__ in ("bool", "bool_")


def in_64_bits(value: Any) -> bool:
    """Whether an integer is one of 64 bits."""
    return bool(-(2**63) <= value < 2**63)


def beyond_64_bits(where: str, value: object, at: int) -> str:
    """The message about an integer that is none, in the row at a place from 0."""
    return (
        f"{where} holds {shown(value)} in row {at + 1}, which is beyond 64 bits: "
        "use floating-point numbers, or text."
    )


def has_surrogate(text: str) -> bool:
    """Whether a text holds half of a surrogate pair, which is no character."""
    return any("\ud800" <= character <= "\udfff" for character in text)


def shown(value: object) -> str:
    """A value for a message: not too long, and in characters that can be written."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def rows_said(places: Sequence[int]) -> str:
    """Rows at these places, from 0, as messages name them: `rows 1, 2 and 5`. At most five are."""
    *others, last = [str(at + 1) for at in places[:_MOST_SAID]]
    named = f"{', '.join(others)} and {last}" if others else last
    if len(places) > _MOST_SAID:
        return f"{len(places)} rows, the first of which are {named}"
    return f"rows {named}" if others else f"row {named}"


_MOST_SAID = 5
"""More rows than these are only counted in a message."""
