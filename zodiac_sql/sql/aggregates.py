"""Aggregates: a SELECT with GROUP BY over the solutions of the aggregate's own body."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.language.functions import Functions, result_type, signature
from zodiac_sql.language.syntax import Aggregate, Type, Variable
from zodiac_sql.sql.forms import PLAIN, STRUCT
from zodiac_sql.sql.functions import python_call, python_call_if_there, typed
from zodiac_sql.sql.plan import Scan
from zodiac_sql.sql.terms import (
    KEY_TYPE,
    STRUCT_TYPE,
    Left,
    aggregated_numbers,
    order_key,
    struct_of,
)
from zodiac_sql.sql.values import Value, Values

PARTS = 512
"""Into so many parts groups can be divided, or facts of a recursion, by a hash."""


def alike(
    aggregates: Sequence[Aggregate], groups: Sequence[Scan | None]
) -> Iterator[tuple[list[Aggregate], Scan | None]]:
    """Aggregates, those together that are over the same solutions, each with its scan of groups."""
    runs: list[tuple[list[Aggregate], Scan | None]] = []
    for one, scan in zip(aggregates, groups, strict=True):
        if runs:
            (first, *_), before = runs[-1]
            same = (_over(first), before) == (_over(one), scan)
            if same and first.otherwise is None and one.otherwise is None:
                runs[-1][0].append(one)
                continue
        runs.append(([one], scan))
    yield from runs


def _over(one: Aggregate) -> tuple[object, ...]:
    """What solutions an aggregate is over. With DISTINCT, its argument tells them apart."""
    return one.body, one.group, one.argument if one.distinct else None


def aggregate_query(
    aggregates: Sequence[Aggregate], body: Values, told: Collection[str], repeats: bool
) -> exp.Select:
    """SELECT group AS v0.., f(argument) AS vN.. over the solutions of a body.

    The aggregates are over the same ones: those that the variables in `told` tell apart. With
    `repeats`, the body may have the same solution twice.
    """
    functions = body.context.functions
    solution = [name for name in body.known if name in told]
    places = {name: f"x{index}" for index, name in enumerate(solution)}
    meant = {n: text for n, one in enumerate(aggregates) if (text := _meant(one, body)) is not None}
    inner = body.joins.query.select(
        *(body.known[name].sql.copy().as_(places[name]) for name in solution),
        *(text.as_(f"t{n or ''}") for n, text in meant.items()),
    )
    if repeats:
        inner = inner.distinct(copy=False)
    if body.context.groups is not None:
        keys = [body.known[variable.name].sql.copy() for variable in aggregates[0].group]
        inner = inner.where(_within(keys, *body.context.groups), copy=False)
    group = [exp.column(places[v.name], table="d") for v in aggregates[0].group]
    columns = [g.as_(f"v{index}") for index, g in enumerate(group)]
    unsure = []
    for n, one in enumerate(aggregates):
        value = exp.column(places[one.argument.name], table="d")
        text = exp.column(f"t{n or ''}", table="d") if n in meant else None
        type_ = body.known[one.argument.name].type
        name = f"v{len(group) + n}"
        columns.append(
            aggregated(one.function, value, type_, text, functions, body.context.left).as_(name)
        )
        may_fail = one.function == "sum" and type_ in (Type.INT, Type.DECIMAL)
        may_fail |= type_ is Type.ANY and one.function in _OF_NUMBERS
        if functions.get(one.function) is not None or may_fail:
            unsure.append(exp.column(name).is_(exp.null()).not_())
    outer = exp.select(*columns).from_(inner.subquery("d", copy=False))
    if group:
        outer = outer.group_by(*(g.copy() for g in group))
    else:
        # Without groups SQL returns a row even for an empty body; Datalog has no solution there.
        outer = outer.having(exp.Count(this=exp.Star()) > 0)
    if not unsure:
        return outer
    # A registered aggregate may have no value for a group. A sum of ints or decimals may be too
    # large: then the rule is refused, but DuckDB would not compute a sum that nothing reads.
    return exp.select(exp.Star()).from_(outer.subquery("g", copy=False)).where(exp.and_(*unsure))


def _within(keys: list[exp.Expr], first: int, end: int) -> exp.Expr:
    """Whether a group is in some parts."""
    parts = exp.Literal.number(PARTS)
    part = exp.Mod(this=exp.Anonymous(this="hash", expressions=keys), expression=parts)
    return exp.and_(part >= exp.Literal.number(first), part.copy() < exp.Literal.number(end))


def _meant(aggregate: Aggregate, body: Values) -> exp.Expr | None:
    """The text that the argument means, if it is a symbol and the function is to get its text."""
    argument = body.known[aggregate.argument.name]
    if argument.type is Type.ANY and aggregate.function != "count":
        return _meant_by_term(aggregate, argument, body)
    if argument.type is not Type.SYMBOL or argument.text == PLAIN or aggregate.function == "count":
        return None
    shown = body.shown(argument)
    meant = body.text(argument)
    if body.context.functions.get(aggregate.function) is not None:
        return meant
    # Symbols are ordered by what they mean, and where that is the same, by their written text.
    between = exp.Anonymous(this="chr", expressions=[exp.Literal.number(1)])
    return exp.DPipe(this=exp.DPipe(this=meant, expression=between), expression=shown)


def _meant_by_term(aggregate: Aggregate, argument: Value, body: Values) -> exp.Expr:
    """What an aggregate of terms is computed from: a registered one gets values of its parameter's
    type, or texts.
    """
    registered = body.context.functions.get(aggregate.function)
    if registered is not None:
        wanted = registered.parameters[0]
        return body.text(argument) if wanted is Type.SYMBOL else body.native(argument, wanted)
    parts = body.parts(argument)
    if aggregate.function in _OF_NUMBERS:
        return body.context.left(struct_of(replace(parts, text=None)), STRUCT_TYPE)
    return order_of_term(argument, body)


def order_of_term(term: Value, values: Values) -> exp.Expr:
    """What puts a term in the order of all terms."""
    key = order_key(values.parts(term), values.text(term), values.shown(term))
    return values.context.left(key, KEY_TYPE)


_OF_NUMBERS = frozenset(("sum", "avg", "med"))
"""Aggregates of numbers. Terms that are none are passed over."""


def aggregate_values(
    aggregates: Sequence[Aggregate], body: Values, alias: str
) -> list[tuple[Variable, Value]]:
    """The values in the columns of such a query, where it is joined under an alias."""
    functions = body.context.functions
    kinds = [(v, body.known[v.name].type, body.known[v.name].text) for v in aggregates[0].group]
    for one in aggregates:
        argument = body.known[one.argument.name]
        registered = functions.get(one.function)
        made = argument.text if one.function != "count" else 0
        result_text = made if registered is None else PLAIN * (registered.returns is Type.SYMBOL)
        if argument.type is Type.ANY and one.function == "sum":
            result_text = STRUCT
        builtin = signature(one.function, True, functions)
        assert builtin is not None
        kinds.append((one.result, result_type(builtin, [argument.type]), result_text))
    return [
        (variable, Value(exp.column(f"v{index}", table=alias), type_, text))
        for index, (variable, type_, text) in enumerate(kinds)
    ]


def _as_it_is(expression: exp.Expr, _: str | exp.DataType) -> exp.Expr:
    return expression


def aggregated(
    function: str,
    value: exp.Column,
    type_: Type | None,
    text: exp.Column | None,
    functions: Functions,
    left: Left = _as_it_is,
) -> exp.Expr:
    """An aggregate over the rows of a group, in which some is `left` to DuckDB."""
    registered = functions.get(function)
    if registered is not None and registered.aggregate:
        argument: exp.Expr = text if text is not None else value
        wanted = registered.parameters[0]
        if wanted is not Type.SYMBOL:
            argument = exp.cast(argument, SQL_TYPES[wanted])
        listed: exp.Expr = exp.Anonymous(this="list", expressions=[argument])
        if type_ is Type.ANY:  # terms that are no values of the parameter are passed over
            there = exp.Where(this=exp.not_(argument.copy().is_(exp.null())))
            listed = exp.Filter(this=listed, expression=there)
        call = (python_call_if_there if type_ is Type.ANY else python_call)(function, [listed])
        return call if registered.returns is Type.SYMBOL else typed(registered.returns, call)
    if text is not None and type_ is Type.ANY and function in _OF_NUMBERS:
        return aggregated_numbers(function, text, left)
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
        number = exp.cast(value, SQL_TYPES[Type.FLOAT]) if type_ is Type.DECIMAL else value
        return typed(Type.FLOAT, exp.Anonymous(this="median", expressions=[number]))
    if function == "avg" and type_ is Type.DECIMAL:
        total = exp.cast(exp.Sum(this=value), SQL_TYPES[Type.FLOAT])
        return typed(Type.FLOAT, exp.Div(this=total, expression=exp.Count(this=exp.Star())))
    if function == "avg":
        return typed(Type.FLOAT, exp.Avg(this=ordered))
    return {"min": exp.Min, "max": exp.Max}[function](this=ordered)
