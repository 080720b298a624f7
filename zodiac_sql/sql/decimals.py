"""Functions of decimals in SQL. They are exact: what has no room is an error, as with integers.

DuckDB adds and subtracts as it should. But it multiplies two DECIMAL(38, 18) in 38 digits, of which
36 are after the point, takes only constants for the places of a rounding, and cuts a text with more
places than there are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.duckdb_errors import TOO_MANY_PLACES
from zodiac_sql.database.statements import once
from zodiac_sql.language.decimals import BEFORE, PLACES
from zodiac_sql.language.syntax import Type

_DECIMAL = SQL_TYPES[Type.DECIMAL]


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _once(build: Callable[..., exp.Expr], *values: exp.Expr) -> exp.Expr:
    return once(values, build, "list_transform", "list_extract")


def _product(a: exp.Expr, b: exp.Expr) -> exp.Expr:
    """The product of two decimals. It is an error if it has too many places."""
    return _once(lambda a, b: product(a, b, exact=True), a, b)


def product(a: exp.Expr, b: exp.Expr, exact: bool = False) -> exp.Expr:
    """The product of two decimals: whole parts and fractions are multiplied by themselves.

    What has too many places is rounded, or if the product is to be `exact`, an error.
    """

    def parts(value: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
        whole = exp.cast(_call("trunc", value.copy()), f"DECIMAL({BEFORE}, 0)")
        left = exp.paren(exp.Sub(this=value.copy(), expression=whole.copy()))
        return whole, exp.cast(left, f"DECIMAL({PLACES}, {PLACES})")

    def times(one: exp.Expr, other: exp.Expr) -> exp.Expr:
        return exp.paren(exp.Mul(this=one.copy(), expression=other.copy()))

    (whole, part), (other_whole, other_part) = parts(a), parts(b)
    small = times(part, other_part)
    kept = exp.cast(small.copy(), _DECIMAL)
    total: exp.Expr = exp.cast(times(whole, other_whole), _DECIMAL)
    for one in (times(whole, other_part), times(part, other_whole), kept):
        total = exp.Add(this=total, expression=one)
    if not exact:
        return exp.paren(total)
    same = exp.cast(kept.copy(), f"DECIMAL(38, {2 * PLACES})").eq(small)
    error = exp.cast(_call("error", exp.Literal.string(TOO_MANY_PLACES)), _DECIMAL)
    known = [value.copy().is_(exp.null()).not_() for value in (a, b)]
    return exp.case().when(same, exp.paren(total)).when(exp.and_(*known), error)


def _rounded(value: exp.Expr, places: exp.Expr | None = None) -> exp.Expr:
    """Half goes away from zero."""
    if places is None:
        return _call("round", value)

    def build(value: exp.Expr, places: exp.Expr) -> exp.Expr:
        case = exp.Case()
        for number in range(-BEFORE, PLACES):
            at = exp.convert(number)
            one = exp.cast(_call("round", value.copy(), at), _DECIMAL)
            case = case.when(places.copy().eq(at.copy()), one)
        case = case.when(places.copy() < exp.convert(-BEFORE), exp.cast(exp.convert(0), _DECIMAL))
        return case.when(places.copy() >= exp.convert(PLACES), value.copy())

    return _once(build, value, places)


def _whole(value: exp.Expr) -> exp.Expr:
    """What stands before the point, if it is an integer of 64 bits."""
    return _try(_call("trunc", value), "BIGINT")


def _of_float(value: exp.Expr) -> exp.Expr:
    """The decimal that is written as a float, if there is one."""

    def build(value: exp.Expr) -> exp.Expr:
        made = _try(exp.cast(value.copy(), "TEXT"), _DECIMAL)
        return exp.case().when(exp.cast(made, "DOUBLE").eq(value.copy()), made.copy())

    return _once(build, value)


WRITTEN = rf"[+-]?([0-9]+([.][0-9]{{0,{PLACES}}}0*)?|[.][0-9]{{1,{PLACES}}}0*)"
"""How a decimal is written. More places than there are have to be zeros."""


def _of_text(value: exp.Expr) -> exp.Expr:
    def build(value: exp.Expr) -> exp.Expr:
        fits = _call("regexp_full_match", value.copy(), exp.Literal.string(WRITTEN))
        return exp.case().when(fits, _try(value.copy(), _DECIMAL))

    return _once(build, value)


def _same(value: exp.Expr) -> exp.Expr:
    return value


def _try(value: exp.Expr, type_: str) -> exp.Expr:
    return exp.TryCast(this=value, to=exp.DataType.build(type_, dialect="duckdb"), safe=True)


def of_decimals(function: str) -> Callable[..., exp.Expr] | None:
    """The function that makes a decimal of decimals and ints, if it needs other SQL."""
    return _OF_DECIMALS.get(function)


_OF_DECIMALS: Mapping[str, Callable[..., exp.Expr]] = {"*": _product, "round": _rounded}

CONVERSIONS: Mapping[tuple[str, Type], Callable[..., exp.Expr]] = {
    ("int", Type.DECIMAL): _whole, ("float", Type.DECIMAL): _same,
    ("decimal", Type.SYMBOL): _of_text, ("decimal", Type.FLOAT): _of_float,
    ("decimal", Type.INT): _same, ("decimal", Type.DECIMAL): _same,
}  # fmt: skip


def with_floats(
    type_: Type | None, arguments: Sequence[exp.Expr], types: Sequence[Type | None]
) -> list[exp.Expr]:
    """The arguments of a function of this type. One that makes floats or moments computes with
    floats.
    """
    if type_ not in (Type.FLOAT, Type.TIMESTAMP):
        return list(arguments)
    return [
        exp.cast(argument, SQL_TYPES[Type.FLOAT]) if given is Type.DECIMAL else argument
        for argument, given in zip(arguments, types, strict=True)
    ]
