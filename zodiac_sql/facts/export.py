"""Predicates -> files: Parquet and CSV, one for each predicate, or N-Triples, one for all.

Everything is read from the views main."p", whose symbols are text, and written by DuckDB.

In N-Triples a unary predicate is a class and a binary one a property. If RDF needs an IRI or blank
node, plain names and other symbols become IRIs under urn:zodiac:, which loading reads back
(facts/load/urns.py). Native values have the datatype they came with, or the usual one of their
type; a value that the datatype cannot write (an infinite decimal) becomes an xsd:double.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from zodiac_sql.database.other_connections import connect_outside
from zodiac_sql.database.permitted import require_harmless
from zodiac_sql.database.statements import shown
from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError
from zodiac_sql.facts.load import urns
from zodiac_sql.facts.load.literals import is_zoned
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.symbols import RDF_TYPE, XSD
from zodiac_sql.language.syntax import Type

_MACROS = r"""
-- Symbols in the object position: plain strings are literals.
CREATE OR REPLACE TEMP MACRO zodiac_as_object(t) AS
    CASE zodiac.kind(t)
    WHEN 'iri' THEN CASE WHEN starts_with(t, '<') THEN t ELSE '<' || t || '>' END
    WHEN 'plain' THEN '"' || zodiac.escape_text(zodiac.lexical(t)) || '"'
    ELSE t END;

CREATE OR REPLACE TEMP MACRO zodiac_typed(v, datatype) AS '"' || v || '"^^<' || datatype || '>';

CREATE OR REPLACE TEMP MACRO zodiac_double(x) AS
    CASE WHEN isnan(x) THEN 'NaN'
         WHEN isinf(x) THEN CASE WHEN x > 0 THEN 'INF' ELSE '-INF' END
         ELSE CAST(x AS VARCHAR) END;

-- NULL where a decimal cannot write the value: those have no exponent.
CREATE OR REPLACE TEMP MACRO zodiac_decimal(x) AS
    CASE WHEN NOT isfinite(x) THEN NULL
         WHEN NOT contains(CAST(x AS VARCHAR), 'e') THEN CAST(x AS VARCHAR)
         WHEN CAST(TRY_CAST(x AS DECIMAL(38, 15)) AS DOUBLE) = x
              THEN rtrim(CAST(TRY_CAST(x AS DECIMAL(38, 15)) AS VARCHAR), '0')
         ELSE NULL END;

CREATE OR REPLACE TEMP MACRO zodiac_float_literal(x, datatype) AS
    CASE WHEN datatype = 'http://www.w3.org/2001/XMLSchema#decimal'
              AND zodiac_decimal(x) IS NOT NULL
         THEN zodiac_typed(zodiac_decimal(x), datatype)
         WHEN datatype = 'http://www.w3.org/2001/XMLSchema#decimal'
         THEN zodiac_typed(zodiac_double(x), 'http://www.w3.org/2001/XMLSchema#double')
         ELSE zodiac_typed(zodiac_double(x), datatype) END;

CREATE OR REPLACE TEMP MACRO zodiac_moment_text(x) AS
    strftime(x, '%Y-%m-%dT%H:%M:%S') || CASE WHEN microsecond(x) % 1000000 = 0 THEN ''
        ELSE '.' || rtrim(strftime(x, '%f'), '0') END;
"""

_DEFAULTS = {
    Type.INT: f"{XSD}integer", Type.FLOAT: f"{XSD}double", Type.BOOL: f"{XSD}boolean",
    Type.DATE: f"{XSD}date", Type.TIMESTAMP: f"{XSD}dateTime",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export.

    Parquet and CSV files are named after the predicate in SQL and have the columns of its view,
    with symbols as text; `holds: bool` for a predicate without columns. All N-Triples are in
    one file, facts.nt.
    """

    files: tuple[Path, ...]
    """The files written."""
    skipped: tuple[tuple[str, str], ...] = ()
    """The predicates that the format cannot hold, each with the reason."""


def export_predicates(
    store: Store, predicates: Iterable[Predicate], directory: str | Path, format: str
) -> Exported:
    """Write the extensions of predicates into a directory, which is created if need be.

    Raises DataError for an unknown format, StoreError where DuckDB cannot write.
    """
    directory, predicates = Path(directory), list(predicates)
    if format not in ("parquet", "csv", "nt"):
        raise DataError(f"Unknown export format {format}. Known are parquet, csv and nt.")
    for predicate in predicates:
        require_harmless(store, predicate.sql_name)
    directory.mkdir(parents=True, exist_ok=True)
    if format == "nt":
        return _export_triples(store, predicates, directory / "facts.nt")
    files, skipped = [], []
    for predicate in predicates:
        if predicate.open:
            skipped.append((predicate.name, _OPEN))
            continue
        path = directory / f"{_file_name(predicate.sql_name)}.{format}"
        columns = [c.name for c in predicate.columns] or ["holds"]
        query = exp.select(*(exp.column(c, quoted=True) for c in columns)).from_(
            shown(store.database, predicate.sql_name)
        )
        options: dict[str, str | bool] = {"format": format}
        if format == "csv":
            options["header"] = True
        _copy(store, query, path, options)
        files.append(path)
    return Exported(tuple(files), tuple(skipped))


_OPEN = "it has no facts and no types yet"


def _file_name(name: str) -> str:
    """The name without characters that file names cannot have."""
    return "".join("_" if c in '/\\:*?"<>|\0' else c for c in name)


def _copy(store: Store, query: exp.Query, path: Path, options: dict[str, str | bool]) -> None:
    parameters = [
        exp.CopyParameter(this=exp.var(name.upper()), expression=exp.convert(value))
        for name, value in options.items()
    ]
    copy = exp.Copy(
        this=exp.select("*").from_(_ROWS).subquery(copy=False),
        kind=False,
        files=[exp.Literal.string(str(path))],
        params=parameters,
    )
    with (
        connect_outside(store) as outside,
        outside.offered(_ROWS, store.batches(query, _ROWS_AT_A_TIME)),
    ):
        outside.run(copy)


_ROWS = "zodiac_export_rows"

_ROWS_AT_A_TIME = 20_480
"""How many rows at a time are passed to the connection that writes files."""


# --- N-Triples ------------------------------------------------------------------------------------


def _export_triples(store: Store, predicates: Sequence[Predicate], path: Path) -> Exported:
    store.run(urns.MACROS + _MACROS)
    skipped = [(p.name, reason) for p in predicates if (reason := _not_rdf(p))]
    out = {name for name, _ in skipped}
    lines = [_lines(store, p) for p in predicates if p.name not in out]
    if not lines:
        path.write_text("")
        return Exported((path,), tuple(skipped))
    query = lines[0] if len(lines) == 1 else exp.union(*lines, distinct=False)
    # This is CSV without quotes: the terms have line ends escaped.
    options: dict[str, str | bool] = {
        "format": "csv", "header": False, "quote": "", "escape": "", "delimiter": "\x01",
    }  # fmt: skip
    _copy(store, query, path, options)
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


def _lines(store: Store, predicate: Predicate) -> exp.Select:
    """The facts of a predicate as lines of N-Triples."""
    names = [exp.column(column.name, quoted=True) for column in predicate.columns]
    iri = f"<{urns.predicate_iri(predicate.name)}>"
    subject = exp.func("zodiac_as_node", names[0], dialect="duckdb")
    if predicate.arity == 1:
        line = exp.func("concat", subject, exp.Literal.string(f" <{RDF_TYPE}> {iri} ."))
    else:
        object_ = _object(predicate, names[1])
        line = exp.func(
            "concat", subject, exp.Literal.string(f" {iri} "), object_, exp.Literal.string(" .")
        )
    return exp.select(line.as_("line")).from_(shown(store.database, predicate.sql_name))


def _object(predicate: Predicate, value: exp.Expr) -> exp.Expr:
    """A value as an N-Triples term."""
    type_, datatype = predicate.columns[1].type, predicate.datatypes[1]
    assert type_ is not None
    if type_ is Type.SYMBOL:
        return exp.func("zodiac_as_object", value, dialect="duckdb")
    if type_ is Type.TIMESTAMP and is_zoned(datatype):
        text = exp.func("concat", _call("zodiac_moment_text", value), exp.Literal.string("Z"))
        written = f"{XSD}dateTimeStamp" if datatype == f"{XSD}dateTimeStamp" else f"{XSD}dateTime"
        return _call("zodiac_typed", text, exp.Literal.string(written))
    iri = exp.Literal.string(datatype or _DEFAULTS[type_])
    if type_ is Type.FLOAT:
        return _call("zodiac_float_literal", value, iri)
    if type_ is Type.TIMESTAMP:
        return _call("zodiac_typed", _call("zodiac_moment_text", value), iri)
    return _call("zodiac_typed", exp.cast(value, "VARCHAR"), iri)


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.func(name, *arguments, dialect="duckdb")
