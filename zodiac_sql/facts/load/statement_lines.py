"""Where statements stand in files that pyoxigraph reads.

pyoxigraph tells no lines. So it gets the file line by line, and the line of a statement is the last
one that it has read when it gives the statement.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import IO, TYPE_CHECKING, cast

from zodiac_sql.facts.load.counted_lines import CountedLines
from zodiac_sql.facts.load.source import SourceFile

if TYPE_CHECKING:
    import pyoxigraph


def statements(syntax: str, source: SourceFile) -> Iterator[tuple[pyoxigraph.Quad, int]]:
    """The statements of a file in a syntax of pyoxigraph's, with their lines."""
    import pyoxigraph

    with source.data.open("rb") as file:
        lines = CountedLines(file)
        quads = pyoxigraph.parse(
            cast("IO[bytes]", lines),
            format=getattr(pyoxigraph.RdfFormat, syntax),
            base_iri=source.path.resolve().as_uri(),
        )
        for quad in quads:
            yield quad, lines.line


def lines_of(syntax: str, source: SourceFile, numbers: Collection[int]) -> dict[int, int]:
    """The lines of some statements, which are counted from 1."""
    found: dict[int, int] = {}
    for number, (_, line) in enumerate(statements(syntax, source), 1):
        if number in numbers:
            found[number] = line
        if number >= max(numbers):
            break
    return found
