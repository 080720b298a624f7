"""The fact that stands in the place of another one, where only the best of a group is a fact."""

from __future__ import annotations

import math
from dataclasses import replace

from sqlglot import exp

from zodiac_sql.database.statements import parameter
from zodiac_sql.language.syntax import Best, Type
from zodiac_sql.read.why.asked import Key, Known, one_nan
from zodiac_sql.sql.aggregates import order_of_term
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.joins import Joins
from zodiac_sql.sql.relations import columns_of, relation_query
from zodiac_sql.sql.values import Value, Values
from zodiac_sql.storage.sources import Sources


def of_group(known: Known, sources: Sources, fact: Key, best: Best) -> Key | None:
    """The fact of a group, which is told by any fact of it, in some tables."""
    predicate, values = fact
    if predicate not in sources.schema:
        return None
    relation = sources.relation(predicate)
    if not relation.rows or len(relation.columns) != len(values):
        return None
    columns = columns_of(relation, "t")
    given = {f"v{n}": value for n, value in enumerate(values) if n != best.place}
    rows = relation_query(replace(relation, ranked=False)).subquery("t", copy=False)
    query = exp.select(*columns).from_(rows)
    for place, column in enumerate(columns):
        if place != best.place:
            query = query.where(column.eq(parameter(f"v{place}")), copy=False)
    found = known.store.rows(query.limit(1), given or None)
    return (predicate, tuple(map(one_nan, found[0]))) if found else None


def is_better(known: Known, sources: Sources, one: Key, other: Key, best: Best) -> bool:
    """Whether one fact, of some tables, has a better value than another one of its group."""
    first, second = (fact[1][best.place] for fact in (one, other))
    if sources.relation(one[0]).columns[best.place].mixed:
        return first != second and _is_better_term(known, first, second, best)
    a, b = _ordered(first), _ordered(second)
    return bool(a < b if best.function == "min" else a > b)


def _is_better_term(known: Known, one: object, other: object, best: Best) -> bool:
    """Whether the first of two terms, given by their ids, is the better one."""
    joins = Joins()
    context = Context(lambda name, _: known.sources.relation(name), known.types, {}, known.ids)
    values = Values(context, {}, joins)
    sides = (
        order_of_term(Value(exp.Literal.number(id_), Type.ANY), values) for id_ in (one, other)
    )
    kind = exp.LT if best.function == "min" else exp.GT
    found = kind(this=next(sides), expression=next(sides))
    return known.store.rows(joins.query.select(found)) == [(True,)]


def _ordered(value: object) -> tuple[object, ...]:
    """Values in DuckDB's order: NaN is greater than any other number."""
    if isinstance(value, float) and math.isnan(value):
        return (1, 0.0)
    return (0, value)
