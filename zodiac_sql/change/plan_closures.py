"""How many facts a closure along edges that are known is expected to have.

    path(X, Z) :- path(X, Y), path(Y, Z).        type(X, D) :- type(X, C), subclass(C, D).

The components of the edges are found exactly, and what each reaches is estimated from a sample
(evaluate/cost/choose_components.py). If the closure begins with the edges themselves, that is its
size; if it begins with other facts, each of them has what its end reaches. A closure that asks for
X != Z is taken for one that does not: there are few loops among its facts.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from sqlglot import exp

from zodiac_sql.database.statements import create_temp, temp_table, union_all
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.cost import choose_components
from zodiac_sql.evaluate.cost.choose_components import Sizes, reached_by, sizes_of
from zodiac_sql.evaluate.partition.condensation import Components, components_of
from zodiac_sql.graph.hypergraph import Hypergraph, Hypernode
from zodiac_sql.language.schema import Schema
from zodiac_sql.rewrite.forms import Forms
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import whole
from zodiac_sql.sql.relations import Part, Relation, columns_of, relation_query
from zodiac_sql.sql.select import compile_rule

_EDGES, _SEEDS, _REACH = "zodiac$planned", "zodiac$planned_seeds", "zodiac$planned_reach"


@dataclass(frozen=True, slots=True)
class Known:
    """What is known before a change is evaluated: its rules, and its explicit facts."""

    store: Store
    graph: Hypergraph
    schema: Schema
    context: Context
    explicit: Callable[[str], Relation]


def closure_of(known: Known, forms: Forms) -> Sizes | None:
    """The size of a closure of edges that are known; None if it is none, or they are not."""
    if forms.longer_paths is None:
        return None
    hypernode = forms.hypernode
    (name,), (place, edges) = hypernode.derives, forms.longer_paths
    found = _table(known, edges, hypernode, _EDGES, backwards=place == 0)
    if found is None or found.rows > choose_components.MOST_EDGES:
        return None
    if edges == name:
        return sizes_of(components_of(known.store, found))
    seeds = _table(known, name, hypernode, _SEEDS, backwards=place == 0)
    if seeds is None:
        return None
    components = components_of(known.store, found)
    if _has_same_rows(known.store, seeds, found):
        return sizes_of(components)
    return Sizes(_from_seeds(known.store, components, seeds), inf)


def _table(
    known: Known, name: str, hypernode: Hypernode, table: str, backwards: bool
) -> Relation | None:
    """A temporary table of the facts that a predicate has without a hypernode, if they are known.

    With `backwards` its columns change places.
    """
    columns = known.schema[name].columns
    query = _facts(known, name, hypernode)
    if query is None or len(columns) != 2 or columns[0].type != columns[1].type:
        return None
    names = columns_of(Relation(columns, ()), "f")
    order = names[::-1] if backwards else names
    shown = [one.copy().as_(to.name, quoted=True) for one, to in zip(order, names, strict=True)]
    query = exp.select(*shown).distinct().from_(query.subquery("f", copy=False))
    rows = known.store.count(create_temp(table, query))
    return Relation(columns, (Part("temp", table, rows),)) if rows else None


def _facts(known: Known, name: str, hypernode: Hypernode) -> exp.Query | None:
    """SELECT the facts of a predicate, if they are explicit or rules copy them from such."""
    relation = known.explicit(name)
    queries: list[exp.Query] = [relation_query(relation)] if relation.parts else []
    for other in known.graph.hypernodes:
        if name not in other.derives or other is hypernode:
            continue
        for rule in other.rules:
            if other.recursive or any(_has_rules(known, p) for p in rule.positive()):
                return None
            query = compile_rule(whole(rule), relation.columns, known.context).query
            queries.append(query)
    return union_all(queries) if queries else None


def _has_rules(known: Known, name: str) -> bool:
    return any(name in h.derives for h in known.graph.hypernodes)


def _has_same_rows(store: Store, one: Relation, other: Relation) -> bool:
    """Whether two relations have the same facts. Their columns may have other names."""
    if one.rows != other.rows:
        return False
    left, right = (exp.select(exp.Star()).from_(temp_table(r.parts[0].table)) for r in (one, other))
    differ = exp.except_(left, right).subquery("d", copy=False)
    return store.count(exp.select(exp.Count(this=exp.Star())).from_(differ)) == 0


def _from_seeds(store: Store, components: Components, seeds: Relation) -> float:
    """How many facts follow from some: for each, the nodes that its end reaches.

    Several facts may lead to the same one, so there are at most all combinations of beginnings and
    nodes.
    """
    import pyarrow as pa  # late: few changes are planned

    start, end = columns_of(seeds, "s")
    count = exp.Count(this=exp.Distinct(expressions=[start.copy()]))
    starts = store.count(exp.select(count).from_(temp_table(_SEEDS).as_("s")))
    reached = _nodes_reached(components)
    numbers = array("i", range(len(reached)))
    sum_ = exp.func("coalesce", exp.Sum(this=exp.column("nodes", table="r")), exp.Literal.number(0))
    query = exp.select(exp.cast(sum_, "BIGINT")).from_(temp_table(_SEEDS).as_("s"))
    query = query.join(
        temp_table("zodiac$nodes").as_("n"), on=exp.column("node", table="n").eq(end)
    )
    same = exp.column("number", table="r").eq(exp.column("number", table="n"))
    query = query.join(exp.table_(_REACH, quoted=True).as_("r"), on=same)
    with store.offered(_REACH, pa.table({"number": numbers, "nodes": reached})):
        facts = store.count(query)
    return float(min(facts, starts * len(reached)))


def _nodes_reached(components: Components) -> Sequence[float]:
    """About how many nodes each node reaches."""
    of_component = [nodes for _, nodes in reached_by(components)]
    return array("d", (of_component[component] for component in components.component))
