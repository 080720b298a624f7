"""Whether the facts at hand keep rules from making better values of best values."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from zodiac_sql.database.store import Store
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.syntax import Type
from zodiac_sql.language.worsening import Demand, demands_of
from zodiac_sql.sql.relations import Relation, columns_of, relation_query

LARGEST_FLOAT = "1.7976931348623157e308"


def never_better(store: Store, hypernode: Hypernode, reads: Callable[[str], Relation]) -> bool:
    """Whether no rule of a hypernode makes a better value than one that it reads."""
    found = [demands_of(rule, hypernode.bests) for rule in hypernode.rules]
    if any(one is None for one in found):
        return False
    demands = {demand for one in found if one for demand in one}
    return all(_holds(store, reads(demand.predicate), demand) for demand in demands)


def _holds(store: Store, relation: Relation, demand: Demand) -> bool:
    """Whether all facts are as demanded. Infinity and NaN are not: what they make may be both."""
    if not relation.rows:
        return True
    if relation.columns[demand.place].mixed:  # the sign of a term is not looked up
        return False
    column = columns_of(relation, "t")[demand.place]
    zero = exp.Literal.number(0)
    wrong: exp.Expr = column < zero if demand.sign > 0 else column > zero
    if relation.columns[demand.place].type is Type.FLOAT:
        largest = exp.cast(exp.Literal.number(LARGEST_FLOAT), "DOUBLE")
        wrong = exp.or_(wrong, exp.func("abs", column.copy()) > largest)
    rows = relation_query(relation).subquery("t", copy=False)
    query = exp.select(exp.Literal.number(1)).from_(rows).where(wrong, copy=False).limit(1)
    return not store.rows(query)
