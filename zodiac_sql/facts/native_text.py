"""Native values as RDF literals: the text of a symbol that would be the same literal.

The text is made by an SQL expression without macros, so that a view in the file can have it, too.
"""

from __future__ import annotations

from sqlglot import exp

from zodiac_sql.database.statements import decimal_text, once, text
from zodiac_sql.language.symbols import XSD
from zodiac_sql.language.syntax import Type
from zodiac_sql.language.zones import without_zone, zone_of

_DEFAULTS = {
    Type.INT: f"{XSD}integer", Type.DECIMAL: f"{XSD}decimal", Type.FLOAT: f"{XSD}double",
    Type.BOOL: f"{XSD}boolean", Type.DATE: f"{XSD}date", Type.TIMESTAMP: f"{XSD}dateTime",
}  # fmt: skip


def datatype_of(type_: Type, kept: str | None) -> str:
    """The datatype of a native column, for which Predicate.datatypes has `kept`."""
    return kept or _DEFAULTS[type_]


def wall_clock(value: exp.Expr, datatype: str) -> exp.Expr:
    """What a clock shows, in the zone that is written, at the moment of a native column."""
    zone = zone_of(datatype)
    if zone is None or zone == "Z":
        return value.copy()
    hours, minutes = int(zone[:3]), int(zone[0] + zone[4:])
    shift = exp.Literal.number(abs(60 * hours + minutes))
    offset = _call("to_minutes", exp.Neg(this=shift) if zone[0] == "-" else shift)
    return exp.paren(exp.Add(this=value.copy(), expression=offset))


def literal_text(value: exp.Expr, type_: Type, datatype: str) -> exp.Expr:
    """A native value as a literal in quotes, with its datatype (see `datatype_of`).

    A float of xsd:decimal that cannot be written as one (it is infinite, or too large) becomes an
    xsd:double.
    """
    if type_ is Type.FLOAT:
        return once((value,), lambda v: _float(v, datatype), "list_transform", "list_extract")
    if type_ is Type.DECIMAL:
        return _typed(decimal_text(value.copy()), datatype)
    if type_ is Type.TIMESTAMP:
        written = _joined(_moment(wall_clock(value, datatype)), text(zone_of(datatype) or ""))
        return _typed(written, without_zone(datatype))
    return _typed(_varchar(value), datatype)


def term_text(value: exp.Expr, type_: Type, kept: str | None, declared: bool) -> exp.Expr:
    """A native value as a term of a column that holds terms of all kinds.

    Predicate.datatypes has `kept` for its column. If it came with no datatype, a whole number is an
    int in a column that nobody `declared`: there, ints may have become floats (facts/terms.py).
    """
    written = literal_text(value, type_, datatype_of(type_, kept))
    if type_ not in (Type.DECIMAL, Type.FLOAT) or kept is not None or declared:
        return written
    number = whole_number(value)
    whole = literal_text(number, Type.INT, datatype_of(Type.INT, None))
    return exp.paren(exp.Case().when(number.is_(exp.null()), written).else_(whole))


def whole_number(value: exp.Expr) -> exp.Expr:
    """The int of 64 bits that is equal to a float or decimal; NULL if there is none."""
    is_whole = _call("trunc", value.copy()).eq(value.copy())
    return exp.paren(exp.Case().when(is_whole, _try(value, "BIGINT")))


def decimal_term(value: exp.Expr, declared: bool) -> exp.Expr:
    """A decimal of SQL as such a term, without zeros that say nothing."""
    written = _varchar(value)
    pointed = exp.Case().when(_call("contains", written.copy(), text(".")), written.copy())
    digits = _call("rtrim", pointed.else_(_joined(written.copy(), text("."))), text("0"))
    ends = exp.Case().when(_call("ends_with", digits.copy(), text(".")), _joined(digits, text("0")))
    decimal = _typed(ends.else_(digits.copy()), f"{XSD}decimal")
    if declared:
        return decimal
    number = whole_number(value)
    whole = literal_text(number, Type.INT, datatype_of(Type.INT, None))
    return exp.paren(exp.Case().when(number.is_(exp.null()), decimal).else_(whole))


def _try(value: exp.Expr, type_: str) -> exp.Expr:
    return exp.TryCast(this=value.copy(), to=exp.DataType.build(type_, dialect="duckdb"))


def _float(value: exp.Expr, datatype: str) -> exp.Expr:
    if datatype != f"{XSD}decimal":
        return _typed(_double(value), datatype)
    plain = _varchar(value.copy())
    decimal = exp.DataType.build("DECIMAL(38, 15)", dialect="duckdb")
    tried = exp.TryCast(this=value.copy(), to=decimal)
    kept = exp.cast(tried, "DOUBLE").eq(value.copy())
    cut = _call("rtrim", _varchar(tried.copy()), text("0"))
    fits = _call("isfinite", value.copy())
    short = exp.not_(_call("contains", plain.copy(), text("e")))
    return (
        exp.Case()
        .when(exp.and_(fits, short), _typed(plain, datatype))
        .when(exp.and_(fits.copy(), kept), _typed(cut, datatype))
        .when(
            exp.and_(fits.copy(), _call("contains", plain.copy(), text("e-"))),
            _typed(_small(value, plain), datatype),
        )
        .else_(_typed(_double(value.copy()), f"{XSD}double"))
    )


def _small(value: exp.Expr, plain: exp.Expr) -> exp.Expr:
    """A small number without an exponent, which a decimal cannot have."""
    sign = exp.Case().when(value.copy() < exp.Literal.number(0), text("-")).else_(text(""))
    zeros = exp.cast(_call("split_part", plain.copy(), text("e-"), exp.convert(2)), "INTEGER")
    digits = _call("split_part", plain.copy(), text("e"), exp.convert(1))
    digits = _call("replace", _call("replace", digits, text("."), text("")), text("-"), text(""))
    before = _call("repeat", text("0"), zeros - exp.convert(1))
    return _joined(exp.paren(sign), text("0."), before, _call("rtrim", digits, text("0")))


def _double(value: exp.Expr) -> exp.Expr:
    infinite = exp.Case().when(value.copy() > exp.Literal.number(0), text("INF"))
    return (
        exp.Case()
        .when(_call("isnan", value.copy()), text("NaN"))
        .when(_call("isinf", value.copy()), infinite.else_(text("-INF")))
        .else_(_varchar(value.copy()))
    )


def moment_text(written: exp.Expr, datatype: str) -> exp.Expr:
    """The literal that a native column has for a moment with a zone, if it keeps this zone."""
    zone = _call("zodiac_offset", written.copy())
    clock = _call("left", written.copy(), _call("length", written.copy()) - _call("length", zone))
    moment = exp.cast(clock, "TIMESTAMP")
    return _typed(_joined(_moment(moment), zone.copy()), datatype)


def _moment(value: exp.Expr) -> exp.Expr:
    seconds = _call("strftime", value.copy(), text("%Y-%m-%dT%H:%M:%S"))
    micros = exp.Mod(this=_call("microsecond", value.copy()), expression=exp.convert(1_000_000))
    digits = _call("rtrim", _call("strftime", value.copy(), text("%f")), text("0"))
    fraction = exp.Case().when(micros.eq(0), text("")).else_(_joined(text("."), digits))
    return _joined(seconds, exp.paren(fraction))


def _typed(written: exp.Expr, datatype: str) -> exp.Expr:
    return exp.paren(_joined(text('"'), exp.paren(written), text(f'"^^<{datatype}>')))


def _joined(*parts: exp.Expr) -> exp.Expr:
    first, *others = parts
    for other in others:
        first = exp.DPipe(this=first, expression=other)
    return first


def _varchar(value: exp.Expr) -> exp.Expr:
    return exp.cast(value.copy(), "VARCHAR")


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))
