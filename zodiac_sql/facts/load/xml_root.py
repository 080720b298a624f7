"""Tells OWL/XML from RDF/XML, which it looks like: read as RDF/XML, it is a file of nonsense."""

from __future__ import annotations

from contextlib import suppress
from xml.parsers import expat

from zodiac_sql.errors import DataError
from zodiac_sql.facts.load.source import SourceFile

_OWL = "http://www.w3.org/2002/07/owl#"
_HEAD_BYTES = 1 << 20


def require_rdf(file: SourceFile) -> None:
    """Raise DataError for OWL/XML: its first element is `Ontology`, in the namespace of OWL."""
    if _root(file) == f"{_OWL} Ontology":
        raise DataError(
            f"{file.path} is OWL/XML, another syntax than RDF/XML, and not read. Save the ontology "
            "as RDF/XML or Turtle: Protégé does (Save as), or `robot convert -i IN -o OUT.ttl`. "
            "Nothing was changed."
        )


class _Found(Exception):
    """Ends the search."""


def _root(file: SourceFile) -> str:
    """The first element, as its namespace and its name; empty if there is none."""
    found = []

    def started(name: str, attributes: dict[str, str]) -> None:
        found.append(name)
        raise _Found

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = started
    with (
        suppress(_Found, expat.ExpatError),
        file.data.open("rb") as data,
    ):  # pyoxigraph tells errors
        parser.Parse(data.read(_HEAD_BYTES), False)
    return found[0] if found else ""
