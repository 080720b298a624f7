"""Terms of mixed columns in SQL: what they are worth, and how they compare.

A term is given by its id, or as a struct that an expression has made. What a struct is of has a
text only if no number, date or boolean is to be written (docs/reference/terms.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.statements import once
from zodiac_sql.database.term_values import (
    BOOL,
    DATE,
    DECIMAL,
    EXACT_TYPE,
    FLOAT,
    VALUE_COLUMNS,
    WHOLE,
    ZONED,
)
from zodiac_sql.facts.native_text import datatype_of, literal_text, whole_number
from zodiac_sql.language.syntax import Type
from zodiac_sql.sql.decimals import product
from zodiac_sql.sql.for_duckdb import VALUE_OF
from zodiac_sql.sql.functions import POSITIVE, built, typed

Build = Callable[..., exp.Expr]
Left = Callable[[exp.Expr, str | exp.DataType], exp.Expr]
"""Marks an expression of a type as one that another engine leaves to DuckDB (for_duckdb.py)."""

TYPES = {
    "text": "TEXT", "sort": "TINYINT", "exact": EXACT_TYPE, "number": "DOUBLE",
    "moment": "TIMESTAMP", "truth": "BOOLEAN",
}  # fmt: skip
"""The fields of a struct, in order."""

STRUCT_TYPE = exp.DataType.build(
    f"STRUCT({', '.join(f'{name} {type_}' for name, type_ in TYPES.items())})", dialect="duckdb"
)

KEY_TYPE = exp.DataType.build(
    "STRUCT(k0 INTEGER, k1 DOUBLE, k2 BOOLEAN, k3 TIMESTAMP, k4 TEXT, k5 TEXT)", dialect="duckdb"
)
"""What puts terms in order (`order_key`)."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a term is worth: an expression for each field of a struct; None where it has none.

    Of a native timestamp the `sort` is None: it has been read from a time with a zone, or without.
    """

    text: exp.Expr | None = None
    sort: exp.Expr | None = None
    exact: exp.Expr | None = None
    number: exp.Expr | None = None
    moment: exp.Expr | None = None
    truth: exp.Expr | None = None


def parts_of_symbol(alias: str) -> Parts:
    """The parts of a term, where the values of symbols are joined under an alias."""
    return Parts(None, *(exp.column(name, table=alias) for name in VALUE_COLUMNS))


def parts_of_text(shown: exp.Expr) -> Parts:
    """The parts of a term whose text is given, where there is no dictionary."""
    return parts_of_struct(_call(VALUE_OF, shown))


def parts_of_struct(struct: exp.Expr) -> Parts:
    """The parts of a struct."""
    return Parts(*(_call("struct_extract", struct.copy(), _text(name)) for name in TYPES))


def parts_of_native(value: exp.Expr, type_: Type | None) -> Parts:
    """The parts of a native value."""
    match type_:
        case Type.INT:
            return Parts(None, _number(WHOLE), _cast(value, EXACT_TYPE), _cast(value, "DOUBLE"))
        case Type.DECIMAL:
            return Parts(None, _number(DECIMAL), value, _cast(value, "DOUBLE"))
        case Type.FLOAT:
            return Parts(None, _number(FLOAT), None, value)
        case Type.BOOL:
            return Parts(None, _number(BOOL), truth=value)
        case Type.DATE:
            return Parts(None, _number(DATE), moment=_cast(value, "TIMESTAMP"))
        case Type.TIMESTAMP:
            return Parts(moment=value)
    raise ValueError(f"{type_} is no native type")


def struct_of(parts: Parts) -> exp.Expr:
    """A struct of parts."""
    fields = [_field(name, _cast(getattr(parts, name), type_)) for name, type_ in TYPES.items()]
    return exp.Struct(expressions=fields)


def native(parts: Parts, type_: Type) -> exp.Expr:
    """The value of a type that is equal to a term; NULL if none is."""
    if type_ is Type.BOOL:
        return _there(parts.truth, type_)
    if type_ is Type.FLOAT:
        return _there(parts.number, type_)
    if type_ is Type.DECIMAL:
        made = built("decimal", type_, [_there(parts.number, Type.FLOAT)], [Type.FLOAT])
        return exp.func("coalesce", _there(parts.exact, type_), made)
    if type_ is Type.DATE:
        day = _is(parts, DATE)
        return exp.case().when(day, _cast(_there(parts.moment, Type.TIMESTAMP), "DATE"))
    if type_ is Type.TIMESTAMP:
        moment = _there(parts.moment, type_)
        return exp.case().when(exp.not_(_is(parts, DATE)), moment) if parts.sort else moment
    return _whole(parts)


def cut_off(parts: Parts) -> exp.Expr:
    """The int that a number is without what follows the point; NULL if there is none."""
    assert parts.exact and parts.number
    number = exp.case().when(parts.exact.copy().is_(exp.null()), parts.number.copy())
    of_exact = built("int", Type.INT, [parts.exact.copy()], [Type.DECIMAL])
    return exp.func("coalesce", of_exact, built("int", Type.INT, [number], [Type.FLOAT]))


def any_moment(parts: Parts) -> exp.Expr:
    """The moment of a date or a time; NULL if the term is neither."""
    return _there(parts.moment, Type.TIMESTAMP)


def text_only(parts: Parts, lexical: exp.Expr) -> exp.Expr:
    """The text of a term that has no native value; NULL for others."""
    assert parts.sort is not None
    return exp.case().when(parts.sort.copy().is_(exp.null()), lexical)


def written(struct: exp.Expr) -> exp.Expr:
    """The text of the symbol that a struct is."""
    return _once((struct,), _written)


def _written(struct: exp.Expr) -> exp.Expr:
    parts = parts_of_struct(struct)
    assert parts.text and parts.sort and parts.exact and parts.number
    is_small = exp.case().when(_is_exact_int(parts.number), _int(parts))
    int_ = is_small.else_(_cast(parts.exact, "BIGINT"))  # it takes fifty times as long
    whole = literal_text(int_, Type.INT, datatype_of(Type.INT, None))
    case = exp.Case(this=parts.sort.copy()).when(_number(WHOLE), whole)
    decimal = literal_text(parts.exact, Type.DECIMAL, datatype_of(Type.DECIMAL, None))
    case = case.when(_number(DECIMAL), decimal)
    double = literal_text(parts.number.copy(), Type.FLOAT, datatype_of(Type.FLOAT, None))
    return exp.func("coalesce", parts.text, case.when(_number(FLOAT), double))


# --- comparisons ----------------------------------------------------------------------------------


def ordered(build: Build, a: Parts, b: Parts, texts: exp.Expr | None) -> exp.Expr:
    """A comparison of two terms by value, built by an operator; NULL where there is none.

    `texts` is the comparison of what they mean, if both can be texts.
    """
    found = [*_of_numbers(build, a, b), *_of_moments(build, a, b)]
    if a.truth and b.truth:
        found.append(build(a.truth.copy(), b.truth.copy()))
    if texts is not None and a.sort and b.sort:
        both = exp.and_(*(one.sort.copy().is_(exp.null()) for one in (a, b) if one.sort))
        found.append(exp.case().when(both, texts))
    if not found:
        return exp.cast(exp.null(), "BOOLEAN")
    return exp.func("coalesce", *found) if len(found) > 1 else found[0]


def equal(a: Parts, b: Parts) -> exp.Expr:
    """Whether two terms have the same value; false where they have none to compare."""
    same = ordered(lambda x, y: exp.EQ(this=x, expression=y), a, b, None)
    return exp.func("coalesce", same, exp.false())


def _of_numbers(build: Build, a: Parts, b: Parts) -> list[exp.Expr]:
    """Exactly, if both are exact; else as floats."""
    found = []
    if a.exact and b.exact:
        found.append(build(a.exact.copy(), b.exact.copy()))
    if a.number and b.number:
        found.append(build(a.number.copy(), b.number.copy()))
    return found


def _of_moments(build: Build, a: Parts, b: Parts) -> list[exp.Expr]:
    """Those with a time zone have no order with those without."""
    if not (a.moment and b.moment):
        return []
    compared = build(a.moment.copy(), b.moment.copy())
    if not (a.sort and b.sort):
        return [compared]
    zoned = [
        exp.paren(exp.EQ(this=one.copy(), expression=_number(ZONED))) for one in (a.sort, b.sort)
    ]
    return [exp.case().when(exp.EQ(this=zoned[0], expression=zoned[1]), compared)]


def better(build: Build, a: Parts, b: Parts, first: exp.Expr, second: exp.Expr) -> exp.Expr:
    """The first of two structs, or where its parts do not compare so with the other ones, the
    second. NULL unless both are numbers, or moments that have an order.
    """
    compared = ordered(build, replace(a, truth=None), replace(b, truth=None), None)
    return exp.Case(this=compared).when(exp.true(), first).when(exp.false(), second)


# --- arithmetic -----------------------------------------------------------------------------------

COMPUTED = frozenset(("+", "-", "*", "%", "abs", "round", "floor", "ceil"))
"""Functions of numbers whose value is a number of the same kind."""


def computed_term(function: str, operands: Sequence[Parts], places: Sequence[exp.Expr]) -> Parts:
    """What one of the COMPUTED functions makes of terms; without a number if one of them has none.

    `places` are other arguments: ints.
    """

    def computed(type_: Type, values: Sequence[exp.Expr]) -> exp.Expr:
        types = [*(type_ for _ in operands), *(Type.INT for _ in places)]
        return built(function, type_, [*(v.copy() for v in (*values, *places))], types)

    def as_float(*values: exp.Expr) -> exp.Expr:
        return typed(Type.FLOAT, computed(Type.FLOAT, values), function in POSITIVE)

    numbers = [_there(one.number, Type.FLOAT) for one in operands]
    exacts = [one.exact for one in operands if one.exact]
    if len(exacts) < len(operands):
        return Parts(None, _number(FLOAT), None, as_float(*numbers))
    exact = _once(exacts, product) if function == "*" else computed(Type.DECIMAL, exacts)
    exact = _call("try", _cast(exact, EXACT_TYPE))
    sorts = [one.sort.copy() for one in operands if one.sort]
    widest = exp.func("greatest", *sorts) if len(sorts) > 1 else sorts[0]

    def number(*values: exp.Expr) -> exp.Expr:
        # To make a float of an exact number takes fifty times as long as to add two floats.
        as_ints = exp.and_(
            widest.eq(_number(WHOLE)), *map(_is_exact_int, (*values, as_float(*values)))
        )
        nearest = exp.func("coalesce", _cast(exact, "DOUBLE"), as_float(*values))
        return exp.case().when(as_ints, as_float(*values)).else_(nearest)

    return _of_its_sort(Parts(None, widest, exact, _once(numbers, number)))


def aggregated_numbers(function: str, structs: exp.Expr, left: Left) -> exp.Expr:
    """The SUM of the numbers among terms as a struct, or their AVG or MED as a float.

    The terms are given as structs. Sums of floats have a fixed order: equal facts give equal sums.
    What is `left` to DuckDB is marked so.
    """
    parts = parts_of_struct(structs)
    assert parts.sort and parts.exact and parts.number
    ordered_ = exp.Order(this=parts.number, expressions=[exp.Ordered(this=parts.number.copy())])
    if function == "med":
        return typed(Type.FLOAT, _call("median", parts.number.copy()))
    if function == "avg":
        return typed(Type.FLOAT, exp.Avg(this=ordered_))
    is_number = parts.number.copy().is_(exp.null()).not_()
    widest = exp.Max(this=exp.case().when(is_number, parts.sort.copy()))
    exacts, numbers = (exp.Count(this=p.copy()) for p in (parts.exact, parts.number))
    exact = exp.case().when(exacts.eq(numbers), exact_sum(parts.exact, left))
    number = exp.func("coalesce", _cast(exact, "DOUBLE"), exp.Sum(this=ordered_))
    total = number_or_none(_of_its_sort(Parts(None, widest, exact, number)))
    return left(total, STRUCT_TYPE)


def exact_sum(exact: exp.Expr, left: Left) -> exp.Expr:
    """The sum of exact numbers; NULL if it has more than 20 digits before the point."""
    whole = _cast(_call("trunc", exact.copy()), "HUGEINT")
    fraction = _cast(exp.Sub(this=exact.copy(), expression=_call("trunc", exact)), EXACT_TYPE)
    fractions = _call("sum", left(fraction, EXACT_TYPE))
    carried = _cast(_call("trunc", fractions.copy()), "HUGEINT")
    wholes = _call("sum", left(whole, "DECIMAL(38, 0)"))
    total = exp.paren(exp.Add(this=_cast(wholes, "HUGEINT"), expression=carried))
    rest = exp.paren(exp.Sub(this=fractions, expression=_cast(carried, EXACT_TYPE)))
    # DuckDB has no aggregates in the body of a lambda, where `once` puts all but the first value.
    both = exp.Struct(expressions=[_field("whole", total), _field("rest", rest)])
    joined = exp.Lambda(this=_joined(exp.column("p")), expressions=[exp.to_identifier("p")])
    found = _call("list_transform", exp.Array(expressions=[both]), joined)
    return _call("list_extract", found, _number(1))


def _field(name: str, value: exp.Expr) -> exp.Expr:
    return exp.PropertyEQ(this=exp.to_identifier(name), expression=value)


def _joined(both: exp.Expr) -> exp.Expr:
    """A whole number and the rest, which may have another sign, as one number."""
    whole, rest = (_call("struct_extract", both.copy(), _text(n)) for n in ("whole", "rest"))
    zero, limit = exp.Literal.number(0), exp.Literal.number(10**20)
    one = exp.case().when(exp.and_(whole.copy() > zero, rest.copy() < zero), _number(1))
    one = one.when(exp.and_(whole.copy() < zero, rest.copy() > zero), exp.Neg(this=_number(1)))
    moved = exp.paren(one.else_(_number(0)))
    before = exp.paren(exp.Sub(this=whole.copy(), expression=moved))
    after = exp.paren(exp.Add(this=rest.copy(), expression=_cast(moved, EXACT_TYPE)))
    total = exp.Add(this=_cast(before, EXACT_TYPE), expression=after)
    return exp.case().when(_call("abs", before.copy()) < limit, total)


def order_key(parts: Parts, lexical: exp.Expr, symbol: exp.Expr) -> exp.Expr:
    """What puts terms of all kinds in order: numbers, booleans, dates and times, then all others by
    what they mean. Terms of the same value are in the order of their texts.
    """
    rank = exp.case()
    for place, part in enumerate((parts.number, parts.truth, parts.moment)):
        if part:
            rank = rank.when(part.copy().is_(exp.null()).not_(), _number(place))
    keys = (rank.else_(_number(3)), parts.number, parts.truth, parts.moment, lexical, symbol)
    fields = [
        exp.PropertyEQ(this=exp.to_identifier(f"k{place}"), expression=key.copy())
        for place, key in enumerate(keys)
        if key
    ]
    return exp.Struct(expressions=fields)


def number_or_none(parts: Parts) -> exp.Expr:
    """A struct of a number, or NULL."""
    assert parts.number
    return exp.case().when(parts.number.copy().is_(exp.null()).not_(), struct_of(parts))


def _of_its_sort(parts: Parts) -> Parts:
    """A number whose `sort` is right: what is not exact is a float, and no int has over 64 bits."""
    assert parts.sort and parts.exact
    sort = exp.case().when(parts.exact.copy().is_(exp.null()), _number(FLOAT))
    low, high = (_cast(_text(str(end)), EXACT_TYPE) for end in (-(2**63), 2**63 - 1))
    has_64_bits = exp.Between(this=parts.exact.copy(), low=low, high=high)
    beyond = exp.and_(parts.sort.copy().eq(_number(WHOLE)), exp.not_(has_64_bits))
    return replace(parts, sort=sort.when(beyond, _number(DECIMAL)).else_(parts.sort))


# --- in SQL ---------------------------------------------------------------------------------------


def _whole(parts: Parts) -> exp.Expr:
    """The integer of 64 bits that is equal to a number; NULL if none is."""
    if not (parts.exact and parts.number):
        number = parts.exact or parts.number
        return whole_number(number) if number else exp.cast(exp.null(), "BIGINT")
    case = exp.case()
    if parts.sort:
        case = case.when(exp.and_(_is(parts, WHOLE), _is_exact_int(parts.number)), _int(parts))
    case = case.when(parts.exact.copy().is_(exp.null()), whole_number(parts.number))
    return case.else_(whole_number(parts.exact))


def _is_exact_int(number: exp.Expr) -> exp.Expr:
    """Whether the float of an int can be of no other int."""
    return _call("abs", number.copy()) < exp.cast(_text(str(2**53)), "DOUBLE")


def _int(parts: Parts) -> exp.Expr:
    return _cast(parts.number, "BIGINT")


def _is(parts: Parts, sort: int) -> exp.Expr:
    return parts.sort.copy().eq(_number(sort)) if parts.sort else exp.false()


def _there(value: exp.Expr | None, type_: Type) -> exp.Expr:
    return exp.cast(exp.null(), SQL_TYPES[type_]) if value is None else value.copy()


def _cast(value: exp.Expr | None, type_: str) -> exp.Expr:
    to = exp.DataType.build(type_, dialect="duckdb")
    return exp.Cast(this=exp.null() if value is None else value.copy(), to=to)


def _once(values: Sequence[exp.Expr], build: Callable[..., exp.Expr]) -> exp.Expr:
    return once(values, build, "list_transform", "list_extract")


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _text(value: str) -> exp.Expr:
    return exp.Literal.string(value)


def _number(value: int) -> exp.Expr:
    return exp.Literal.number(value)
