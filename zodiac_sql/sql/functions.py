"""How constants, operators and functions of the language are written in SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.statements import decimal_text, once, without_sign_of_zero
from zodiac_sql.language.binding import calls
from zodiac_sql.language.functions import Functions
from zodiac_sql.language.syntax import Constant, Expression, Type
from zodiac_sql.sql import decimals
from zodiac_sql.sql.moment_functions import OF_MOMENTS


def python_function(name: str) -> str:
    """The name in SQL of a function registered from Python, apart from DuckDB's own."""
    return f"py_{name}"


def python_call_if_there(name: str, arguments: Sequence[exp.Expr]) -> exp.Expr:
    """A call of a registered function; it is only made if all arguments have values."""

    def build(*values: exp.Expr) -> exp.Expr:
        there = exp.and_(*(value.copy().is_(exp.null()).not_() for value in values))
        return exp.case().when(there, python_call(name, values))

    return _once(build, *arguments)


def python_call(name: str, arguments: Sequence[exp.Expr]) -> exp.Expr:
    """A call of a registered function. Its name is quoted, so that no script's case is changed."""
    named = exp.to_identifier(python_function(name), quoted=True)
    return exp.Anonymous(this=named, expressions=list(arguments))


def literal(constant: Constant) -> exp.Expr:
    """A native constant in SQL."""
    value = constant.value
    if isinstance(value, bool):
        return exp.true() if value else exp.false()
    if isinstance(value, int):
        number = exp.Literal.number(abs(value))
        return exp.cast(exp.Neg(this=number) if value < 0 else number, SQL_TYPES[constant.type])
    if isinstance(value, Decimal):
        value = f"{value:f}"
    # From a text DuckDB reads the nearest float; it would read a literal as a DECIMAL first.
    return exp.cast(exp.Literal.string(str(value)), SQL_TYPES[constant.type])


OPERATORS: Mapping[str, type[exp.Binary]] = {
    "=": exp.EQ, "!=": exp.NEQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE,
}  # fmt: skip


def _once(build: Callable[..., exp.Expr], *values: exp.Expr) -> exp.Expr:
    return once(values, build, "list_transform", "list_extract")


def _binary(kind: type[exp.Binary]) -> Callable[..., exp.Expr]:
    return lambda a, b: exp.paren(kind(this=a, expression=b), copy=False)


def _divided(kind: type[exp.Binary]) -> Callable[..., exp.Expr]:
    """Division by zero has no value, here as in Spark."""

    def build(a: exp.Expr, b: exp.Expr) -> exp.Expr:
        divisor = b if _size(b) else _once(_unless_zero, b)
        return exp.paren(kind(this=a, expression=divisor), copy=False)

    return build


def _size(value: exp.Expr) -> float | None:
    """The absolute value of a number that is a constant."""
    number = value.this if isinstance(value, exp.Cast) else value
    number = number.this if isinstance(number, exp.Neg) else number
    return abs(float(number.this)) if isinstance(number, exp.Literal) else None


def _unless_zero(value: exp.Expr) -> exp.Expr:
    """The value, or NULL for zero. DuckDB writes it twice, so callers give it a name first."""
    return exp.Nullif(this=value, expression=exp.Literal.number(0))


def _remainder_whole(a: exp.Expr, b: exp.Expr) -> exp.Expr:
    """The remainder of integers. By 1 it is that by -1, of which DuckDB takes the least integer for
    an overflow.
    """

    def without(value: exp.Expr) -> exp.Expr:
        case = exp.Case(this=value).when(exp.Literal.number(0), exp.null())
        return case.when(exp.Neg(this=exp.Literal.number(1)), exp.Literal.number(1)).else_(
            value.copy()
        )

    size = _size(b)
    divisor = exp.Literal.number(1) if size == 1 else b if size else _once(without, b)
    return exp.paren(exp.Mod(this=a, expression=divisor), copy=False)


def _power(base: exp.Expr, exponent: exp.Expr) -> exp.Expr:
    """A power, where there is one: 0 has none that is negative, and a negative number only whole
    ones.
    """

    def build(a: exp.Expr, b: exp.Expr) -> exp.Expr:
        zero = exp.Literal.number(0)
        infinite = exp.cast(exp.Literal.string("-Infinity"), "DOUBLE")
        whole = exp.cast(exp.Anonymous(this="floor", expressions=[b.copy()]), "DOUBLE")
        of_zero = exp.and_(a.copy().eq(zero), b.copy() < zero.copy())
        root = exp.and_(
            a.copy() < zero.copy(), a.copy() > infinite, exp.NEQ(this=b.copy(), expression=whole)
        )
        none = exp.or_(of_zero, root)
        power = exp.Anonymous(this="power", expressions=[a, b])
        return exp.case().when(none, exp.null()).else_(power)

    size = _size(exponent)
    if size is not None and size.is_integer() and not exponent.find(exp.Neg):
        return exp.Anonymous(this="power", expressions=[base, exponent])
    return _once(build, *(exp.cast(value, "DOUBLE") for value in (base, exponent)))


def _function(name: str) -> Callable[..., exp.Expr]:
    return lambda *arguments: exp.Anonymous(this=name, expressions=list(arguments))


def may_lack(value: exp.Expr) -> bool:
    """Whether a value may be NULL: that of an expression that no BIND has named."""
    return not isinstance(value, exp.Column) and value.find(exp.Column) is not None


def _extreme(name: str) -> Callable[..., exp.Expr]:
    """LEAST or GREATEST. SQL passes over what has no value; here the call has none then."""

    def apply(*arguments: exp.Expr) -> exp.Expr:
        unsure = [may_lack(argument) for argument in arguments]

        def build(*values: exp.Expr) -> exp.Expr:
            there = [
                value.copy().is_(exp.null()).not_()
                for value, lacks in zip(values, unsure, strict=True)
                if lacks
            ]
            found = exp.Anonymous(this=name, expressions=list(values))
            return exp.case().when(exp.and_(*there), found) if there else found

        return _once(build, *arguments)

    return apply


def _where(kind: type[exp.Binary], name: str) -> Callable[..., exp.Expr]:
    """A function that has a value only where its argument compares so with zero."""

    def build(a: exp.Expr) -> exp.Expr:
        inside = kind(this=a.copy(), expression=exp.Literal.number(0))
        return exp.case().when(inside, exp.Anonymous(this=name, expressions=[a]))

    return lambda a: _once(build, a)


def _up_to(limit: int, value: exp.Expr) -> exp.Expr:
    """A number of places or letters, cut to a limit of DuckDB above which more change nothing."""
    size = _size(value)
    if size is not None and size <= limit:
        return value
    most, least = exp.Literal.number(limit), exp.Neg(this=exp.Literal.number(limit))

    def build(number: exp.Expr) -> exp.Expr:  # LEAST would take NULL for no number at all
        case = exp.case().when(number.copy() > most, most.copy())
        return case.when(number.copy() < least, least.copy()).else_(number.copy())

    return _once(build, value)


def _rounded(value: exp.Expr, places: exp.Expr | None = None) -> exp.Expr:
    """Round a float to at most 400 places, as DuckDB 1.5 did: no float has more.

    The product with a power of ten is rounded, so round(2.675, 2) is 2.68. DuckDB 2 rounds what the
    float really is, 2.67, and what a file holds would not follow from its rules any more.
    """
    if places is None:
        return exp.Anonymous(this="round", expressions=[value])
    counted = _up_to(400, places)
    power = [
        exp.cast(exp.Literal.number(10), "DOUBLE"),
        exp.Anonymous(this="abs", expressions=[counted]),
    ]
    ten = exp.Anonymous(this="pow", expressions=power)
    infinite = exp.cast(exp.Literal.string("Infinity"), "DOUBLE")

    def is_finite(number: exp.Expr) -> exp.Expr:
        return exp.Anonymous(this="abs", expressions=[number.copy()]) < infinite.copy()

    def whole(number: exp.Expr) -> exp.Expr:
        return exp.Anonymous(this="round", expressions=[number])

    def build(a: exp.Expr) -> exp.Expr:
        after = exp.Div(this=whole(exp.Mul(this=a.copy(), expression=ten.copy())), expression=ten)
        before = exp.Mul(
            this=whole(exp.Div(this=a.copy(), expression=ten.copy())), expression=ten.copy()
        )
        zero = exp.cast(exp.Literal.number(0), "DOUBLE")
        nothing = exp.Is(this=places.copy(), expression=exp.null())
        case = exp.case().when(nothing, exp.null())
        case = case.when(exp.func("coalesce", exp.not_(is_finite(a)), exp.true()), a.copy())
        case = case.when(
            places.copy() >= exp.Literal.number(0),
            _once(lambda b: exp.case().when(is_finite(b), b.copy()).else_(a.copy()), after),
        )
        return case.else_(
            _once(lambda b: exp.case().when(is_finite(b), b.copy()).else_(zero), before)
        )

    return _once(build, value)


def _piece(value: exp.Expr, *places: exp.Expr) -> exp.Expr:
    """A piece of a text. Places are cut at 2 billion letters: no text has so many."""
    arguments = [value, *(_up_to(2**31 - 1, place) for place in places)]
    return exp.Anonymous(this="substr", expressions=arguments)


def _whole(value: exp.Expr) -> exp.Expr:
    """The floor or ceiling of an integer: itself. By way of a float it would lose digits."""
    return value


def _rounded_whole(value: exp.Expr, places: exp.Expr | None = None) -> exp.Expr:
    """Round an integer in 128 bits: with 64, DuckDB's round overflows silently."""
    if places is None:
        return value
    arguments = [exp.cast(value, "HUGEINT"), exp.cast(_up_to(400, places), "INT")]
    return exp.Anonymous(this="round", expressions=arguments)


def _concatenated(*arguments: exp.Expr) -> exp.Expr:
    result: exp.Expr = exp.cast(arguments[0], "TEXT")
    for argument in arguments[1:]:
        result = exp.DPipe(this=result, expression=exp.cast(argument, "TEXT"))
    return exp.paren(result, copy=False)


# --- conversions, patterns -----------------------------------------------------------------


def _is_written_as(value: exp.Expr, pattern: str) -> exp.Expr:
    return exp.Anonymous(this="regexp_full_match", expressions=[value, exp.Literal.string(pattern)])


def _read(pattern: str, type_: Type) -> Callable[..., exp.Expr]:
    """A number read from a text that is written as one."""

    def build(value: exp.Expr) -> exp.Expr:
        to = exp.DataType.build(SQL_TYPES[type_])
        number = exp.TryCast(this=value.copy(), to=to, safe=True)  # else CAST in Spark
        return exp.case().when(_is_written_as(value, pattern), number)

    return lambda value: _once(build, value)


def _cut_off(value: exp.Expr) -> exp.Expr:
    """A float without what follows the point, if it then is an integer of 64 bits."""

    def build(value: exp.Expr) -> exp.Expr:
        end = exp.cast(exp.Literal.string(str(2.0**63)), "DOUBLE")
        fits = exp.and_(value.copy() < end, value.copy() >= exp.Neg(this=end.copy()))
        whole = exp.Anonymous(this="trunc", expressions=[value.copy()])
        return exp.case().when(fits, exp.cast(whole, "BIGINT"))

    return _once(build, value)


_INTEGER = "[+-]?[0-9]+"
_FLOAT = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(?i:inf|infinity)|(?i:nan)"


def _extracted(value: exp.Expr, pattern: exp.Expr, group: exp.Expr | None = None) -> exp.Expr:
    """What a pattern, or a group of it, matches first; no value if it matches nothing."""
    number = exp.Literal.number(int(_size(group) or 0) if group is not None else 0)

    def build(text: exp.Expr, re: exp.Expr) -> exp.Expr:
        matches = exp.Anonymous(this="regexp_matches", expressions=[text.copy(), re.copy()])
        found = exp.Anonymous(this="regexp_extract", expressions=[text, re, number])
        return exp.case().when(matches, found)

    return _once(build, value, pattern)


def _replaced(value: exp.Expr, pattern: exp.Expr, by: exp.Expr) -> exp.Expr:
    arguments = [value, pattern, by, exp.Literal.string("g")]
    return exp.Anonymous(this="regexp_replace", expressions=arguments)


def choice(condition: exp.Expr, a: exp.Expr, b: exp.Expr) -> exp.Expr:
    """One of two values; none if the condition has none."""
    return exp.Case(this=condition).when(exp.true(), a).when(exp.false(), b)


BUILT: Mapping[str, Callable[..., exp.Expr]] = {
    "+": _binary(exp.Add),
    "-": _binary(exp.Sub),
    "*": _binary(exp.Mul),
    "/": _divided(exp.Div),
    "%": _divided(exp.Mod),
    "power": _power,
    "sqrt": _where(exp.GTE, "sqrt"),
    "ln": _where(exp.GT, "ln"),
    "round": _rounded,
    "concat": _concatenated,
    "substr": _piece,
    "text": _concatenated,
    "matches": _function("regexp_matches"),
    "regex_replace": _replaced,
    "regex_extract": _extracted,
    **OF_MOMENTS,
    "if": choice,
    "and": lambda a, b: exp.paren(exp.And(this=a, expression=b)),
    "or": lambda a, b: exp.paren(exp.Or(this=a, expression=b)),
    "not": lambda a: exp.paren(exp.Not(this=exp.paren(a))),
    **{name: _extreme(name) for name in ("least", "greatest")},
    **{
        name: _function(name)
        for name in (
            "abs", "floor", "ceil", "exp",
            "length", "lower", "upper", "trim", "replace", "contains", "starts_with",
            "ends_with",
        )
    },
}  # fmt: skip

OF_INTEGERS: Mapping[str, Callable[..., exp.Expr]] = {
    "floor": _whole, "ceil": _whole, "round": _rounded_whole, "%": _remainder_whole,
}  # fmt: skip
"""Functions that need other SQL where they make an integer from integers."""

CONVERSIONS: Mapping[tuple[str, Type], Callable[..., exp.Expr]] = {
    ("int", Type.SYMBOL): _read(_INTEGER, Type.INT), ("int", Type.FLOAT): _cut_off,
    ("float", Type.SYMBOL): _read(_FLOAT, Type.FLOAT),
    **decimals.CONVERSIONS,
    ("int", Type.INT): _whole, ("float", Type.INT): _whole, ("float", Type.FLOAT): _whole,
}  # fmt: skip
"""Functions that need other SQL for each type of their argument."""


def built(
    function: str,
    type_: Type | None,
    arguments: Sequence[exp.Expr],
    types: Sequence[Type | None],
) -> exp.Expr:
    """A call of a function that is built in, whose value has this type. `types` are the arguments'.

    Symbols are given as text.
    """
    if function in ("concat", "text"):
        arguments = list(map(spelled, arguments, types))
    if types and types[0] and (conversion := CONVERSIONS.get((function, types[0]))):
        return conversion(*arguments)
    arguments = decimals.with_floats(type_, arguments, types)
    other = OF_INTEGERS.get(function) if type_ is Type.INT else None
    if type_ is Type.DECIMAL and (function == "round" or Type.INT not in types):
        other = decimals.of_decimals(function)  # DuckDB multiplies a decimal by an int exactly
    return (other or BUILT[function])(*arguments)


POSITIVE = frozenset(("+", "-", "abs", "floor", "sqrt", "exp", "ln", "least", "greatest"))
"""Functions that never make a -0.0, unless they are given one."""


PARTIAL = frozenset(
    (
        "/", "%", "sqrt", "ln", "power", "int", "float", "decimal", "regex_extract", "add_days",
        "add_seconds", "date", "time_bucket", "format_time",
    )
)  # fmt: skip


def is_total(expression: Expression, functions: Functions) -> bool:
    """Whether an expression always has a value; one that may divide by zero has not."""
    return not any(c.function in PARTIAL or c.function in functions for c in calls(expression))


def typed(type_: Type, value: exp.Expr, positive: bool = False) -> exp.Expr:
    """A function's value, stored as its type requires; a `positive` function makes no -0.0."""
    cast = exp.cast(value, SQL_TYPES[type_], copy=False)
    return cast if positive or type_ is not Type.FLOAT else without_sign_of_zero(cast)


def moment(value: exp.Expr, type_: Type | None, other: Type | None) -> exp.Expr:
    """A value as it is compared with one of another type: a date is the moment when it begins."""
    if type_ is Type.DATE and other is Type.TIMESTAMP:
        return exp.cast(value, SQL_TYPES[Type.TIMESTAMP])
    return value


def spelled(value: exp.Expr, type_: Type | None) -> exp.Expr:
    """A value as text. DuckDB shows the sign of a NaN; we have only one NaN, without a sign."""
    if type_ is Type.DECIMAL:
        return decimal_text(value)
    if type_ is not Type.FLOAT:
        return value
    text = [exp.cast(value, "TEXT"), exp.Literal.string("-nan"), exp.Literal.string("nan")]
    return exp.Anonymous(this="replace", expressions=text)
