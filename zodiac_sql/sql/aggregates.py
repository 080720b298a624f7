"""Aggregates: a SELECT with GROUP BY over the solutions of the aggregate's own body."""

from __future__ import annotations

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.language.functions import Functions, result_type, signature
from zodiac_sql.language.syntax import Aggregate, Type, Variable
from zodiac_sql.sql.functions import python_call, typed
from zodiac_sql.sql.values import Value, Values


def aggregate_query(aggregate: Aggregate, body: Values, repeats: bool) -> exp.Select:
    """SELECT group AS v0.., f(argument) AS vN over the distinct solutions of a body.

    With `repeats`, the body may have the same solution twice.
    """
    functions = body.context.functions
    solution = [name for name in body.known if not Variable(name).anonymous]
    places = {name: f"x{index}" for index, name in enumerate(solution)}
    meant = _meant(aggregate, body)
    inner = body.joins.query.select(
        *(body.known[name].sql.copy().as_(places[name]) for name in solution),
        *([] if meant is None else [meant.as_("t")]),
    )
    if repeats:
        inner = inner.distinct(copy=False)
    group = [exp.column(places[v.name], table="d") for v in aggregate.group]
    value = exp.column(places[aggregate.argument.name], table="d")
    text = None if meant is None else exp.column("t", table="d")
    type_ = body.known[aggregate.argument.name].type
    result = aggregated(aggregate.function, value, type_, text, functions)
    outer = exp.select(
        *(g.as_(f"v{index}") for index, g in enumerate(group)), result.as_(f"v{len(group)}")
    ).from_(inner.subquery("d", copy=False))
    if group:
        outer = outer.group_by(*(g.copy() for g in group))
    else:
        # Without groups SQL returns a row even for an empty body; Datalog has no solution there.
        outer = outer.having(exp.Count(this=exp.Star()) > 0)
    may_fail = aggregate.function == "sum" and type_ is Type.INT
    if functions.get(aggregate.function) is None and not may_fail:
        return outer
    # A registered aggregate may have no value for a group. A sum of ints may be too large for one:
    # then the rule is refused, but DuckDB would not compute a sum that nothing reads.
    there = exp.column(f"v{len(group)}").is_(exp.null()).not_()
    return exp.select("*").from_(outer.subquery("g", copy=False)).where(there)


def _meant(aggregate: Aggregate, body: Values) -> exp.Expr | None:
    """The text that the argument means, if it is a symbol and the function is to get its text."""
    argument = body.known[aggregate.argument.name]
    if argument.type is not Type.SYMBOL or argument.text or aggregate.function == "count":
        return None
    shown = body.shown(argument)
    meant = body.text(argument)
    if body.context.functions.get(aggregate.function) is not None:
        return meant
    # Symbols are ordered by what they mean, and where that is the same, by their written text.
    between = exp.Anonymous(this="chr", expressions=[exp.Literal.number(1)])
    return exp.DPipe(this=exp.DPipe(this=meant, expression=between), expression=shown)


def aggregate_values(aggregate: Aggregate, body: Values, alias: str) -> list[Value]:
    """The values in the columns of an aggregate's query, where it is joined under an alias."""
    functions = body.context.functions
    argument = body.known[aggregate.argument.name]
    registered = functions.get(aggregate.function)
    made = argument.text and aggregate.function != "count"
    result_text = made if registered is None else registered.returns is Type.SYMBOL
    builtin = signature(aggregate.function, True, functions)
    assert builtin is not None
    kinds = [(body.known[v.name].type, body.known[v.name].text) for v in aggregate.group]
    kinds.append((result_type(builtin, [argument.type]), result_text))
    return [
        Value(exp.column(f"v{index}", table=alias), type_, text)
        for index, (type_, text) in enumerate(kinds)
    ]


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
        call = python_call(function, [listed])
        return call if registered.returns is Type.SYMBOL else typed(registered.returns, call)
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
        return typed(Type.FLOAT, exp.Anonymous(this="median", expressions=[value]))
    if function == "avg":
        return typed(Type.FLOAT, exp.Avg(this=ordered))
    return {"min": exp.Min, "max": exp.Max}[function](this=ordered)
