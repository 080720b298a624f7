"""How a symbol is written as text: one text per symbol, and one symbol per text.

The same rules stand as SQL macros in database/migrations, where they apply to whole
columns; these are for the constants of rules and for the RDF that is written out.

    IRI with :// or urn:      http://example.org/wt1
    any other IRI             <tag:wt1>
    blank node                _:b0
    language or datatype      "Haus"@de    "POINT(1 2)"^^<http://www.opengis.net/ont/wkt>
    all other strings         wt1          in quotes only if it could be taken for one of the above
"""

from __future__ import annotations

import re

XSD = "http://www.w3.org/2001/XMLSchema#"

NATIVE_LITERAL = (
    r'"[-+.:0-9A-Za-z]*"\^\^<'
    + XSD.replace(".", "[.]")
    + "(integer|decimal|double|boolean|date|dateTime)>"
)
"""A regular expression, of Python and of DuckDB, for the literals of values of native columns."""
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

# No vertical tab: the macros use DuckDB's \s, which has none.
_BARE_IRI = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*://|urn:)[^\t\n\f\r <>\"{}|\\^`]*")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPE = re.compile(r'[\\"\n\r\t]')


def iri(text: str) -> str:
    """The symbol of an IRI given without angle brackets."""
    return text if _BARE_IRI.fullmatch(text) else f"<{text}>"


def plain(text: str) -> str:
    """The symbol of a string without language or datatype."""
    misread = text[:1] in ("<", '"') or text[:2] == "_:" or _BARE_IRI.fullmatch(text)
    return quoted(text) if misread else text


def is_plain(symbol: str) -> bool:
    """Whether a symbol is a string without language or datatype."""
    if symbol[:1] == '"':
        return symbol[-1:] == '"'
    return not (symbol[:1] == "<" or symbol[:2] == "_:" or _BARE_IRI.fullmatch(symbol))


def literal(text: str, language: str = "", datatype: str = "") -> str:
    """The symbol of an RDF literal; without language and datatype it is a plain string."""
    if language:
        return f"{quoted(text)}@{language.lower()}"
    if datatype and datatype != f"{XSD}string":
        return f"{quoted(text)}^^<{datatype}>"
    return plain(text)


def quoted(text: str) -> str:
    """The text in double quotes, escaped as in N-Triples."""
    return '"' + _ESCAPE.sub(lambda match: _ESCAPES[match[0]], text) + '"'
