"""How constants, operators and functions of the language are written in SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from zodiac_sql.functions import Functions
from zodiac_sql.relations import SQL_TYPES
from zodiac_sql.rules import Constant, Type


def python_function(name: str) -> str:
    """The name in SQL of a function registered from Python, apart from DuckDB's own."""
    return f"py_{name}"


def python_call(name: str, arguments: Sequence[exp.Expr]) -> exp.Expr:
    """A call of a registered function. Quoted, for case in other scripts is not ours to change."""
    named = exp.to_identifier(python_function(name), quoted=True)
    return exp.Anonymous(this=named, expressions=list(arguments))


def literal(constant: Constant) -> exp.Expr:
    """A native constant in SQL."""
    value = constant.value
    if isinstance(value, bool):
        return exp.true() if value else exp.false()
    if isinstance(value, int | float):
        number = exp.Literal.number(repr(abs(value)))
        signed = exp.Neg(this=number) if value < 0 else number
        return exp.cast(signed, SQL_TYPES[constant.type])
    return exp.cast(exp.Literal.string(str(value)), SQL_TYPES[constant.type])


OPERATORS: Mapping[str, type[exp.Binary]] = {
    "=": exp.EQ, "!=": exp.NEQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE,
}  # fmt: skip


def _binary(kind: type[exp.Binary]) -> Callable[..., exp.Expr]:
    return lambda a, b: exp.paren(kind(this=a, expression=b), copy=False)


def _divided(kind: type[exp.Binary]) -> Callable[..., exp.Expr]:
    """Division by zero has no value, here as in Spark."""

    def build(a: exp.Expr, b: exp.Expr) -> exp.Expr:
        divisor = exp.Nullif(this=b, expression=exp.Literal.number(0))
        return exp.paren(kind(this=a, expression=divisor), copy=False)

    return build


def _function(name: str) -> Callable[..., exp.Expr]:
    return lambda *arguments: exp.Anonymous(this=name, expressions=list(arguments))


def _where(kind: type[exp.Binary], name: str) -> Callable[..., exp.Expr]:
    """A function that has a value only where its argument compares so with zero."""

    def build(a: exp.Expr) -> exp.Expr:
        inside = kind(this=a.copy(), expression=exp.Literal.number(0))
        return exp.case().when(inside, exp.Anonymous(this=name, expressions=[a]))

    return build


def _rounded(value: exp.Expr, places: exp.Expr | None = None) -> exp.Expr:
    """DuckDB counts places in 32 bits only."""
    arguments = [value] if places is None else [value, exp.cast(places, "INT")]
    return exp.Anonymous(this="round", expressions=arguments)


def _concatenated(*arguments: exp.Expr) -> exp.Expr:
    result: exp.Expr = exp.cast(arguments[0], "TEXT")
    for argument in arguments[1:]:
        result = exp.DPipe(this=result, expression=exp.cast(argument, "TEXT"))
    return exp.paren(result, copy=False)


BUILT: Mapping[str, Callable[..., exp.Expr]] = {
    "+": _binary(exp.Add),
    "-": _binary(exp.Sub),
    "*": _binary(exp.Mul),
    "/": _divided(exp.Div),
    "%": _divided(exp.Mod),
    "sqrt": _where(exp.GTE, "sqrt"),
    "ln": _where(exp.GT, "ln"),
    "round": _rounded,
    "concat": _concatenated,
    **{
        name: _function(name)
        for name in (
            "abs", "floor", "ceil", "power", "exp", "least", "greatest",
            "length", "lower", "upper", "trim", "substr", "replace", "contains", "starts_with",
            "ends_with", "year", "month", "day", "hour", "minute", "second",
        )
    },
}  # fmt: skip


def aggregated(
    function: str,
    value: exp.Column,
    type_: Type | None,
    text: exp.Column | None,
    functions: Functions,
) -> exp.Expr:
    """An aggregate over the rows of a group."""
    registered = functions.get(function)
    if registered is not None and registered.aggregate:
        argument: exp.Expr = text if text is not None else value
        wanted = registered.parameters[0]
        if wanted is not Type.SYMBOL:
            argument = exp.cast(argument, SQL_TYPES[wanted])
        listed = exp.Anonymous(this="list", expressions=[argument])
        return python_call(function, [listed])
    if text is not None:
        return exp.Anonymous(this=f"arg_{function}", expressions=[value, text])
    if function == "count":
        return exp.Count(this=exp.Star())
    # Sums of floats depend on their order: with a fixed one, equal facts give equal sums.
    ordered: exp.Expr = value
    if type_ is Type.FLOAT and function in ("sum", "avg"):
        ordered = exp.Order(this=value, expressions=[exp.Ordered(this=value.copy())])
    if function == "sum":
        return exp.cast(exp.Sum(this=ordered), SQL_TYPES[type_ or Type.INT])
    if function == "med":
        return exp.cast(exp.Anonymous(this="median", expressions=[value]), "DOUBLE")
    return {"min": exp.Min, "max": exp.Max, "avg": exp.Avg}[function](this=ordered)
