"""RDF files -> triples, each with its file and line.

Blank nodes are called as `kb.load` calls them (facts/load/blanks.py), so facts of an ontology are
the same facts if its file is loaded, too.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from zodiac_sql.errors import DataError
from zodiac_sql.facts.load.bounds import check_entities, check_nesting
from zodiac_sql.facts.load.counted_lines import CountedLines
from zodiac_sql.facts.load.source import SourceFile, opened
from zodiac_sql.facts.load.xml_root import require_rdf
from zodiac_sql.names import EXPRESSION, is_expression
from zodiac_sql.paths import impossible

if TYPE_CHECKING:
    import pyoxigraph

FORMATS = {
    ".ttl": "TURTLE", ".nt": "N_TRIPLES", ".nq": "N_QUADS", ".trig": "TRIG", ".rdf": "RDF_XML",
    ".owl": "RDF_XML", ".xml": "RDF_XML", ".jsonld": "JSON_LD",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal of RDF."""

    text: str
    language: str = ""
    datatype: str = ""


Node = str
"""An IRI, or a blank node, whose name begins with `_:`."""

Object = Node | Literal


def is_blank(node: Object) -> bool:
    """Whether an object is a blank node."""
    return isinstance(node, str) and node.startswith("_:")


@dataclass(frozen=True, slots=True)
class Triple:
    """A statement and where it stands. Equal statements are equal wherever they stand."""

    subject: Node
    predicate: Node
    object: Object
    file: str = ""
    line: int | None = None
    written: Node = ""
    """The property that the file has, where the statement is read as one with another."""

    @property
    def key(self) -> tuple[Node, Node, Object]:
        """The statement without its place."""
        return self.subject, self.predicate, self.object


@dataclass(frozen=True, slots=True)
class Document:
    """The statements of a file, and the prefixes that it declares."""

    path: Path
    triples: tuple[Triple, ...]
    prefixes: tuple[tuple[str, str], ...]


def read(path: Path) -> Document:
    """The statements of a file. Raises DataError with the line."""
    inner = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    syntax = FORMATS.get(inner.suffix.lower())
    if syntax is None:
        known = ", ".join(FORMATS)
        raise DataError(f"{path}: an ontology is a file of RDF: {known}, also with .gz.")
    if said := impossible(path):
        raise DataError(f"{path} {said}.")
    try:
        with opened(path) as source:
            return _parsed(source, syntax)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error}") from error


def _parsed(source: SourceFile, syntax: str) -> Document:
    import pyoxigraph

    if syntax == "RDF_XML":
        check_entities(source)
        require_rdf(source)
    elif syntax == "JSON_LD":
        check_nesting(source)
    with source.data.open("rb") as file:
        lines = CountedLines(file)
        quads = pyoxigraph.parse(
            cast("IO[bytes]", lines),
            format=getattr(pyoxigraph.RdfFormat, syntax),
            base_iri=source.path.resolve().as_uri(),
        )
        try:
            found = [(quad, lines.line) for quad in quads]
        except SyntaxError as error:
            where = "" if error.lineno is None else f", line {error.lineno}, column {error.offset}"
            raise DataError(f"{source.path}{where}: {error.msg}. Nothing was changed.") from None
        except (EOFError, MemoryError, ValueError) as error:
            raise DataError(f"{source.path} cannot be read: {error}") from error
    with source.data.open("rb") as file:
        tag = hashlib.file_digest(file, "sha256").hexdigest()[:12]
    labelled = syntax in ("N_TRIPLES", "N_QUADS")
    terms = _Terms(source.path, tag, labelled)
    triples = tuple(_triples(source.path, found, terms))
    prefixes = {**quads.prefixes, **(_xml_prefixes(source) if syntax == "RDF_XML" else {})}
    return Document(source.path, triples, tuple(sorted(prefixes.items())))


_XMLNS = re.compile(rb"""\sxmlns(?::([A-Za-z_][\w-]*))?\s*=\s*["']([^"'&]+)["']""")
_HEAD_BYTES = 1 << 16


def _xml_prefixes(source: SourceFile) -> dict[str, str]:
    """The prefixes that the head of an XML file declares, which pyoxigraph does not tell."""
    with source.data.open("rb") as file:
        found = _XMLNS.findall(file.read(_HEAD_BYTES))
    return {name.decode(): iri.decode("utf-8", "replace") for name, iri in reversed(found)}


_SCOPED = re.compile(r"z[0-9a-f]{12}_.+", re.DOTALL)


class _Terms:
    """The terms of a file. Blank nodes are named by their labels, or by their order."""

    def __init__(self, path: Path, tag: str, labelled: bool) -> None:
        self._path, self._tag, self._labelled = path, tag, labelled
        self._known: dict[object, Object | None] = {}
        self._blanks = 0

    def __getitem__(self, term: object) -> Object | None:
        """The term; None for a statement about a statement."""
        if term not in self._known:
            self._known[term] = self._read(term)
        return self._known[term]

    def _read(self, term: object) -> Object | None:
        import pyoxigraph

        if isinstance(term, pyoxigraph.NamedNode):
            if is_expression(term.value):
                raise DataError(f"{self._path}: names that begin with {EXPRESSION} are ours")
            return term.value
        if isinstance(term, pyoxigraph.BlankNode):
            return self._blank(term.value)
        if isinstance(term, pyoxigraph.Literal):
            datatype = "" if term.language else term.datatype.value
            return Literal(term.value, (term.language or "").lower(), datatype)
        return None

    def _blank(self, label: str) -> str:
        if _SCOPED.fullmatch(label):
            return f"_:{label}"
        self._blanks += 1
        return f"_:z{self._tag}_{label if self._labelled else self._blanks}"


def _triples(
    path: Path, found: Sequence[tuple[pyoxigraph.Quad, int]], terms: _Terms
) -> Iterator[Triple]:
    """The statements, each once. Statements about statements are left out."""
    seen = set()
    for quad, line in found:
        subject, predicate, object_ = terms[quad.subject], terms[quad.predicate], terms[quad.object]
        if not isinstance(subject, str) or not isinstance(predicate, str) or object_ is None:
            continue
        key = (subject, predicate, object_)
        if key not in seen:
            seen.add(key)
            yield Triple(subject, predicate, object_, str(path), line)
