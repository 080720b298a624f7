"""How many facts a closure along edges that are known is expected to have, before it is evaluated.

    path(X, Z) :- path(X, Y), path(Y, Z).        type(X, D) :- type(X, C), subclass(C, D).

If the closure begins with the edges themselves, what the graph tells is its size; if it begins with
other facts, what follows from these (cost/closures.py). A closure that asks for X != Z is taken for
one that does not: there are few loops among its facts.
"""

from __future__ import annotations

from math import inf

from sqlglot import exp

from zodiac_sql.change.choose_rewrites import copied_from_outside
from zodiac_sql.change.workspace import Basis
from zodiac_sql.cost.closures import MOST_EDGES, Sizes, follows, sizes_of
from zodiac_sql.cost.components import LINKS, components_of_links
from zodiac_sql.database.statements import create_temp, temp_table, union_all
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.rewrite.forms import Forms
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Version, whole
from zodiac_sql.sql.relations import Relation, columns_of, relation_query
from zodiac_sql.sql.select import compile_rule
from zodiac_sql.storage.sources import Sources

_SEEDS = "zodiac$planned_seeds"


def closure_of(basis: Basis, new: Sources, context: Context, forms: Forms) -> Sizes | None:
    """The size of a closure of edges that are known; None if it is none, or they are not.

    The context reads explicit facts.
    """
    if forms.paths is None:
        return None
    store, hypernode = basis.store, forms.hypernode
    (name,), place, edges = hypernode.derives, forms.paths.place, forms.paths.edges
    arcs = _facts(basis, context, edges, hypernode, ("a", "b") if place else ("b", "a"))
    rows = store.count(create_temp(LINKS, arcs)) if arcs else 0
    if not 0 < rows <= MOST_EDGES:
        return None
    components = components_of_links(store)
    if edges in (name, copied_from_outside(basis.planned, new, hypernode, name)):
        return sizes_of(components)
    ends = ("value", "node") if place else ("node", "value")
    starts = _facts(basis, context, name, hypernode, ends)
    if starts is None:
        return None
    facts = store.count(create_temp(_SEEDS, starts))
    begun = exp.select(exp.Star()).from_(temp_table(_SEEDS))
    return Sizes(follows(store, components, begun, facts).facts, inf)


def _facts(
    basis: Basis, context: Context, name: str, hypernode: Hypernode, names: tuple[str, str]
) -> exp.Select | None:
    """SELECT the facts that a predicate has without a hypernode, with other names for its columns,
    if they are explicit or rules copy them from such.
    """
    columns, graph = basis.planned.schema[name].columns, basis.planned.graph
    if len(columns) != 2 or columns[0].type != columns[1].type:
        return None
    relation = context.relation(name, Version.ALL)
    queries: list[exp.Query] = [relation_query(relation)] if relation.parts else []
    for other in graph.deriving(name):
        for rule in other.rules if other is not hypernode else ():
            if other.recursive or any(graph.deriving(p) for p in rule.positive()):
                return None
            queries.append(compile_rule(whole(rule), columns, context).query)
    shown = zip(columns_of(Relation(columns, ()), "f"), names, strict=True)
    query = exp.select(*(column.as_(title) for column, title in shown)).distinct()
    return query.from_(union_all(queries).subquery("f", copy=False)) if queries else None
