"""Values of a program: which can be facts, and how messages show them."""

from __future__ import annotations

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
