"""Turtle, TriG, RDF/XML and JSON-LD -> N-Quads, by pyoxigraph.

pyoxigraph parses and writes without a step in Python per triple. Its output is then loaded like any
N-Quads file.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from zodiac_sql.errors import DataError
from zodiac_sql.facts.load.bounds import check_entities, check_nesting
from zodiac_sql.facts.load.source import SourceFile
from zodiac_sql.facts.load.xml_root import require_rdf

if TYPE_CHECKING:
    import pyoxigraph

FORMATS = {
    ".ttl": "TURTLE", ".trig": "TRIG", ".rdf": "RDF_XML", ".owl": "RDF_XML", ".xml": "RDF_XML",
    ".jsonld": "JSON_LD",
}  # fmt: skip

SUFFIXES = tuple(FORMATS)


_MOST_CONVERTED_BYTES = 256 << 20
_MOST_TIMES = 50
"""N-Quads have no prefixes, so a file grows: to this many bytes at most, or to this many times its
own size if that is more."""


@contextmanager
def as_nquads(
    source: SourceFile, suffix: str, skip_bad: bool
) -> Iterator[tuple[SourceFile, tuple[tuple[str, str], ...]]]:
    """A temporary N-Quads file with the statements of another file, and that file's prefixes.

    Relative IRIs are resolved against the file's own IRI. Raises DataError with the line.
    """
    import pyoxigraph

    path = source.path
    if FORMATS[suffix] == "RDF_XML":
        check_entities(source)
        require_rdf(source)
    elif FORMATS[suffix] == "JSON_LD":
        check_nesting(source)
    syntax = getattr(pyoxigraph.RdfFormat, FORMATS[suffix])
    with tempfile.TemporaryDirectory(prefix="zodiac_sql_") as folder:
        target = Path(folder) / "converted.nq"
        most = max(_MOST_CONVERTED_BYTES, _MOST_TIMES * source.data.stat().st_size)
        with source.data.open("rb") as data, target.open("wb") as plain:
            try:
                quads = pyoxigraph.parse(data, format=syntax, base_iri=path.resolve().as_uri())
                pyoxigraph.serialize(
                    quads,
                    cast("IO[bytes]", _Bounded(plain, path, most)),
                    format=pyoxigraph.RdfFormat.N_QUADS,
                )
            except SyntaxError as error:
                raise DataError(_said(path, error, skip_bad)) from None
            except MemoryError:  # raised for a statement that is too long for its buffer
                raise DataError(
                    f"{path}: a statement, or a text in it, is longer than 16 MiB, which none may "
                    "be. Nothing was loaded; break it up, or leave it out."
                ) from None
            except (EOFError, OSError, ValueError) as error:
                raise DataError(f"{path} cannot be read: {error}") from error
        yield SourceFile(path, target), _prefixes(quads)


@dataclass(slots=True)
class _Bounded:
    """A file for writing that refuses to become too large."""

    file: IO[bytes]
    path: Path
    room: int

    def write(self, data: bytes) -> int:
        self.room -= len(data)
        if self.room < 0:
            raise DataError(
                f"{self.path} becomes more than {_MOST_TIMES} times as large with its prefixes "
                "written out. Nothing was loaded; shorten them."
            )
        return self.file.write(data)

    def flush(self) -> None:
        self.file.flush()


def _prefixes(quads: pyoxigraph.QuadParser) -> tuple[tuple[str, str], ...]:
    """The prefixes of a file, without _, which JSON-LD may have and which begins blank nodes."""
    return tuple(sorted((p, iri) for p, iri in quads.prefixes.items() if p != "_"))


def _said(path: Path, error: SyntaxError, skip_bad: bool) -> str:
    where = "" if error.lineno is None else f", line {error.lineno}, column {error.offset}"
    if skip_bad:
        after = "skip_bad works where every line stands for itself: N-Triples, N-Quads, tables."
    else:
        after = "Nothing was loaded."
    return f"{path}{where}: {error.msg}. {after}"
