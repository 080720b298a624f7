"""Turtle, TriG, RDF/XML and JSON-LD -> N-Quads, by pyoxigraph.

pyoxigraph parses and writes without a step in Python per triple; what it writes then goes the way
of every N-Quads file.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from zodiac_sql.errors import DataError
from zodiac_sql.load.lines import open_bytes

if TYPE_CHECKING:
    import pyoxigraph

_FORMATS = {
    ".ttl": "TURTLE", ".trig": "TRIG", ".rdf": "RDF_XML", ".owl": "RDF_XML", ".xml": "RDF_XML",
    ".jsonld": "JSON_LD",
}  # fmt: skip

SUFFIXES = tuple(_FORMATS)


@contextmanager
def as_nquads(
    path: Path, suffix: str, skip_bad: bool
) -> Iterator[tuple[Path, tuple[tuple[str, str], ...]]]:
    """A temporary N-Quads file with the statements of another, and the prefixes of that.

    Relative IRIs are resolved against the file's own. Raises DataError with the line.
    """
    import pyoxigraph

    syntax = getattr(pyoxigraph.RdfFormat, _FORMATS[suffix])
    with tempfile.TemporaryDirectory(prefix="zodiac_sql_") as folder:
        target = Path(folder) / "converted.nq"
        with open_bytes(path) as source:
            try:
                quads = pyoxigraph.parse(source, format=syntax, base_iri=path.resolve().as_uri())
                pyoxigraph.serialize(quads, str(target), format=pyoxigraph.RdfFormat.N_QUADS)
            except SyntaxError as error:
                raise DataError(_said(path, error, skip_bad)) from None
            except (EOFError, OSError, ValueError) as error:
                raise DataError(f"{path} cannot be read: {error}") from error
        yield target, _prefixes(quads)


def _prefixes(quads: pyoxigraph.QuadParser) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(quads.prefixes.items()))


def _said(path: Path, error: SyntaxError, skip_bad: bool) -> str:
    where = "" if error.lineno is None else f", line {error.lineno}, column {error.offset}"
    if skip_bad:
        after = "skip_bad works where every line stands for itself: N-Triples, N-Quads, tables."
    else:
        after = "Nothing was loaded."
    return f"{path}{where}: {error.msg}. {after}"
