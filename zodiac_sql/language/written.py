"""Names of predicates as they are written in rules."""

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
