"""GROUP BY, and the aggregates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.statements import text
from zodiac_sql.language.symbols import XSD
from zodiac_sql.language.syntax import Type
from zodiac_sql.read.sparql.context import refused
from zodiac_sql.read.sparql.expressions import PatternScope, compiled, order_key
from zodiac_sql.read.sparql.solutions import TEXT, Solutions, TermColumn, TermForm, column
from zodiac_sql.read.sparql.values import (
    SparqlValue,
    as_number,
    as_string,
    as_term,
    call,
    catalogued,
    exact_of,
    sparql,
)
from zodiac_sql.sql.terms import exact_sum

_INTEGER = TermForm(Type.INT, f"{XSD}integer")


def keys_of(
    keys: Sequence[Any], solutions: Solutions, alias: str, scope: PatternScope
) -> list[exp.Expr]:
    """What to group by."""
    from rdflib import Variable

    found: list[exp.Expr] = []
    for key in keys:
        if isinstance(key, Variable):
            name = scope.context.variable(key)
            if name in solutions.columns:
                found.append(column(name, alias))
        else:
            found.append(as_term(compiled(key, scope)))
    return found or [exp.convert("")]


def column_of(
    aggregate: Any, solutions: Solutions, alias: str, scope: PatternScope
) -> tuple[exp.Expr, TermColumn]:
    """The value of an aggregate, and what is known of it."""
    name = aggregate.name.removeprefix("Aggregate_")
    distinct = bool(aggregate.distinct)
    if name == "Count" and aggregate.vars == "*":
        if distinct:
            return _different(solutions, alias, scope), TermColumn(_INTEGER, True)
        return exp.Count(this=exp.Star()), TermColumn(_INTEGER, True)
    known, sql = _operand(aggregate.vars, solutions, alias, scope)
    if name == "Sample":
        return call("any_value", sql), TermColumn(known.form, False)
    value = compiled(aggregate.vars, scope)
    if name == "Count":
        counted = _plain(value, sql)
        return exp.Count(this=_each(counted, distinct)), TermColumn(_INTEGER, True)
    if name in ("Sum", "Avg"):
        return _sum(name, value, distinct)
    if name in ("Min", "Max"):
        return _extreme(name, value)
    if name == "GroupConcat":
        return _concatenated(value, aggregate, distinct)
    raise refused(f"the aggregate {name}")


def _different(solutions: Solutions, alias: str, scope: PatternScope) -> exp.Expr:
    """How many different solutions there are, by the variables that the user has written."""
    written = scope.context.names.written
    values = [column(name, alias) for name in solutions.columns if name in written]
    return exp.Count(this=exp.Distinct(expressions=[call("row", *values, exp.convert(1))]))


def _operand(
    operand: Any, solutions: Solutions, alias: str, scope: PatternScope
) -> tuple[TermColumn, exp.Expr]:
    """What is aggregated as a column: a variable as it is stored."""
    from rdflib import Variable

    if isinstance(operand, Variable):
        name = scope.context.variable(operand)
        if name in solutions.columns:
            return solutions.columns[name], column(name, alias)
    return TermColumn(TEXT, False), as_term(compiled(operand, scope))


def _plain(value: SparqlValue, sql: exp.Expr) -> exp.Expr:
    return value.copy if value.form.type is not None and value.rank is None else sql


def _each(sql: exp.Expr, distinct: bool) -> exp.Expr:
    return exp.Distinct(expressions=[sql.copy()]) if distinct else sql.copy()


def _sum(name: str, given: SparqlValue, distinct: bool) -> tuple[exp.Expr, TermColumn]:
    """A sum or a mean. It has no value if any solution has no number."""
    value = as_number(given)
    if value.static_rank is None:
        return _mixed_sum(name, value, distinct)
    bad = call("bool_or", exp.paren(value.copy.is_(exp.null())))
    rank = value.static_rank
    function = exp.Sum if name == "Sum" else exp.Avg
    total: exp.Expr = function(this=_each(value.copy, distinct))
    if name == "Sum" and rank == 0:
        total = exp.TryCast(this=total, to=exp.DataType.build("BIGINT"))
        form = _INTEGER
    elif name == "Sum" and value.is_decimal:
        form = value.form
    else:
        datatypes = {0: "decimal", 1: "decimal", 2: "float", 3: "double"}
        form = TermForm(Type.FLOAT, XSD + datatypes[rank])
    empty = exp.Count(this=exp.Star()).eq(0)
    zero = exp.cast(exp.convert(0), SQL_TYPES[form.type or Type.FLOAT])
    chosen = exp.Case().when(empty, zero).when(exp.not_(exp.paren(bad)), total)
    return chosen, TermColumn(form, False)


def _mixed_sum(name: str, value: SparqlValue, distinct: bool) -> tuple[exp.Expr, TermColumn]:
    """The same of numbers whose datatypes are only known from their texts."""
    exact, total = _totals(value, distinct)
    rank = call("max", value.ranked)
    if name == "Avg":
        count = exp.Count(this=_each(value.copy, distinct))
        total = exp.paren(exp.Div(this=exp.paren(total), expression=count))
        exact = sparql("as_decimal", total)
        rank = call("greatest", rank, exp.convert(1))
    bad = call("bool_or", exp.paren(value.copy.is_(exp.null())))
    zero = text(f'"0"^^<{XSD}integer>')
    empty = exp.Count(this=exp.Star()).eq(0)
    chosen = exp.Case().when(empty, zero)
    return chosen.when(exp.not_(exp.paren(bad)), sparql("numeral", total, exact, rank)), TermColumn(
        TEXT, False
    )


def _totals(value: SparqlValue, distinct: bool) -> tuple[exp.Expr, exp.Expr]:
    """The sum of numbers exactly, NULL unless all are exact and it has room, and as a float."""
    total = exp.Sum(this=_each(value.copy, distinct))
    given = exact_of(value)
    if given is None:
        return exp.null(), total
    # The sum in parts cannot take each number once.
    each_once = sparql("total", call("list", _each(given, True)))
    summed = each_once if distinct else exact_sum(given, lambda sql, _: sql)
    counts = [exp.Count(this=one.copy()) for one in (given, value.sql)]
    exact = exp.case().when(counts[0].eq(counts[1]), summed)
    return exact, call("coalesce", exp.cast(exact, "DOUBLE"), total)


def _extreme(name: str, value: SparqlValue) -> tuple[exp.Expr, TermColumn]:
    """The least or the greatest value, in the order of ORDER BY."""
    if value.form.type is not None and value.rank is None:
        function = exp.Min if name == "Min" else exp.Max
        return function(this=value.copy), TermColumn(value.form, False)
    term = as_term(value)
    key = order_key(value if value.kind == "term" else SparqlValue("term", term))
    return call("arg_min" if name == "Min" else "arg_max", term, key), TermColumn(TEXT, False)


def _concatenated(
    value: SparqlValue, aggregate: Any, distinct: bool
) -> tuple[exp.Expr, TermColumn]:
    separator = aggregate.separator
    between = text(" " if separator is None else str(separator))
    # Of a number, an IRI and the like the text of STR, as other engines have it.
    written = as_string(value) if value.kind == "string" else sparql("str", as_term(value))
    joined = call("string_agg", written, between)
    if distinct:
        joined.set("expressions", [exp.Distinct(expressions=[written.copy()]), between])
    return catalogued("quote_where_needed", call("coalesce", joined, text(""))), TermColumn(
        TEXT, False
    )
