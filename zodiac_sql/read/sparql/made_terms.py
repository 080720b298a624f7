"""Functions of SPARQL that make new terms: literals with a language or a datatype, IRIs, blank
nodes, digests, and parts of strings. An error is NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urljoin

from sqlglot import exp

from zodiac_sql.database.statements import text
from zodiac_sql.language.symbols import XSD
from zodiac_sql.language.syntax import Type
from zodiac_sql.language.zones import ZONED, zone_of
from zodiac_sql.read.sparql.solutions import TermForm
from zodiac_sql.read.sparql.values import (
    SparqlValue,
    as_string,
    as_term,
    call,
    native,
    number,
    parsed,
    sparql,
    string,
    term,
)

Values = Sequence[SparqlValue]


def with_language(arguments: Values) -> SparqlValue:
    """STRLANG: a string with a language."""
    characters, language = map(simple, arguments)
    return term(sparql("with_language", characters, language))


def with_datatype(arguments: Values) -> SparqlValue:
    """STRDT: a literal with the datatype that an IRI names."""
    characters, datatype = arguments
    return term(sparql("with_datatype", simple(characters), parsed(datatype)))


def simple(value: SparqlValue) -> exp.Expr:
    """The characters of a string without language; NULL for other values."""
    if value.kind == "string":
        return value.copy
    if value.kind == "term":
        return sparql("simple", value.sql)
    return as_string(value)


def before(arguments: Values) -> SparqlValue:
    """STRBEFORE: what stands in a string before the first occurrence of another."""
    return _split("before", arguments)


def after(arguments: Values) -> SparqlValue:
    """STRAFTER: what stands in a string after the first occurrence of another."""
    return _split("after", arguments)


def _split(side: str, arguments: Values) -> SparqlValue:
    first, second = arguments
    if {first.kind, second.kind} == {"string"}:
        return string(sparql(side, first.sql, second.sql))
    return term(sparql(f"term_{side}", as_term(first), as_term(second)))


def iri(arguments: Values, expression: Any) -> SparqlValue:
    """IRI: the IRI of a text. A relative one is resolved against the BASE of the query."""
    (value,) = arguments
    base = str(expression.get("base") or "")
    if value.kind == "string" and isinstance(value.sql, exp.Literal):
        return term(sparql("iri_of", text(urljoin(base, value.sql.name))))
    if value.kind == "string":
        return term(sparql("iri_of", sparql("resolved", value.sql, text(base))))
    whole = as_term(value)
    return term(sparql("as_iri", whole, sparql("resolved", simple(value), text(base))))


def blank_node(arguments: Values) -> SparqlValue:
    """BNODE: a new blank node."""
    return term(
        exp.DPipe(this=text("_:b"), expression=call("replace", _uuid(), text("-"), text("")))
    )


def uuid_iri(arguments: Values) -> SparqlValue:
    """UUID: a new IRI."""
    return term(exp.DPipe(this=text("urn:uuid:"), expression=_uuid()))


def uuid_text(arguments: Values) -> SparqlValue:
    """STRUUID: the same as a string, without its scheme."""
    return string(_uuid())


def _uuid() -> exp.Expr:
    return exp.cast(call("uuid"), "VARCHAR")


def random_number(arguments: Values) -> SparqlValue:
    """RAND: a double of at least 0 and less than 1."""
    return number(call("random"), 3)


def now(arguments: Values) -> SparqlValue:
    """NOW: the moment at which the query began, in UTC. It is the same in the whole query."""
    moment = call("make_timestamp", call("epoch_us", call("transaction_timestamp")))
    return native(moment, TermForm(Type.TIMESTAMP, ZONED))


def text_function(name: str) -> Callable[[Values], SparqlValue]:
    """A function of DuckDB that makes a string of a string without language."""
    return lambda arguments: string(call(name, simple(arguments[0])))


def encoded(arguments: Values) -> SparqlValue:
    """ENCODE_FOR_URI: a string as a part of an IRI."""
    return string(call("url_encode", as_string(arguments[0])))


def zone(arguments: Values) -> SparqlValue:
    """TZ: the zone of a time as it is written; the empty string if it has none."""
    (value,) = arguments
    if value.kind == "moment":
        return string(_if_bound(value, text(zone_of(value.form.datatype) or "")))
    return string(sparql("zone", parsed(value)))


def time_zone(arguments: Values) -> SparqlValue:
    """TIMEZONE: the zone of a time as an xsd:dayTimeDuration; an error if it has none."""
    return term(sparql("time_zone", zone(arguments).sql))


def _if_bound(value: SparqlValue, result: exp.Expr) -> exp.Expr:
    return exp.Case().when(exp.not_(value.copy.is_(exp.null())), result)


def to_moment(value: SparqlValue) -> SparqlValue:
    """A value cast to xsd:dateTime. A date is its first moment."""
    if value.kind == "moment":
        return value
    if value.kind == "date":
        moment = exp.cast(value.copy, "TIMESTAMP")
        return native(moment, TermForm(Type.TIMESTAMP, f"{XSD}dateTime"))
    return term(sparql("to_moment", parsed(value)))


TERM_MACROS = r"""
CREATE OR REPLACE TEMP MACRO zodiac_sparql_simple(given) AS
    list_transform([given], lambda t:
        CASE WHEN zodiac_sparql_language(t) = '' THEN zodiac_sparql_string(t) END)[1];

CREATE OR REPLACE TEMP MACRO zodiac_sparql_with_language(characters, tag) AS
    list_transform([[characters, tag]], lambda p:
        CASE WHEN p[1] IS NOT NULL AND regexp_full_match(p[2], '[A-Za-z]+(-[A-Za-z0-9]+)*')
             THEN '"' || zodiac.escape_text(p[1]) || '"@' || lower(p[2]) END)[1];

CREATE OR REPLACE TEMP MACRO zodiac_sparql_with_datatype(characters, datatype) AS
    list_transform([{'v': characters, 'd': datatype}], lambda p:
        CASE WHEN p.v IS NULL OR p.d.c <> 'iri' THEN NULL
             WHEN p.d.v = 'http://www.w3.org/2001/XMLSchema#string'
             THEN zodiac.quote_where_needed(p.v)
             ELSE '"' || zodiac.escape_text(p.v) || '"^^<' || p.d.v || '>' END)[1];

-- What stands before, and after, the first occurrence of a text; the empty text if there is none.
CREATE OR REPLACE TEMP MACRO zodiac_sparql_before(characters, other) AS
    list_transform([[characters, other]], lambda p:
        CASE WHEN p[1] IS NULL OR p[2] IS NULL THEN NULL
             WHEN instr(p[1], p[2]) = 0 THEN '' ELSE substr(p[1], 1, instr(p[1], p[2]) - 1) END)[1];

CREATE OR REPLACE TEMP MACRO zodiac_sparql_after(characters, other) AS
    list_transform([[characters, other]], lambda p:
        CASE WHEN p[1] IS NULL OR p[2] IS NULL THEN NULL
             WHEN p[2] = '' THEN p[1] WHEN instr(p[1], p[2]) = 0 THEN ''
             ELSE substr(p[1], instr(p[1], p[2]) + length(p[2])) END)[1];

-- Whether two terms are strings, of which the second has no language, or that of the first.
CREATE OR REPLACE TEMP MACRO zodiac_sparql_are_alike(first, second) AS
    list_transform([[first, second]], lambda p:
        zodiac_sparql_string(p[1]) IS NOT NULL AND zodiac_sparql_string(p[2]) IS NOT NULL
        AND zodiac_sparql_language(p[2]) IN ('', zodiac_sparql_language(p[1])))[1];

-- A part of a string has its language; the text that stands for no occurrence has none.
CREATE OR REPLACE TEMP MACRO zodiac_sparql_term_before(first, second) AS
    list_transform([[first, second]], lambda p:
        CASE WHEN NOT zodiac_sparql_are_alike(p[1], p[2]) THEN NULL
             WHEN NOT contains(zodiac_sparql_string(p[1]), zodiac_sparql_string(p[2])) THEN ''
             ELSE zodiac_sparql_alike(p[1], zodiac_sparql_before(
                 zodiac_sparql_string(p[1]), zodiac_sparql_string(p[2]))) END)[1];

CREATE OR REPLACE TEMP MACRO zodiac_sparql_term_after(first, second) AS
    list_transform([[first, second]], lambda p:
        CASE WHEN NOT zodiac_sparql_are_alike(p[1], p[2]) THEN NULL
             WHEN NOT contains(zodiac_sparql_string(p[1]), zodiac_sparql_string(p[2])) THEN ''
             ELSE zodiac_sparql_alike(p[1], zodiac_sparql_after(
                 zodiac_sparql_string(p[1]), zodiac_sparql_string(p[2]))) END)[1];

CREATE OR REPLACE TEMP MACRO zodiac_sparql_iri_of(given) AS
    list_transform([given], lambda t:
        CASE WHEN regexp_full_match(t, '[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"{}|\\^`]*')
             THEN zodiac.canonical('<' || t || '>') END)[1];

-- An IRI as it is, or the IRI of a resolved text.
CREATE OR REPLACE TEMP MACRO zodiac_sparql_as_iri(given, resolved) AS
    list_transform([[given, resolved]], lambda p:
        CASE WHEN p[1][1] = '<' OR zodiac.looks_like_iri(p[1]) THEN p[1]
             ELSE zodiac_sparql_iri_of(p[2]) END)[1];

-- A text that has no scheme, and is no path that begins at the root or leads upwards, after a base.
CREATE OR REPLACE TEMP MACRO zodiac_sparql_resolved(given, base) AS
    list_transform([[given, base]], lambda p:
        CASE WHEN regexp_matches(p[1], '^[A-Za-z][A-Za-z0-9+.-]*:') THEN p[1]
             WHEN p[2] = '' THEN NULL
             WHEN p[1] = '' OR p[1][1] = '#' THEN regexp_extract(p[2], '^[^#]*') || p[1]
             WHEN p[1][1] NOT IN ('/', '?', '.')
             THEN regexp_extract(p[2], '^[^?#]*/') || p[1] END)[1];

CREATE OR REPLACE TEMP MACRO zodiac_sparql_zone(given) AS
    list_transform([given], lambda t:
        CASE WHEN t.c IN ('moment', 'zoned', 'date', 'zoned date')
             THEN regexp_extract(t.v, '(Z|[+-][0-9]{2}:[0-9]{2})$') END)[1];

CREATE OR REPLACE TEMP MACRO zodiac_sparql_time_zone(given) AS
    list_transform([given], lambda z:
        CASE WHEN z IS NULL OR z = '' THEN NULL
             ELSE '"' || CASE WHEN z IN ('Z', '+00:00', '-00:00') THEN 'PT0S' ELSE
                      CASE z[1] WHEN '-' THEN '-' ELSE '' END || 'PT'
                      || CASE z[2:3] WHEN '00' THEN '' ELSE z[2:3]::INTEGER || 'H' END
                      || CASE z[5:6] WHEN '00' THEN '' ELSE z[5:6]::INTEGER || 'M' END END
                  || '"^^<http://www.w3.org/2001/XMLSchema#dayTimeDuration>' END)[1];

CREATE OR REPLACE TEMP MACRO zodiac_sparql_to_moment(given) AS
    list_transform(list_transform([given], lambda t:
        CASE WHEN t.c IN ('moment', 'zoned') THEN t.v
             WHEN t.c IN ('date', 'zoned date') THEN t.v[1:10] || 'T00:00:00' || t.v[11:]
             WHEN t.c = 'string' THEN t.v END),
        lambda v: CASE WHEN struct_extract(zodiac_sparql_read(v, 'dateTime'), 'm') IS NOT NULL
                       THEN '"' || v || '"^^<http://www.w3.org/2001/XMLSchema#dateTime>' END)[1];
"""
"""Macros for these functions. They use those of macros.py."""
