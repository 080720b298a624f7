"""Predicates -> files: Parquet and CSV, one for each, or N-Triples or Turtle, one for all.

Everything is read as people see it, such as from the views main."p", whose symbols are text, and
written by DuckDB. Turtle is made of N-Triples by pyoxigraph, with the prefixes that are known.

In RDF a unary predicate is a class and a binary one a property. If RDF needs an IRI or blank
node, plain names and other symbols become IRIs under urn:zodiac:, which loading reads back
(facts/load/urns.py). Native values have the datatype they came with, or the usual one of their
type; a value that the datatype cannot write (an infinite decimal) becomes an xsd:double.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from zodiac_sql.database.other_connections import connect_outside
from zodiac_sql.database.permitted import require_harmless
from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError, StoreError
from zodiac_sql.facts.load import cells, urns
from zodiac_sql.facts.native_text import datatype_of, literal_text
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.symbols import RDF_TYPE
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.language.urns import predicate_iri
from zodiac_sql.paths import impossible

if TYPE_CHECKING:
    import pyarrow as pa

_MACROS = r"""
-- Symbols in the object position: plain strings are literals.
CREATE OR REPLACE TEMP MACRO zodiac_as_object(t) AS
    CASE zodiac.kind(t)
    WHEN 'iri' THEN CASE WHEN starts_with(t, '<') THEN t ELSE '<' || t || '>' END
    WHEN 'blank' THEN zodiac_as_node(t)
    WHEN 'plain' THEN '"' || zodiac.escape_text(zodiac.lexical(t)) || '"'
    ELSE t END;
"""

_CELLS = f"""
{cells.MACROS}
-- The text of a term as a cell of CSV whose reader finds the same term. Readers may take single
-- quotation marks around a cell for those of CSV.
CREATE OR REPLACE TEMP MACRO zodiac_as_cell(t) AS
    CASE WHEN zodiac_bare_kind(trim(t)) = {cells.TEXT} AND ltrim(t)[1] <> '''' THEN t
         ELSE '"' || zodiac.escape_text(t) || '"' END;
"""

Read = Callable[[Predicate], exp.Expr]
"""What is read of a predicate, as an item of FROM: its view, or some of its facts."""


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export.

    Parquet and CSV files are named after the predicate in SQL and have the columns of its view,
    with symbols as text; `holds: bool` for a predicate without columns. All N-Triples are in
    one file, facts.nt, all Turtle in facts.ttl.
    """

    files: tuple[Path, ...]
    """The files written."""
    skipped: tuple[tuple[str, str], ...] = ()
    """The predicates that the format cannot hold, each with the reason."""


def export_predicates(
    store: Store,
    predicates: Iterable[Predicate],
    directory: str | Path,
    format: str,
    prefixes: Mapping[str, str],
    read: Read,
) -> Exported:
    """Write what is read of predicates into a directory, which is created if need be.

    Raises DataError for an unknown format, StoreError where DuckDB cannot write.
    """
    directory, predicates = Path(directory), list(predicates)
    if said := impossible(directory):
        raise StoreError(f"{directory} {said}.")
    if format not in ("parquet", "csv", "nt", "ttl"):
        raise DataError(f"Unknown export format {format}. Known are parquet, csv, nt and ttl.")
    for predicate in predicates:
        require_harmless(store, predicate.sql_name)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{directory} cannot be made: {error.strerror}") from None
    if format == "nt":
        return _export_triples(store, predicates, directory / "facts.nt", read)
    if format == "ttl":
        return _export_turtle(store, predicates, directory / "facts.ttl", read, prefixes)
    files, skipped = [], []
    for predicate in predicates:
        if predicate.open:
            skipped.append((predicate.name, _OPEN))
            continue
        path = directory / f"{_file_name(predicate.sql_name)}.{format}"
        options: dict[str, str | bool] = {"format": format}
        if format == "csv":
            store.run(_CELLS)
            options["header"] = True
        columns = [_cell(column, format) for column in predicate.columns]
        query = exp.select(*columns or [exp.column("holds", quoted=True)]).from_(read(predicate))
        _copy(store, [query], path, options)
        files.append(path)
    return Exported(tuple(files), tuple(skipped))


def _cell(column: Column, format: str) -> exp.Expr:
    """A column as the file has it.

    CSV has no types: a text that a reader would take for a number, say, is a term in quotes.
    """
    value: exp.Expr = exp.column(column.name, quoted=True)
    if format != "csv" or not column.mixed:
        return value
    told = exp.func("zodiac_as_cell", value, dialect="duckdb")
    return told.as_(column.name, quoted=True)


_OPEN = "it has no facts and no types yet"


def _file_name(name: str) -> str:
    """The name without characters that file names cannot have."""
    return "".join("_" if c in '/\\:*?"<>|\0' else c for c in name)


def _copy(
    store: Store,
    queries: Sequence[exp.Query],
    path: Path,
    options: dict[str, str | bool],
    order: str | None = None,
) -> None:
    parameters = [
        exp.CopyParameter(this=exp.var(name.upper()), expression=exp.convert(value))
        for name, value in options.items()
    ]
    rows = exp.select(exp.Star()).from_(_ROWS)
    copy = exp.Copy(
        this=(rows.order_by(order) if order else rows).subquery(copy=False),
        kind=False,
        files=[exp.Literal.string(str(path.absolute()))],
        params=parameters,
    )
    with (
        connect_outside(store) as outside,
        outside.offered(_ROWS, _one_after_the_other(store, queries)),
    ):
        outside.run(copy)


def _one_after_the_other(store: Store, queries: Sequence[exp.Query]) -> pa.RecordBatchReader:
    """The rows of all queries, which have the same columns, as one stream.

    DuckDB 1.5.6 may never begin to stream a union of many queries (74 of LUBM, after loading).
    """
    import pyarrow as pa

    first = store.batches(queries[0], _ROWS_AT_A_TIME)

    def batches() -> Iterator[pa.RecordBatch]:
        yield from first
        for query in queries[1:]:
            yield from store.batches(query, _ROWS_AT_A_TIME)

    return pa.RecordBatchReader.from_batches(first.schema, batches())


_ROWS = "zodiac_export_rows"

_ROWS_AT_A_TIME = 20_480
"""How many rows at a time are passed to the connection that writes files."""


# --- N-Triples ------------------------------------------------------------------------------------


def _export_turtle(
    store: Store,
    predicates: Sequence[Predicate],
    path: Path,
    read: Read,
    prefixes: Mapping[str, str],
) -> Exported:
    """Write Turtle, ordered by subject, with the prefixes that Turtle can have."""
    import pyoxigraph

    with tempfile.TemporaryDirectory(dir=path.parent) as there:
        lines = Path(there) / "facts.nt"
        skipped = _export_triples(store, predicates, lines, read, ordered=True).skipped
        pyoxigraph.serialize(
            pyoxigraph.parse(path=lines, format=pyoxigraph.RdfFormat.N_TRIPLES, lenient=True),
            path,
            format=pyoxigraph.RdfFormat.TURTLE,
            prefixes={
                prefix: iri
                for prefix, iri in prefixes.items()
                if _ABSOLUTE.match(iri) and _TURTLE_PREFIX.fullmatch(prefix)
            },
        )
    return Exported((path,), skipped)


_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")

_LETTER = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_INNER = f"{_LETTER}_0-9\u00b7\u0300-\u036f\u203f-\u2040-"
_TURTLE_PREFIX = re.compile(f"(?:[{_LETTER}](?:[{_INNER}.]*[{_INNER}])?)?")
"""PN_PREFIX of Turtle. JSON-LD allows others, such as _, which begins blank nodes there."""


def _export_triples(
    store: Store,
    predicates: Sequence[Predicate],
    path: Path,
    read: Read,
    ordered: bool = False,
) -> Exported:
    store.run(urns.MACROS + _MACROS)
    skipped = [(p.name, reason) for p in predicates if (reason := _not_rdf(p))]
    out = {name for name, _ in skipped}
    lines = [_lines(p, read) for p in predicates if p.name not in out]
    if not lines:
        path.write_text("")
        return Exported((path,), tuple(skipped))
    # This is CSV without quotes: the terms have line ends escaped.
    options: dict[str, str | bool] = {
        "format": "csv", "header": False, "quote": "", "escape": "", "delimiter": "\x01",
    }  # fmt: skip
    _copy(store, lines, path, options, order="line" if ordered else None)
    return Exported((path,), tuple(skipped))


def _not_rdf(predicate: Predicate) -> str:
    """Why a predicate cannot be written as N-Triples; empty if it can."""
    if predicate.arity not in (1, 2):
        return f"N-Triples hold predicates with one or two columns, this one has {predicate.arity}"
    if predicate.open:
        return _OPEN
    first = predicate.columns[0]
    if first.type is not Type.SYMBOL:
        return f"its first column, {first.name}, has the type {first.type}: a subject is a symbol"
    return ""


def _lines(predicate: Predicate, read: Read) -> exp.Select:
    """The facts of a predicate as lines of N-Triples."""
    names = [exp.column(column.name, quoted=True) for column in predicate.columns]
    iri = f"<{predicate_iri(predicate.name)}>"
    subject = exp.func("zodiac_as_node", names[0], dialect="duckdb")
    if predicate.arity == 1:
        line = exp.func("concat", subject, exp.Literal.string(f" <{RDF_TYPE}> {iri} ."))
    else:
        object_ = _object(predicate, names[1])
        line = exp.func(
            "concat", subject, exp.Literal.string(f" {iri} "), object_, exp.Literal.string(" .")
        )
    return exp.select(line.as_("line")).from_(read(predicate))


def _object(predicate: Predicate, value: exp.Expr) -> exp.Expr:
    """A value as an N-Triples term."""
    type_, datatype = predicate.columns[1].type, predicate.datatypes[1]
    assert type_ is not None
    if type_ is Type.SYMBOL:
        return exp.func("zodiac_as_object", value, dialect="duckdb")
    return literal_text(value, type_, datatype_of(type_, datatype))
