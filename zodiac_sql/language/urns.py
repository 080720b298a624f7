"""urn:zodiac: IRIs, which represent plain names and symbols if RDF needs an IRI.

They are `urn:zodiac:` and the percent-encoded text of a symbol (language/symbols.py), or the name
of a predicate. Only the spelling that is written here is read back, so both ways fit exactly.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

NAMESPACE = "urn:zodiac:"

_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]*")


def predicate_iri(name: str) -> str:
    """The IRI that stands for a predicate in RDF."""
    if _IRI.fullmatch(name) and not name.startswith(NAMESPACE):
        return name
    return NAMESPACE + quote(name, safe="")


def predicate_name(iri: str) -> str:
    """The predicate that an IRI in RDF stands for."""
    if not iri.startswith(NAMESPACE):
        return iri
    name = unquote(iri.removeprefix(NAMESPACE))
    return name if predicate_iri(name) == iri else iri
