"""Constants of a query: RDF terms as symbols, and as native values."""

from __future__ import annotations

import datetime
import math
import re
from typing import Any

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.statements import text
from zodiac_sql.facts.load.literals import TYPES
from zodiac_sql.language import symbols
from zodiac_sql.language.decimals import NUMBER, decimal_of
from zodiac_sql.language.moments import date_of
from zodiac_sql.language.syntax import Type
from zodiac_sql.language.zones import in_zone
from zodiac_sql.read.sparql.solutions import TermForm


def symbol(term: Any) -> str:
    """The symbol that a term of rdflib is."""
    from rdflib import Literal, URIRef

    if isinstance(term, URIRef):
        return symbols.iri(str(term))
    assert isinstance(term, Literal)
    return symbols.literal(str(term), term.language or "", str(term.datatype or ""))


def native(term: Any, among: Type | None = None) -> tuple[TermForm, exp.Expr] | None:
    """The native value of a literal, and its form; None if it has none.

    A decimal that has no room, or is looked for `among` floats, is a float.
    """
    from rdflib import Literal

    if not isinstance(term, Literal) or term.datatype is None:
        return None
    datatype, written = str(term.datatype), str(term).strip(" \t\r\n")
    type_ = TYPES.get(datatype)
    if type_ is None:
        return None
    if type_ is Type.TIMESTAMP and (zone := _ZONE.search(written)):
        datatype = in_zone(datatype, zone[0])
    value = _VALUES[type_](written)
    if type_ is Type.DECIMAL and (value is None or among is Type.FLOAT):
        type_, value = Type.FLOAT, _float(written)
    return None if value is None else (TermForm(type_, datatype), value)


_ZONE = re.compile(r"(?:Z|[+-][0-9]{2}:[0-9]{2})$")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_MOMENT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,6})0*)?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})?"
)


def _int(written: str) -> exp.Expr | None:
    if not re.fullmatch(r"[+-]?[0-9]{1,30}", written):
        return None
    value = int(written)
    return exp.cast(_number(str(value)), "BIGINT") if -(2**63) <= value < 2**63 else None


def _decimal(written: str) -> exp.Expr | None:
    try:
        value = decimal_of(written) if re.fullmatch(NUMBER, written) else None
    except OverflowError:
        return None
    return None if value is None else exp.cast(text(f"{value:f}"), SQL_TYPES[Type.DECIMAL])


def _float(written: str) -> exp.Expr | None:
    special = {"INF": math.inf, "+INF": math.inf, "-INF": -math.inf, "NaN": math.nan}
    if written in special:
        return exp.cast(text(str(special[written])), "DOUBLE")
    if not _NUMBER.fullmatch(written) or math.isinf(float(written)):
        return None
    return exp.cast(text(repr(float(written) + 0.0)), "DOUBLE")


def _bool(written: str) -> exp.Expr | None:
    values = {"true": True, "1": True, "false": False, "0": False}
    return exp.convert(values[written]) if written in values else None


def _date(written: str) -> exp.Expr | None:
    try:
        return exp.cast(text(date_of(written).isoformat()), "DATE")
    except ValueError:
        return None


def _moment(written: str) -> exp.Expr | None:
    found = _MOMENT.fullmatch(written)
    if found is None:
        return None
    try:
        moment = datetime.datetime.fromisoformat(
            f"{found[1]}.{(found[2] or '').ljust(6, '0')}{(found[3] or '').replace('Z', '+00:00')}"
        )
        if moment.tzinfo is not None:
            moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None
    return exp.cast(text(moment.isoformat()), "TIMESTAMP")


def _number(written: str) -> exp.Expr:
    return exp.Literal.string(written)


_VALUES = {
    Type.INT: _int, Type.DECIMAL: _decimal, Type.FLOAT: _float, Type.BOOL: _bool, Type.DATE: _date,
    Type.TIMESTAMP: _moment,
}  # fmt: skip
