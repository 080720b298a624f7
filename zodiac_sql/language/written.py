"""Names of predicates as they are written in rules, and rules on one line."""

from __future__ import annotations

import re

_NAME = re.compile(r"[^\W\d]\w*")
_IRI = re.compile(r"""[^\s<>"{}|\\^`]*""")
_WORDS = ("not", "bind", "comp", "aggregate")


def spelled_predicate(name: str) -> str:
    """A predicate as it stands in a rule: a name as it is, what can be an IRI in angle brackets,
    and all else in backquotes.
    """
    if _NAME.fullmatch(name) and name.lower() not in _WORDS:
        return name
    return f"<{name}>" if _IRI.fullmatch(name) else f"`{name}`"


_PIECE = re.compile(
    r""""(?:[^"\\\n]|\\.)*" | <[^\s<>"]*> | `[^`\n]*`
    | (?P<comment> /\*.*?\*/ | //[^\n]* | \#[^\n]* | (?:^|(?<=[,;.\-({]))[ \t]*%[^\n]*)""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
"""What may hold a character that begins a comment, and comments. After a value % is an operator."""


def on_one_line(text: str) -> str:
    """A rule without its comments and line breaks."""
    bare = _PIECE.sub(lambda piece: " " if piece["comment"] else piece[0], text)
    return " ".join(bare.split())
