"""Statements about statements, of RDF 1.2: they are not supported, and told by their lines.

:s :p :o {| :q :z |} .     << :s :p :o >> :q :z .     rdf:annotation in RDF/XML
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from zodiac_sql.facts.load.result import MOST_LISTED, Skipped
from zodiac_sql.facts.load.source import SourceFile
from zodiac_sql.facts.load.statement_lines import statements

if TYPE_CHECKING:
    import pyoxigraph

REASON = "a triple term, which is not supported"

EXPECTED = (
    "A fact has no statement as a value. So what is said of a statement (`<< >>`, `~`, `{| |}`, in "
    "RDF/XML rdf:annotation) is said of a node instead, which names the parts of the statement."
)


def triple_terms(syntax: str, source: SourceFile) -> tuple[Skipped, ...]:
    """The first statements with triple terms in a file of a syntax of pyoxigraph's.

    This reads the file once more, so it is for errors only.
    """
    import pyoxigraph

    found = (
        Skipped(line, f"<<( {quad.object} )>>", REASON)
        for quad, line in statements(syntax, source)
        if isinstance(quad.object, pyoxigraph.Triple)
    )
    return tuple(islice(found, MOST_LISTED))


def reason(line: str, syntax: str) -> str:
    """Why a line of N-Triples or N-Quads is refused."""
    import pyoxigraph

    try:
        quads: list[pyoxigraph.Quad] = list(
            pyoxigraph.parse(line, format=getattr(pyoxigraph.RdfFormat, syntax))
        )
    except SyntaxError as error:
        return f"malformed: {error.msg.partition(': ')[2] or error.msg}"
    about = any(isinstance(quad.object, pyoxigraph.Triple) for quad in quads)
    return REASON if about else "malformed"
