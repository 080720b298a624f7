"""Texts in quotes: what a backslash and what follows it stand for."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping

from zodiac_sql.errors import shortened

ESCAPES: Mapping[str, str] = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "\\": "\\"}
"""The character that another one stands for after a backslash."""

ESCAPES_OF_RDF: Mapping[str, str] = {**ESCAPES, "b": "\b", "f": "\f"}
"""The same in RDF and SPARQL. Rules refuse \\b and \\f, because patterns mean others by them."""

_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)


_WITHOUT_NUMBER = len(r"\d")


def unquoted(
    quoted: str, escapes: Mapping[str, str] = ESCAPES
) -> tuple[str, list[tuple[int, str]]]:
    """The text between the quotes, with its escapes read.

    Also returns the escapes that stand for no character, each with its place in `quoted`. The text
    has what follows their backslashes, or nothing in place of the number of a character. Numbers of
    no character come first: the advice about others leaves these as they are.
    """
    bad: list[tuple[int, str]] = []

    def read(escape: re.Match[str]) -> str:
        digits = escape[1] or escape[2]
        if not digits:
            if escape[3] not in escapes:
                bad.append((escape.start() + 1, escape[0]))
            return escapes.get(escape[3], escape[3])
        code = int(digits, 16)
        if code > sys.maxunicode or 0xD800 <= code <= 0xDFFF:
            bad.append((escape.start() + 1, escape[0]))
            return ""
        return chr(code)

    text = _ESCAPE.sub(read, quoted[1:-1])
    return text, sorted(bad, key=lambda one: len(one[1]) <= _WITHOUT_NUMBER)


def wrong_escape(quoted: str, escape: str) -> tuple[str, str]:
    """What is wrong with an escape that stands for no character, and what would be right."""
    if len(escape) > _WITHOUT_NUMBER:
        return f"there is no character {escape}", WHOLE_CHARACTER
    right = f"A backslash is written twice: {shortened(with_backslashes(quoted))}."
    if escape in _DIGITS:
        return f"{_DIGITS[escape]} hexadecimal digits follow {escape}", right
    return f"{escape} is no escape", f"{right} {_TOLD}"


WHOLE_CHARACTER = (
    'A character beyond U+FFFF is written as it is, or with eight digits: "\\U0001F600".'
)
"""The hint where a text has half of a surrogate pair."""

_DIGITS = {r"\u": "four", r"\U": "eight"}
_TOLD = r"The escapes are \n, \t, \r, \", \\ and \uXXXX."
_BACKSLASH = re.compile(r"""\\([\\"']|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})?""")


def with_backslashes(quoted: str) -> str:
    """A text in quotes in which each backslash that may stand for itself is written twice."""
    return _BACKSLASH.sub(lambda found: found[0] if found[1] else r"\\", quoted)
