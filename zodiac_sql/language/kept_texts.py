r"""Rules whose texts were kept before the language had changed, as the same is said today.

Until December 2026, a name that begins with a capital beyond ASCII was a constant, a backslash that
begins no escape was left out of a text in quotes, and the values of XML Schema's datatypes were
written as Python reads them. Moments could have digits beyond microseconds, which did not count:

    p(X) :- q(X, Ä, Y), matches(X, "\d"), Y > "1_000"^^xsd:int.                  kept then
    p(X) :- q(X, "Ä", Y), matches(X, "d"), Y > "1000"^^<http://..#integer>.      the same today

A variable that begins with such a capital is kept as `?Ä`, which has always meant the same. So
nothing has to tell old texts from new ones, and older versions read the new ones.

Values of xsd:decimal were floats then, too. They are kept as xsd:double since migration 17, which
has rewritten older texts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from zodiac_sql.language.datatypes import value_of, xsd_type
from zodiac_sql.language.moments import is_finer
from zodiac_sql.language.symbols import XSD
from zodiac_sql.language.syntax import Type


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


def with_floats(text: str, prefixes: Mapping[str, str]) -> str:
    """A text that was kept when values of xsd:decimal were floats, with these as floats,
    also in declarations."""
    if "decimal" not in text.lower():
        return text
    from zodiac_sql.language.parse import in_other_words  # late, as above

    return in_other_words(text, prefixes, former=True, floats=True)


def _has_capitals(text: str) -> bool:
    """Whether capitals beyond ASCII may begin names: those in quotes and in comments do not."""
    if text.isascii() or not _capitals(text):
        return False
    left = _NO_NAMES.sub(lambda found: found[0] if found["iri"] else " ", text)
    return _capitals(left) or _UNSURE.search(_SURE_IRI.sub(" ", left)) is not None


def _capitals(text: str) -> bool:
    return any(one > "\x7f" and (one.isupper() or one.istitle()) for one in text)


def _has_escapes(text: str) -> bool:
    return "\\" in text and _MAY_BE_NONE.search(text.replace("\\\\", " ")) is not None


def _has_values(text: str) -> bool:
    return "^^" in text and any(map(_is_no_value, _TYPED.finditer(text)))


def _is_no_value(found: re.Match[str]) -> bool:
    """Whether a text has no value in a datatype whose name may be that of a native one.

    It has none, either, if it is finer than the moments that can be kept.
    """
    datatype = f"{XSD}{found['name']}"
    type_ = xsd_type(datatype)
    if type_ is None:
        return False
    try:
        value_of(datatype, found["text"])
    except (ValueError, OverflowError):
        return True
    return type_ is Type.TIMESTAMP and is_finer(found["text"].strip())


_TYPED = re.compile(
    r'"(?P<text>(?:[^"\\\n]|\\.)*)"\s*\^\^\s*'
    r"(?:<http://www\.w3\.org/2001/XMLSchema#|[^\s<>,():]*:)(?P<name>\w+)"
)
_MAY_BE_NONE = re.compile(
    r"""\\(?![nrt"']|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}"""
    r"""|U(?:0000(?![dD][89a-fA-F])|000[1-9a-fA-F]|0010)[0-9a-fA-F]{4})"""
)
"""A backslash that may begin no escape: halves of characters, too, are none."""
_NO_NAMES = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|`[^`\n]+`|(?:\n[ \t]*[%#]|//)[^\n\r]*|/\*[\s\S]*?\*/'
    r"|(?P<iri><[^\s<>\"{}|\\^`]*>)"
)
"""What stands in quotes, and comments. An IRI may have what looks like a comment. It stays, because
comparisons may look like one: X<Y,Z>1."""
_SURE_IRI = re.compile(r"<(?:[^\s<>\"{}|\\^`/]|(?<=:)//|/(?!/))*>")
_UNSURE = re.compile(r'[%#"`]|//')
"""What may begin a comment, if it stands in no IRI."""
