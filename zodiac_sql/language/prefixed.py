"""IRIs written with prefixes, in texts that people read."""

from __future__ import annotations

import re
from collections.abc import Mapping

from zodiac_sql.language import symbols

# A text in quotes, which stays as it is, or an IRI.
_TEXT_OR_IRI = re.compile(r'"(?:[^"\\]|\\.)*"|<([^\s<>"{}|\\^`]*)>', re.DOTALL)

PREFIXED = r"([^\W\d][\w-]*)?:[\w](?:[\w.-]*[\w])?"
"""What a prefixed name looks like: QNAME of grammar.lark."""

_PREFIXED = re.compile(PREFIXED)

WELL_KNOWN_PREFIXES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": symbols.XSD,
}
"""Prefixes that need no declaration."""

_WORDS = ("not", "true", "false", "_")
"""Prefixes that rules would take for words of their own, or for those of blank nodes."""


def prefixed(text: str, prefixes: Mapping[str, str]) -> str:
    """A text of the rule language with `prefix:local` for each `<iri>` where that means the same.

    Of several namespaces that an IRI begins with, the longest is taken.
    """
    if "<" not in text or not prefixes:
        return text
    return _TEXT_OR_IRI.sub(
        lambda found: found[0] if found[1] is None else _short(found[1], prefixes), text
    )


def prefixed_iri(text: str, prefixes: Mapping[str, str]) -> str:
    """A symbol's text, as `prefix:local` if it is an IRI that has a prefix."""
    if not prefixes or ":" not in text or symbols.iri(text) != text:
        return text
    return _short(text, prefixes).strip("<>")


def _short(iri: str, prefixes: Mapping[str, str]) -> str:
    fitting = sorted(
        (-len(namespace), len(prefix), prefix)
        for prefix, namespace in prefixes.items()
        if iri.startswith(namespace)
    )
    for length, _, prefix in fitting:
        name = f"{prefix}:{iri[-length:]}"
        if _PREFIXED.fullmatch(name) and prefix.lower() not in _WORDS:
            return name
    return f"<{iri}>"
