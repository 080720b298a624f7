"""What W3C's SPARQL tests expect, and whether an answer is that: blank nodes have other names."""

from __future__ import annotations

import csv
import datetime
import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from zodiac_sql.facts.load.literals import TYPES
from zodiac_sql.language.symbols import XSD, literal

Row = dict[str, Any]

_RESULTS = {
    ".srx": ox.QueryResultsFormat.XML,
    ".srj": ox.QueryResultsFormat.JSON,
    ".tsv": ox.QueryResultsFormat.TSV,
}
_RDF = {".ttl": ox.RdfFormat.TURTLE, ".rdf": ox.RdfFormat.RDF_XML}
_RESULT_SET = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
_NUMERIC = {iri for iri, type_ in TYPES.items() if type_.numeric}


def expected(path: Path) -> list[Row] | bool:
    """The rows of a file of results, or what ASK answers. A graph has a row for each triple."""
    if path.suffix == ".csv":
        with path.open(newline="") as file:
            rows = [*csv.reader(file)]
        cells = ([(n, _cell(c)) for n, c in zip(rows[0], row, strict=True)] for row in rows[1:])
        return [{name: cell for name, cell in row if cell != ("string", "")} for row in cells]
    if path.suffix not in _RESULTS:
        return _of_graph(path)
    found = ox.parse_query_results(path.read_bytes(), format=_RESULTS[path.suffix])
    if isinstance(found, ox.QueryBoolean):
        return bool(found)
    names = [variable.value for variable in found.variables]
    return [{n: _term(row[n]) for n in names if row[n] is not None} for row in found]


def _of_graph(path: Path) -> list[Row] | bool:
    """Results that are themselves written in RDF, or a graph."""
    store = ox.Store()
    store.load(path=path, format=_RDF[path.suffix], base_iri=path.as_uri())

    def objects(subject: Any, name: str) -> list[Any]:
        named = ox.NamedNode(_RESULT_SET + name)
        return [quad.object for quad in store.quads_for_pattern(subject, named, None)]

    if answer := objects(None, "boolean"):
        return bool(answer[0].value == "true")
    if not objects(None, "resultVariable"):
        return [
            dict(zip(("subject", "predicate", "object"), map(_term, quad), strict=False))
            for quad in ([q.subject, q.predicate, q.object] for q in store)
        ]
    solutions = sorted(
        objects(None, "solution"),
        key=lambda each: [int(index.value) for index in objects(each, "index")],
    )
    return [
        {
            objects(bound, "variable")[0].value: _term(objects(bound, "value")[0])
            for bound in objects(solution, "binding")
        }
        for solution in solutions
    ]


def value_of(given: Any) -> Any:
    """A value of an answer of ours in the form of those that are expected."""
    if isinstance(given, bool):
        return "boolean", given
    if isinstance(given, int | float | Decimal):
        return "number", float(given)
    if isinstance(given, datetime.datetime | datetime.date):
        kind = "dateTime" if isinstance(given, datetime.datetime) else "date"
        return "literal", given.isoformat(), XSD + kind
    if given.startswith('"'):
        line = f"<a:s> <a:p> {given} ."
        (triple,) = ox.parse(line, format=ox.RdfFormat.N_TRIPLES)
        return _term(triple.object)
    if given.startswith("_:"):
        return "blank", given
    if given.startswith("<") or re.match(r"urn:|\w+://", given):
        return "iri", given.strip("<>")
    return "string", given


def _term(term: Any) -> Any:
    if isinstance(term, ox.NamedNode):
        return "iri", term.value
    if isinstance(term, ox.BlankNode):
        return "blank", term.value
    text, datatype = term.value, term.datatype.value
    if term.language:
        return "string", literal(text, term.language)
    if datatype == f"{XSD}string":
        return "string", text
    if datatype == f"{XSD}boolean" and text in ("true", "1", "false", "0"):
        return "boolean", text in ("true", "1")
    if datatype in _NUMERIC and re.fullmatch(r"[-+.\dEe]+|[-+]?INF|NaN", text):
        return "number", float(text)
    zone = r"(Z|\+00:00)$"  # a native column of instants has them in UTC
    return "literal", re.sub(zone, "", text) if datatype.endswith("dateTime") else text, datatype


def _cell(text: str) -> Any:
    """A cell of CSV, which does not tell the kind of its term."""
    try:
        return "number", float(text)
    except ValueError:
        return ("blank", text) if text.startswith("_:") else ("string", text)


def untyped(row: Mapping[str, Any]) -> Row:
    """A row with all that CSV tells of its terms."""
    kinds = ("number", "blank")
    return {n: v if v[0] in kinds else _cell(str(v[1])) for n, v in row.items()}


def are_same(wanted: Sequence[Row], found: Sequence[Row]) -> bool:
    """Whether two bags of rows are the same, if blank nodes are renamed."""
    if len(wanted) != len(found):
        return False
    blanks = [sum(term[0] == "blank" for term in row.values()) for row in wanted]
    rows = [wanted[place] for place in sorted(range(len(wanted)), key=blanks.__getitem__)]
    return _matched(rows, [*found], {})


def _matched(wanted: list[Row], found: list[Row], names: dict[str, str]) -> bool:
    if not wanted:
        return True
    tried: list[Row] = []
    for place, row in enumerate(found):
        if row in tried:
            continue
        tried.append(row)
        new = match(wanted[0], row, names)
        rest = found[:place] + found[place + 1 :]
        if new is not None and _matched(wanted[1:], rest, new):
            return True
    return False


def match(wanted: Row, found: Row, names: dict[str, str]) -> dict[str, str] | None:
    """The names of blank nodes with which two rows are the same; None if there are none."""
    if wanted.keys() != found.keys():
        return None
    names = dict(names)
    for variable, term in wanted.items():
        other = found[variable]
        if term[0] == other[0] == "blank":
            if names.setdefault(term[1], other[1]) != other[1]:
                return None
        elif term[0] == other[0] == "number":
            both_nan = math.isnan(term[1]) and math.isnan(other[1])
            if not both_nan and not math.isclose(term[1], other[1], rel_tol=1e-6):
                return None
        elif term != other:
            return None
    return names if len({*names.values()}) == len(names) else None
