"""Where the clauses of a text begin and end, so that each can be parsed by itself.

A period ends a clause where white space, a comment or the text's end follows it, but not inside a
text in quotes, an IRI or a comment.
"""

from __future__ import annotations

import re

_CLAUSE_PARTS = re.compile(
    r'"(?:[^"\\\n]|\\.)*"'
    r"|<[^\s<>\"{}|\\^`]*>"
    r"|`[^`\n]+`|/\*.*?\*/|//[^\n]*|(?:(?<=\n)|(?<=\A)|(?<=\.))[ \t]*[%#][^\n]*"
    r"|(?P<end>\.(?=\s|\Z|%|//|/\*))"
    r"|.",
    re.DOTALL,
)


def clauses(text: str) -> list[tuple[int, int]]:
    """The first and last place of each clause, the comments before it included."""
    ends = [match.end() for match in _CLAUSE_PARTS.finditer(text) if match["end"]]
    starts = [0, *ends]
    pairs = list(zip(starts, [*ends, len(text)], strict=True))
    return [(start, end) for start, end in pairs if text[start:end].strip()]
