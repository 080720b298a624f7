"""The fact that stands in the place of another one, where only the best of a group is a fact."""

from __future__ import annotations

import math
from dataclasses import replace

from sqlglot import exp

from zodiac_sql.database.statements import parameter
from zodiac_sql.language.syntax import Best
from zodiac_sql.read.why.asked import Key, Known, one_nan
from zodiac_sql.sql.relations import columns_of, relation_query
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


def is_better(one: Key, other: Key, best: Best) -> bool:
    """Whether one fact has a better value than another one of its group."""
    first, second = (_ordered(fact[1][best.place]) for fact in (one, other))
    return bool(first < second if best.function == "min" else first > second)


def _ordered(value: object) -> tuple[object, ...]:
    """Values in DuckDB's order: NaN is greater than any other number."""
    if isinstance(value, float) and math.isnan(value):
        return (1, 0.0)
    return (0, value)
