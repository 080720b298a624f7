"""Expressions of filters, BIND and SELECT as SQL. An error is NULL, as in SQL's own logic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.statements import once
from zodiac_sql.language.syntax import Type
from zodiac_sql.read.sparql import functions
from zodiac_sql.read.sparql.context import QueryContext, refused
from zodiac_sql.read.sparql.solutions import ID, TEXT, TermColumn, column
from zodiac_sql.read.sparql.values import (
    DictionaryRow,
    SparqlValue,
    as_number,
    boolean,
    call,
    constant,
    decimal,
    equal,
    error,
    exact_of,
    exactly,
    native,
    number,
    ordered,
    parsed,
    sparql,
    truth,
)
from zodiac_sql.sql.decimals import product


@dataclass(frozen=True, slots=True)
class PatternScope:
    """The variables that an expression can see, and how it asks whether a pattern has solutions.

    `outer` is the scope around an EXISTS: what is not bound inside is looked up there, unless the
    place is `closed`, because SQL cannot look out of it.
    """

    context: QueryContext
    columns: Mapping[str, tuple[str, TermColumn]]
    """The alias of the table, and the column, of each variable."""
    symbols: Mapping[str, Sequence[exp.Expr]]
    """What the dictionary has of symbols, where they were looked up: their texts first."""
    exists: Callable[[Any, PatternScope], exp.Expr]
    outer: PatternScope | None = None
    closed: bool = False

    def value(self, name: str) -> SparqlValue:
        """The value of a variable, by its name in SQL."""
        scope = self.owner(name)
        if scope is None:
            return error()
        alias, known = scope.columns[name]
        if known.form == ID:
            row = DictionaryRow(*(one.copy() for one in scope.symbols[name]))
            return SparqlValue("term", row.text, known=known.certain, row=row)
        if known.form == TEXT:
            return SparqlValue("term", column(name, alias), known=known.certain)
        return native(column(name, alias), known.form, known.certain)

    def place(self, name: str) -> exp.Column | None:
        """The column of a variable, whatever its form; None if it is never bound."""
        scope = self.owner(name)
        return None if scope is None else column(name, scope.columns[name][0])

    def owner(self, name: str) -> PatternScope | None:
        """The innermost scope that has a variable. Raises QueryError if it is out of reach."""
        if name in self.columns or self.outer is None:
            return self if name in self.columns else None
        found = self.outer.owner(name)
        if found is not None and self.closed:
            raise refused("a variable from outside of EXISTS in OPTIONAL or MINUS inside it")
        return found


def compiled(expression: Any, scope: PatternScope) -> SparqlValue:
    """The value of an expression of rdflib's algebra."""
    from rdflib import Variable
    from rdflib.term import Identifier

    if isinstance(expression, Variable):
        return scope.value(scope.context.variable(expression))
    if isinstance(expression, Identifier):
        return constant(expression)
    name = expression.name
    if name in _OPERATORS:
        return _OPERATORS[name](expression, scope)
    if name in ("Builtin_EXISTS", "Builtin_NOTEXISTS"):
        found = scope.exists(expression.graph, scope)
        return boolean(found if name == "Builtin_EXISTS" else exp.not_(exp.paren(found)))
    if name == "Builtin_BOUND":
        return _bound(expression.arg, scope)
    if name == "Function":
        given = [compiled(each, scope) for each in expression.expr or ()]
        return functions.cast_to(str(expression.iri), given)
    return functions.builtin(name, _arguments(expression, scope), expression)


def condition(expression: Any, scope: PatternScope) -> exp.Expr:
    """The effective boolean value of an expression."""
    return truth(compiled(expression, scope))


def _arguments(expression: Any, scope: PatternScope) -> list[SparqlValue]:
    """The arguments of a function, in order."""
    if expression.name in _OF_LISTS and not isinstance(expression.arg, list):
        return []  # rdflib has rdf:nil for no argument
    names = ["arg", "arg1", "arg2", "arg3", "text", "pattern", "start", "length", "replacement"]
    names.append("flags")
    found = [expression[name] for name in names if getattr(expression, name) is not None]
    flat = [e for item in found for e in (item if isinstance(item, list) else [item])]
    return [compiled(argument, scope) for argument in flat]


_OF_LISTS = ("Builtin_CONCAT", "Builtin_COALESCE")


def _bound(variable: Any, scope: PatternScope) -> SparqlValue:
    place = scope.place(scope.context.variable(variable))
    return boolean(exp.false() if place is None else exp.not_(place.is_(exp.null())))


def _and(expression: Any, scope: PatternScope) -> SparqlValue:
    parts = [expression.expr, *expression.other]
    return boolean(exp.and_(*(exp.paren(condition(part, scope)) for part in parts)))


def _or(expression: Any, scope: PatternScope) -> SparqlValue:
    parts = [expression.expr, *expression.other]
    return boolean(exp.or_(*(exp.paren(condition(part, scope)) for part in parts)))


def _not(expression: Any, scope: PatternScope) -> SparqlValue:
    return boolean(exp.not_(exp.paren(condition(expression.expr, scope))))


def _relation(expression: Any, scope: PatternScope) -> SparqlValue:
    op, other = expression.op, expression.other
    first = compiled(expression.expr, scope)
    if op in ("IN", "NOT IN"):
        listed = other if isinstance(other, list) else []
        same = [exp.paren(equal(first, compiled(each, scope))) for each in listed]
        found = exp.or_(*same) if same else exp.false()
        return boolean(exp.not_(exp.paren(found)) if op == "NOT IN" else found)
    second = compiled(other, scope)
    if op in ("=", "!="):
        same_ = equal(first, second)
        return boolean(same_ if op == "=" else exp.not_(exp.paren(same_)))
    return boolean(ordered(op, first, second))


def _sum(expression: Any, scope: PatternScope) -> SparqlValue:
    value = as_number(compiled(expression.expr, scope))
    for op, other in zip(expression.op, expression.other, strict=True):
        value = arithmetic(str(op), value, as_number(compiled(other, scope)))
    return value


def _negative(expression: Any, scope: PatternScope) -> SparqlValue:
    zero = number(exp.cast(exp.convert(0), "BIGINT"), 0)
    return arithmetic("-", zero, as_number(compiled(expression.expr, scope)))


def _positive(expression: Any, scope: PatternScope) -> SparqlValue:
    return replace(as_number(compiled(expression.expr, scope)), written=None)


_SQL_OPERATORS: dict[str, type[exp.Binary]] = {"+": exp.Add, "-": exp.Sub, "*": exp.Mul}


def arithmetic(op: str, first: SparqlValue, second: SparqlValue) -> SparqlValue:
    """Numbers added, subtracted, multiplied or divided.

    An integer that is known to be one before the query runs is an error beyond 64 bits.
    """
    ranks = first.static_rank, second.static_rank
    known = None if ranks[0] is None or ranks[1] is None else max(ranks[0], ranks[1])
    rank = sparql("higher", first.ranked, second.ranked) if known is None else known
    if op == "/":
        return _quotient(first, second, rank)
    if known == 1 and _are_exact(first, second):
        decimals = (exp.cast(value.copy, SQL_TYPES[Type.DECIMAL]) for value in (first, second))
        return decimal(call("try", _computed(op, *decimals)))
    wide = "BIGINT" if known == 0 else "DOUBLE"
    left, right = (exp.paren(exp.cast(value.copy, wide)) for value in (first, second))
    result = exp.paren(_SQL_OPERATORS[op](this=left, expression=right))
    if isinstance(rank, int):
        return number(call("try", result) if rank == 0 else result, rank)
    exact, other = exact_of(first), exact_of(second)
    if exact is None or other is None:
        return number(result, rank)
    return exactly(_computed(op, exact, other), result, rank)


def _are_exact(*values: SparqlValue) -> bool:
    """Whether numbers are integers and decimals, none of which is kept as a float."""
    return all(value.form.type in (Type.INT, Type.DECIMAL) for value in values)


def _computed(op: str, left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """An exact sum or difference, or a product, which is rounded where it has too many places."""
    if op == "*":
        return once((left, right), product, "list_transform", "list_extract")
    return _SQL_OPERATORS[op](this=exp.paren(left), expression=exp.paren(right))


def _quotient(first: SparqlValue, second: SparqlValue, rank: int | exp.Expr) -> SparqlValue:
    """A quotient. Of integers it is a decimal; only floats and doubles are divided by zero."""
    if isinstance(rank, int):
        exact: exp.Expr = exp.convert(rank < 2)
        return number(sparql("quotient", first.sql, second.sql, exact), max(rank, 1))
    exact = exp.paren(rank < exp.convert(2))
    known = sparql("higher", rank, exp.convert(1))
    result = sparql("quotient", first.sql, second.sql, exact)
    return number(result, known, sparql("as_decimal", result))


_OPERATORS: dict[str, Callable[[Any, PatternScope], SparqlValue]] = {
    "ConditionalAndExpression": _and,
    "ConditionalOrExpression": _or,
    "UnaryNot": _not,
    "RelationalExpression": _relation,
    "AdditiveExpression": _sum,
    "MultiplicativeExpression": _sum,
    "UnaryMinus": _negative,
    "UnaryPlus": _positive,
}


def texts_needed(expression: Any, context: QueryContext) -> set[str]:
    """The variables whose texts an expression may need, also inside of EXISTS."""
    from rdflib import Variable

    if isinstance(expression, Variable):
        return {context.variable(expression)}
    if isinstance(expression, Mapping):
        name = getattr(expression, "name", "")
        if name in ("BGP", "Builtin_BOUND", "ToMultiSet", "values"):
            return set()
        parts = [value for key, value in expression.items() if key not in ("_vars", "PV", "var")]
    else:
        parts = [*expression] if isinstance(expression, list | tuple) else []
    return reduce(set.union, (texts_needed(part, context) for part in parts), set())


def order_key(value: SparqlValue) -> exp.Expr:
    """What to sort by, to sort by a value."""
    if value.kind == "term":
        return sparql("place", parsed(value))
    return value.copy
