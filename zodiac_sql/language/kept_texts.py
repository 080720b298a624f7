r"""Rules whose texts were kept before the language had changed, as the same is said today.

Until December 2026, a name that begins with a capital beyond ASCII was a constant, and a backslash
that begins no escape was left out of a text in quotes:

    p(X) :- q(X, Ä), matches(X, "\d").      kept then
    p(X) :- q(X, "Ä"), matches(X, "d").     the same today

A variable that begins with such a capital is kept as `?Ä`, which has always meant the same. So
nothing has to tell old texts from new ones, and older versions read the new ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping


def as_today(text: str, prefixes: Mapping[str, str]) -> str:
    """A text of rules that may have been kept then. One that cannot be read stays as it is."""
    if not (_has_capitals(text) or _has_escapes(text)):
        return text
    from zodiac_sql.language.parse import in_former_words  # late: opening a file needs no parser

    return in_former_words(text, prefixes)


def _has_capitals(text: str) -> bool:
    return not text.isascii() and any(
        one > "\x7f" and (one.isupper() or one.istitle()) for one in text
    )


def _has_escapes(text: str) -> bool:
    return "\\" in text and _MAY_BE_NONE.search(text.replace("\\\\", "")) is not None


_MAY_BE_NONE = re.compile(r"""\\[^nrt"']""")
