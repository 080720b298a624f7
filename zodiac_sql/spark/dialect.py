"""A rule's SELECT, as sql/select.py makes it -> Spark SQL with parameters.

sqlglot writes Spark's dialect. This module translates, node by node, what sqlglot cannot know:
functions that Spark has by another name or computes differently, and the six types. Text from rules
never becomes SQL: each string becomes a parameter (`:p0`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from zodiac_sql.database.statements import once


@dataclass(frozen=True, slots=True)
class SparkStatement:
    """Spark SQL, and the strings that its parameters stand for."""

    text: str
    parameters: Mapping[str, str]


def statement(query: exp.Query) -> SparkStatement:
    """A query in Spark's dialect."""
    tree = query.copy()
    for node in reversed(list(tree.walk())):  # children come before their parents
        translated = _translated(node)
        if translated is not node:  # never the query itself
            node.replace(translated)
    names: dict[str, str] = {}  # each string once, because every parameter costs calls of Java's
    for literal in list(tree.find_all(exp.Literal, bfs=False)):
        if literal.is_string:
            name = names.setdefault(literal.this, f"p{len(names)}")
            literal.replace(exp.Placeholder(this=name))
    return SparkStatement(
        tree.sql(dialect="spark"), {name: string for string, name in names.items()}
    )


def _translated(node: exp.Expr) -> exp.Expr:
    """Translate one node, whose children are translated already."""
    if isinstance(node, exp.DataType) and node.this is exp.DataType.Type.TIMESTAMP:
        return exp.DataType.build("TIMESTAMPNTZ")
    if isinstance(node, exp.DataType) and node.this is exp.DataType.Type.INT128:
        return exp.DataType.build("DECIMAL(38, 0)")
    if isinstance(node, exp.Cast) and isinstance(node.this, exp.Anonymous):
        name, arguments = node.this.name.lower(), node.this.expressions
        if name in _ROUNDED and node.to.this is exp.DataType.Type.DOUBLE:
            return _once(arguments, _ROUNDED[name])
    if isinstance(node, exp.Anonymous):
        name = node.name.lower()
        if name in _RENAMED:
            return exp.Anonymous(this=_RENAMED[name], expressions=node.expressions)
        if name in _BUILT:
            return _once(node.expressions, _BUILT[name])
    if isinstance(node, exp.Avg) and not isinstance(node.this, exp.Order):
        # Spark's avg adds integers as doubles, which loses digits.
        total = exp.cast(exp.Sum(this=node.this), "DOUBLE")
        return exp.paren(exp.Div(this=total, expression=exp.Count(this=exp.Star())))
    if isinstance(node, exp.Sum | exp.Avg) and isinstance(node.this, exp.Order):
        return type(node)(this=node.this.this)
    return node


_RENAMED = {
    "arg_min": "min_by", "arg_max": "max_by", "starts_with": "startswith", "ends_with": "endswith",
    "list_transform": "transform", "list_extract": "element_at", "error": "raise_error",
}  # fmt: skip


def _once(values: Sequence[exp.Expr], build: Callable[..., exp.Expr]) -> exp.Expr:
    return once(values, build, "transform", "element_at")


# --- rounding -------------------------------------------------------------------------------------


def _number(value: int) -> exp.Expr:
    return exp.cast(exp.Literal.number(value), "DOUBLE") if value >= 0 else -_number(-value)


def _whole(name: str) -> Callable[..., exp.Expr]:
    """floor and ceil of a double. Spark makes a bigint; doubles too large for one are whole."""

    def build(value: exp.Expr) -> exp.Expr:
        small = call("abs", value) < _number(2**52)
        inside = exp.cast(call(name, value), "DOUBLE")
        return exp.case().when(small, inside).else_(value.copy())

    return build


def _round(value: exp.Expr, places: exp.Expr | None = None) -> exp.Expr:
    """round as in DuckDB. Spark would round the decimal number by which a double is written."""
    if places is None:
        return call("round", value)
    ten = call("power", _number(10), call("abs", places))
    left = exp.Div(this=call("round", exp.Mul(this=value.copy(), expression=ten)), expression=ten)
    right = exp.Mul(
        this=call("round", exp.Div(this=value.copy(), expression=ten)), expression=ten.copy()
    )
    rounded = exp.case().when(places.copy() < exp.Literal.number(0), right).else_(left)
    infinite = exp.cast(exp.Literal.string("Infinity"), "DOUBLE")
    return exp.case().when(call("abs", rounded) < infinite, rounded.copy()).else_(value.copy())


_ROUNDED: Mapping[str, Callable[..., exp.Expr]] = {
    "floor": _whole("floor"), "ceil": _whole("ceil"), "round": _round,
}  # fmt: skip


# --- text -----------------------------------------------------------------------------------------

# The macros of database/migrations/0001_catalog.sql and DuckDB's substr, in Spark's functions.


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=[argument.copy() for argument in arguments])


def text(value: str) -> exp.Expr:
    return exp.Literal.string(value)


def _joined(*pieces: exp.Expr) -> exp.Expr:
    return call("concat", *pieces)


def _inner(value: exp.Expr) -> exp.Expr:
    """Text without its first and last character."""
    length = exp.Sub(this=call("length", value), expression=exp.Literal.number(2))
    return call("substring", value, exp.Literal.number(2), length)


def _replaced(value: exp.Expr, *pairs: tuple[str, str]) -> exp.Expr:
    for old, new in pairs:
        value = call("replace", value, text(old), text(new))
    return value


def _escaped(value: exp.Expr) -> exp.Expr:
    return _replaced(
        value, ("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")
    )


def _unescaped(value: exp.Expr) -> exp.Expr:
    """Text with its escapes replaced. It is split at double backslashes, which stand for one."""
    piece = exp.to_identifier("piece")
    plain = _replaced(
        exp.column("piece"), ('\\"', '"'), ("\\n", "\n"), ("\\r", "\r"), ("\\t", "\t")
    )
    pieces = call("split", value, text(r"\\\\"), exp.Literal.number(-1))
    each = exp.Anonymous(
        this="transform", expressions=[pieces, exp.Lambda(this=plain, expressions=[piece])]
    )
    some = call("contains", value, text("\\"))
    return exp.case().when(some, call("array_join", each, text("\\"))).else_(value.copy())


def starts(value: exp.Expr, beginning: str) -> exp.Expr:
    return call("startswith", value, text(beginning))


def matches(value: exp.Expr, pattern: str) -> exp.Expr:
    """Whether a whole text matches a Java pattern."""
    return call("regexp_like", value, text(rf"\A(?:{pattern})\z"))


_NOT_IN_IRI = r'[^\t\n\f\r <>"{}|\\^`]'
_BARE_IRI = rf"(?:[A-Za-z][A-Za-z0-9+.-]*://|urn:){_NOT_IN_IRI}*+"
_STRING = r'"(?:[^"\\\n\r]++|\\.)*+"'


def quote_where_needed(value: exp.Expr) -> exp.Expr:
    """The symbol of a string without language or datatype."""
    misread = exp.or_(
        starts(value, "<"), starts(value, '"'), starts(value, "_:"), matches(value, _BARE_IRI)
    )
    quoted = _joined(text('"'), _escaped(value), text('"'))
    return exp.case().when(misread, quoted).else_(value.copy())


def lexical(value: exp.Expr) -> exp.Expr:
    """The string that a symbol stands for, without quotes."""
    string = call("regexp_extract", value, text(r'(?s)\A"(.*)"'), exp.Literal.number(1))
    return (
        exp.case()
        .when(starts(value, '"'), _unescaped(string))
        .when(starts(value, "<"), _inner(value))
        .else_(value.copy())
    )


def canonical(value: exp.Expr) -> exp.Expr:
    """The symbol that some text from outside denotes: an N-Triples term, or a plain string."""
    inner = _inner(value)
    body = call("regexp_extract", value, text(r'(?s)\A"(.*)"'), exp.Literal.number(1))
    language = call("regexp_extract", value, text(r"@[A-Za-z0-9-]*\z"), exp.Literal.number(0))
    string = call("regexp_extract", value, text(r'(?s)\A(".*")@'), exp.Literal.number(1))
    maybe_type = r"(?:\^\^<http://www\.w3\.org/2001/XMLSchema#string>)?"
    iri = (
        exp.case()
        .when(exp.and_(call("endswith", value, text(">")), matches(inner, _BARE_IRI)), inner)
        .when(matches(value, rf"<{_NOT_IN_IRI}*+>"), value.copy())
        .else_(quote_where_needed(value))
    )
    return (
        exp.case()
        .when(exp.not_(exp.or_(starts(value, "<"), starts(value, '"'))), value.copy())
        .when(starts(value, "<"), iri)
        .when(matches(value, _STRING + maybe_type), quote_where_needed(_unescaped(body)))
        .when(
            matches(value, _STRING + "@[A-Za-z][A-Za-z0-9-]*"),
            _joined(string, call("lower", language)),
        )
        .when(matches(value, rf"{_STRING}\^\^<{_NOT_IN_IRI}*+>"), value.copy())
        .else_(quote_where_needed(value))
    )


def _without_fraction(value: exp.Expr) -> exp.Expr:
    """A float cut off at its point, as an integer."""
    negative = value.copy() < exp.Literal.number(0)
    return exp.case().when(negative, call("ceil", value)).else_(call("floor", value))


def _substr(value: exp.Expr, start: exp.Expr, length: exp.Expr | None = None) -> exp.Expr:
    """substr as in DuckDB: the text between two places, in either order, cut at the text's ends.

    Spark treats position 0 differently, and has no negative lengths.
    """
    nought, one = exp.Literal.number(0), exp.Literal.number(1)
    size = call("length", value)
    begin = exp.paren(
        exp.case()
        .when(start.copy() > nought, exp.Sub(this=start.copy(), expression=one))
        .when(start.copy() < nought, exp.Add(this=size, expression=start.copy()))
        .else_(exp.Neg(this=one.copy()))
    )
    end = size if length is None else exp.Add(this=begin, expression=exp.paren(length.copy()))
    first = call("greatest", call("least", begin, end), nought)
    last = call("least", call("greatest", begin, end), size)
    width = call("greatest", exp.Sub(this=last, expression=first), nought)
    position = exp.Add(this=first.copy(), expression=one.copy())
    return call("substring", value, exp.cast(position, "INT"), exp.cast(width, "INT"))


_BUILT: Mapping[str, Callable[..., exp.Expr]] = {
    "zodiac.lexical": lexical, "zodiac.quote_where_needed": quote_where_needed, "substr": _substr,
    "trunc": _without_fraction,
    "struct_extract": lambda struct, name: exp.Dot(
        this=exp.paren(struct), expression=exp.to_identifier(name.this)
    ),
    "regexp_full_match": lambda value, pattern: matches(value, pattern.this),
}  # fmt: skip
