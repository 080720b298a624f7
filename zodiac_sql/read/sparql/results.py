"""Answers in the standard forms: SPARQL 1.1 Query Results in JSON, XML, CSV and TSV; graphs in RDF.

rdflib writes them, from terms that keep their spelling.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from zodiac_sql.errors import QueryError
from zodiac_sql.language.symbols import is_plain, quoted
from zodiac_sql.read.sparql.answer import SparqlAnswer

RESULTS = {
    "application/sparql-results+json": "json",
    "application/sparql-results+xml": "xml",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
}
"""The media types of the answers of SELECT and ASK. The first is the usual one."""

GRAPHS = {
    "text/turtle": "turtle",
    "application/n-triples": "nt",
    "application/rdf+xml": "xml",
    "application/ld+json": "json-ld",
}
"""The media types of the answers of CONSTRUCT and DESCRIBE."""

_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


def serialized(answer: SparqlAnswer, media_type: str, prefixes: Mapping[str, str]) -> bytes:
    """An answer whose terms are written as symbols, in a standard form. Raises QueryError."""
    forms = GRAPHS if answer.is_graph else RESULTS
    if media_type not in forms:
        raise QueryError(f"the answer of {answer.kind} can be {', '.join(forms)}")
    form = forms[media_type]
    if answer.is_graph:
        return _graph(answer, form, prefixes)
    if form == "tsv":
        return _tsv(answer).encode()
    return _result(answer, form)


def _graph(answer: SparqlAnswer, form: str, prefixes: Mapping[str, str]) -> bytes:
    from rdflib import Graph

    graph = Graph(bind_namespaces="none")
    for prefix, iri in prefixes.items():
        graph.bind(prefix, iri)
    for row in answer.answer:
        graph.add(tuple(map(term_of, row)))
    text: bytes = graph.serialize(format=form, encoding="utf-8")
    return text


def _result(answer: SparqlAnswer, form: str) -> bytes:
    from rdflib import Variable
    from rdflib.query import Result

    result = Result(answer.kind)
    if answer.kind == "ASK":
        result.askAnswer = bool(len(answer.answer))
        if form == "csv":
            raise QueryError("the answer of ASK has no form in CSV: ask for JSON or XML")
    else:
        result.vars = [Variable(name) for name in _variables(answer)]
        result.bindings = [
            {v: term_of(one) for v, one in zip(result.vars, row, strict=False) if one is not None}
            for row in answer.answer
        ]
    text: bytes | None = result.serialize(format=form)
    assert text is not None
    return text


def _variables(answer: SparqlAnswer) -> list[str]:
    """The variables. An answer about no variable has a column, `holds`, that is none."""
    names, types = answer.answer.column_names, answer.answer.schema.types
    return [name for name, type_ in zip(names, types, strict=True) if str(type_) != "bool"]


def _tsv(answer: SparqlAnswer) -> str:
    if answer.kind == "ASK":
        raise QueryError("the answer of ASK has no form in TSV: ask for JSON or XML")
    names = _variables(answer)
    lines = ["\t".join(f"?{name}" for name in names)]
    lines += ["\t".join(_cells(row[: len(names)])) for row in answer.answer]
    return "\n".join([*lines, ""])


def _cells(row: tuple[Any, ...]) -> Iterator[str]:
    for symbol in row:
        yield "" if symbol is None else _written(symbol)


def _written(symbol: str) -> str:
    """A term as N-Triples has it, on one line."""
    if symbol.startswith(("_:", "<", '"')):
        return symbol
    return quoted(symbol) if is_plain(symbol) else f"<{symbol}>"


def term_of(symbol: str) -> Any:
    """The term of rdflib that a symbol is."""
    from rdflib import BNode, Literal, URIRef

    if symbol.startswith("_:"):
        return BNode(symbol[2:])
    if symbol.startswith("<"):
        return URIRef(symbol[1:-1])
    if not symbol.startswith('"'):
        return Literal(symbol) if is_plain(symbol) else URIRef(symbol)
    end = symbol.rindex('"')
    text, after = _ESCAPE.sub(_unescaped, symbol[1:end]), symbol[end + 1 :]
    if after.startswith("@"):
        return Literal(text, lang=after[1:])
    if after.startswith("^^"):
        return Literal(text, datatype=URIRef(after[3:-1]), normalize=False)
    return Literal(text)


def _unescaped(found: re.Match[str]) -> str:
    said = found[1]
    if len(said) > 1:
        return chr(int(said[1:], 16))
    return _ESCAPES.get(said, said)
