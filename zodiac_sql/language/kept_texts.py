r"""Rules whose texts were kept before the language had changed, as the same is said today.

Until December 2026, a name that begins with a capital beyond ASCII was a constant, a backslash that
begins no escape was left out of a text in quotes, and the values of XML Schema's datatypes were
written as Python reads them:

    p(X) :- q(X, Ä, Y), matches(X, "\d"), Y > "1_000"^^xsd:int.                  kept then
    p(X) :- q(X, "Ä", Y), matches(X, "d"), Y > "1000"^^<http://..#integer>.      the same today

A variable that begins with such a capital is kept as `?Ä`, which has always meant the same. So
nothing has to tell old texts from new ones, and older versions read the new ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from zodiac_sql.language.datatypes import value_of, xsd_type
from zodiac_sql.language.symbols import XSD


def as_today(text: str, prefixes: Mapping[str, str]) -> str:
    """A text of rules that may have been kept then. One that cannot be read stays as it is."""
    if not (_has_capitals(text) or _has_escapes(text) or _has_values(text)):
        return text
    from zodiac_sql.language.parse import in_other_words  # late: opening a file needs no parser

    return in_other_words(text, prefixes, former=True)


def as_kept(text: str, prefixes: Mapping[str, str]) -> str:
    """The text of a new rule as it is kept."""
    if not _has_capitals(text):
        return text
    from zodiac_sql.language.parse import in_other_words  # late, as above

    return in_other_words(text, prefixes, former=False)


def _has_capitals(text: str) -> bool:
    return not text.isascii() and any(
        one > "\x7f" and (one.isupper() or one.istitle()) for one in text
    )


def _has_escapes(text: str) -> bool:
    return "\\" in text and _MAY_BE_NONE.search(text.replace("\\\\", "")) is not None


def _has_values(text: str) -> bool:
    return "^^" in text and any(map(_is_no_value, _TYPED.finditer(text)))


def _is_no_value(found: re.Match[str]) -> bool:
    """Whether a text has no value in a datatype whose name may be that of a native one."""
    datatype = f"{XSD}{found['name']}"
    if xsd_type(datatype) is None:
        return False
    try:
        value_of(datatype, found["text"])
    except (ValueError, OverflowError):
        return True
    return False


_TYPED = re.compile(
    r'"(?P<text>(?:[^"\\\n]|\\.)*)"\s*\^\^\s*'
    r"(?:<http://www\.w3\.org/2001/XMLSchema#|[^\s<>,():]*:)(?P<name>\w+)"
)
_MAY_BE_NONE = re.compile(r"""\\[^nrt"']""")
