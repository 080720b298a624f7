"""Values of expressions, with what is known of them before the query runs. NULL is an error."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.statements import text
from zodiac_sql.database.term_values import EXACT_TYPE, FLOAT
from zodiac_sql.facts.native_text import literal_text
from zodiac_sql.language.symbols import XSD
from zodiac_sql.language.syntax import Type
from zodiac_sql.language.zones import is_zoned
from zodiac_sql.read.sparql import terms
from zodiac_sql.read.sparql.solutions import TEXT, TermForm, unbound

Kind = Literal["term", "number", "string", "bool", "date", "moment"]

_KINDS: dict[Type, Kind] = {
    Type.INT: "number", Type.DECIMAL: "number", Type.FLOAT: "number", Type.BOOL: "bool",
    Type.DATE: "date",
    Type.TIMESTAMP: "moment",
}  # fmt: skip

_RANKS = {f"{XSD}decimal": 1, f"{XSD}float": 2, f"{XSD}double": 3}
_DATATYPES = {0: "integer", 1: "decimal", 2: "float", 3: "double"}


@dataclass(frozen=True, slots=True)
class DictionaryRow:
    """What the dictionary has of a symbol, in SQL."""

    text: exp.Expr
    kind: exp.Expr
    sort: exp.Expr
    exact: exp.Expr
    number: exp.Expr
    moment: exp.Expr


@dataclass(frozen=True, slots=True)
class SparqlValue:
    """An SQL expression, and what it stands for.

    term      any term, by its text
    string    a literal without language or datatype: its characters
    the rest  native values; `form` is theirs

    A number whose type is not known has its rank as SQL: 0 integer, 1 decimal, 2 float, 3 double.
    Then its `sql` is a float, and `exact` the same exactly: NULL if it is a float, or has no room.
    """

    kind: Kind
    sql: exp.Expr
    form: TermForm = TEXT
    rank: exp.Expr | None = None
    exact: exp.Expr | None = None
    known: bool = False
    """Whether it is a constant, or a variable that every solution has."""
    written: exp.Expr | None = None
    """The term as the query has it, if it is a constant: 01 and 1 are one number and two terms."""
    row: DictionaryRow | None = None
    """What the dictionary has of a term."""

    @property
    def static_rank(self) -> int | None:
        """The rank of a number, if it is known."""
        if self.rank is not None:
            return None
        return _RANKS.get(self.form.datatype, 0)

    @property
    def is_decimal(self) -> bool:
        """Whether it is a number that SQL computes with exactly, as a decimal."""
        return self.rank is None and self.form.type is Type.DECIMAL

    @property
    def ranked(self) -> exp.Expr:
        """The rank of a number in SQL."""
        if self.rank is not None:
            return self.rank.copy()
        known = exp.convert(_RANKS.get(self.form.datatype, 0))
        return exp.Case().when(exp.not_(self.sql.copy().is_(exp.null())), known)

    @property
    def copy(self) -> exp.Expr:
        return self.sql.copy()


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A call of a function of DuckDB, or of one of macros.py."""
    return exp.Anonymous(this=name, expressions=[argument.copy() for argument in arguments])


def sparql(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A call of a macro of macros.py."""
    return call(f"zodiac_sparql_{name}", *arguments)


def catalogued(name: str, argument: exp.Expr) -> exp.Expr:
    """A call of a macro of the catalog."""
    return exp.Dot(this=exp.to_identifier("zodiac"), expression=call(name, argument))


def error() -> SparqlValue:
    """The value that there never is."""
    return SparqlValue("term", unbound(TEXT))


def boolean(sql: exp.Expr) -> SparqlValue:
    return SparqlValue("bool", exp.paren(sql), TermForm(Type.BOOL, f"{XSD}boolean"))


def string(sql: exp.Expr) -> SparqlValue:
    return SparqlValue("string", sql)


def term(sql: exp.Expr) -> SparqlValue:
    return SparqlValue("term", sql)


def number(sql: exp.Expr, rank: int | exp.Expr, exact: exp.Expr | None = None) -> SparqlValue:
    """A number of some rank, which may be SQL; then it may have an exact value."""
    if isinstance(rank, int):
        type_ = Type.FLOAT if rank else Type.INT
        return SparqlValue("number", sql, TermForm(type_, XSD + _DATATYPES[rank]))
    return SparqlValue("number", sql, rank=rank, exact=exact)


def decimal(sql: exp.Expr) -> SparqlValue:
    """A number that is an exact decimal."""
    made = exp.cast(sql, SQL_TYPES[Type.DECIMAL])
    return SparqlValue("number", made, TermForm(Type.DECIMAL, f"{XSD}decimal"))


def exactly(sql: exp.Expr | None, number_: exp.Expr, rank: exp.Expr) -> SparqlValue:
    """A number of a rank that only SQL knows: exactly where it has room, else as a float."""
    if sql is None:
        return number(number_, rank)
    exact = call("try", exp.cast(sql, EXACT_TYPE))
    return number(call("coalesce", exp.cast(exact, "DOUBLE"), number_), rank, exact)


def exact_of(value: SparqlValue) -> exp.Expr | None:
    """The exact value of a number, in SQL; None if it is a float."""
    if value.rank is not None:
        return value.exact and value.exact.copy()
    if value.form.type in (Type.INT, Type.DECIMAL):
        return exp.cast(value.copy, EXACT_TYPE)
    return sparql("as_decimal", value.sql) if value.static_rank == 1 else None


def native(sql: exp.Expr, form: TermForm, known: bool = False) -> SparqlValue:
    """A value of a column with native values."""
    assert form.type is not None
    return SparqlValue(_KINDS[form.type], sql, form, known=known)


def constant(given: Any) -> SparqlValue:
    """The value of an IRI or a literal of rdflib."""
    if (found := terms.native(given)) is not None:
        value = native(found[1], found[0], known=True)
        return replace(value, written=text(terms.symbol(given)))
    from rdflib import Literal

    plain = isinstance(given, Literal) and not given.language
    if plain and str(given.datatype or f"{XSD}string") == f"{XSD}string":
        return replace(string(text(str(given))), known=True)
    return replace(term(text(terms.symbol(given))), known=True)


def as_term(value: SparqlValue) -> exp.Expr:
    """The text of the term that a value is."""
    if value.kind == "term":
        return value.copy
    if value.written is not None:
        return value.written.copy()
    if value.kind == "string":
        return catalogued("quote_where_needed", value.sql)
    if value.rank is not None:
        return sparql("numeral", value.sql, value.exact or exp.null(), value.rank)
    assert value.form.type is not None
    return literal_text(value.copy, value.form.type, value.form.datatype)


def parsed(value: SparqlValue) -> exp.Expr:
    """All that is known of the term that a value is."""
    row = value.row
    if row is None:
        return sparql("parsed", as_term(value))
    return sparql("known", row.text, row.kind, row.sort, row.exact, row.number, row.moment)


def as_number(value: SparqlValue) -> SparqlValue:
    """A value as a number; an error if it is none."""
    if value.kind == "number":
        return value
    if value.kind == "term":
        rank = sparql("rank", parsed(value))
        return number(_number(value, "n"), rank, _number(value, "e"))
    return number(exp.cast(exp.null(), "DOUBLE"), 0)


def _number(value: SparqlValue, field: str) -> exp.Expr:
    """The number that a term is: as a float n, or exactly e. What the dictionary has no value of is
    parsed.
    """
    if value.row is None:
        return call("struct_extract", parsed(value), text(field))
    rest = call("struct_extract", sparql("parsed", value.sql), text(field))
    there = value.row.number if field == "n" else value.row.exact
    unknown = exp.and_(value.row.sort.copy().is_(exp.null()), value.row.kind.eq(text("literal")))
    return exp.case().when(_is_number(value.row), there.copy()).when(unknown, rest)


def _is_number(row: DictionaryRow) -> exp.Expr:
    return exp.paren(row.sort.copy() <= exp.convert(FLOAT))


def as_string(value: SparqlValue) -> exp.Expr:
    """The characters of a string with or without language; an error for other values."""
    if value.kind == "string":
        return value.copy
    if value.kind == "term":
        return sparql("string", value.sql)
    return unbound(TEXT)


def truth(value: SparqlValue) -> exp.Expr:
    """The effective boolean value."""
    if value.kind == "bool":
        return value.copy
    if value.kind == "number":
        return sparql("nonzero", value.sql)
    if value.kind == "string":
        return exp.paren(value.copy.neq(text("")))
    if value.kind == "term":
        return sparql("truth", parsed(value))
    return exp.cast(exp.null(), "BOOLEAN")


def equal(first: SparqlValue, second: SparqlValue) -> exp.Expr:
    """Whether two values are equal: NULL where SPARQL has an error."""
    if "term" in (first.kind, second.kind):
        same = sparql("equal", parsed(first), parsed(second))
        one, other = (first, second) if first.kind == "term" else (second, first)
        if one.row is None or other.kind != "number":
            return same
        row = number(one.row.number, one.row.sort, one.row.exact)
        return exp.case().when(_is_number(one.row), _numbers("=", row, other)).else_(same)
    if first.kind != second.kind:
        return _unless_null(first, second, exp.false())
    if _mixed_zones(first, second):
        return exp.paren(_apart(first, second).eq(exp.convert(0)))
    if _may_be_nan(first, second):
        return _numbers("=", first, second)
    return exp.paren(first.copy.eq(second.copy))


_ORDERS: dict[str, tuple[type[exp.Binary], tuple[int, ...]]] = {
    "=": (exp.EQ, (0,)), "<": (exp.LT, (-1,)), "<=": (exp.LTE, (-1, 0)), ">": (exp.GT, (1,)),
    ">=": (exp.GTE, (0, 1)),
}  # fmt: skip


def _numbers(op: str, first: SparqlValue, second: SparqlValue) -> exp.Expr:
    """A comparison of numbers that may be NaN: exactly, if both have room; else as floats."""
    operator, signs = _ORDERS[op]
    order = sparql("number_order", first.sql, second.sql)
    as_floats = exp.paren(order.isin(*map(exp.convert, signs)))
    exact, other = exact_of(first), exact_of(second)
    if exact is None or other is None:
        return as_floats
    return call("coalesce", operator(this=exact, expression=other), as_floats)


def ordered(op: str, first: SparqlValue, second: SparqlValue) -> exp.Expr:
    """Whether two values stand in an order: NULL where SPARQL has an error."""
    operator, signs = _ORDERS[op]
    if {first.kind, second.kind} == {"term", "number"}:
        first, second = as_number(first), as_number(second)
    if "term" in (first.kind, second.kind):
        sign = sparql("order", parsed(first), parsed(second))
    elif first.kind != second.kind:
        return exp.cast(exp.null(), "BOOLEAN")
    elif _mixed_zones(first, second):
        sign = _apart(first, second)
    elif _may_be_nan(first, second):
        return _numbers(op, first, second)
    else:
        return exp.paren(operator(this=first.copy, expression=second.copy))
    return exp.paren(sign.isin(*map(exp.convert, signs)))


def _may_be_nan(first: SparqlValue, second: SparqlValue) -> bool:
    """Whether one of two numbers may be NaN: a decimal or an integer is not."""
    ranks = (first.static_rank, second.static_rank)
    return first.kind == "number" and any(rank is None or rank > 1 for rank in ranks)


def _mixed_zones(first: SparqlValue, second: SparqlValue) -> bool:
    """Whether one of two moments is an instant, and the other is in no time zone."""
    zones = {is_zoned(value.form.datatype) for value in (first, second)}
    return first.kind == "moment" and len(zones) == 2


def _apart(first: SparqlValue, second: SparqlValue) -> exp.Expr:
    """The order of an instant and a moment in no time zone; NULL unless they are far apart."""
    if is_zoned(first.form.datatype):
        return sparql("apart", first.sql, second.sql)
    return exp.Neg(this=sparql("apart", second.sql, first.sql))


def _unless_null(first: SparqlValue, second: SparqlValue, result: exp.Expr) -> exp.Expr:
    both = exp.and_(*(exp.not_(value.copy.is_(exp.null())) for value in (first, second)))
    return exp.Case().when(both, result)
