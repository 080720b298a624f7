"""One recursive statement for several predicates: it finds the facts of all, with tags."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from sqlglot import exp

from zodiac_sql.cost.calibration import ALONE, HASHED, PLANNED_BODY, STATEMENT
from zodiac_sql.cost.operator import Cost, Operator
from zodiac_sql.database.statements import create_temp, drop, union_all
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.evaluation import Evaluates, Evaluation
from zodiac_sql.evaluate.make_tables import in_one_table
from zodiac_sql.evaluate.recursive_statement import (
    begins_inside,
    instead,
    recursion_of,
    with_tables,
)
from zodiac_sql.evaluate.semi_naive import Fixpoint, table_name
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.schema import Schema
from zodiac_sql.language.syntax import Rule
from zodiac_sql.names import is_node
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.emptiness import is_empty
from zodiac_sql.sql.plan import Version, whole
from zodiac_sql.sql.relations import Part, Relation, columns_of, relation_query
from zodiac_sql.sql.select import compile_rule
from zodiac_sql.sql.set_difference import MOST_PARTS
from zodiac_sql.sql.tagged import layout_of, typed


def linear_of_several(
    store: Store, hypernode: Hypernode, schema: Schema, context: Context
) -> Fixpoint:
    """The same for several predicates: the statement finds the facts of all, with tags."""
    context = with_tables(store, hypernode, _with_united(store, hypernode, context))
    layout = layout_of({p: typed(_of(p, schema).stored) for p in hypernode.derives})

    def tagged(rule: Rule, around: Context) -> exp.Query:
        head = rule.head.predicate
        plan = begins_inside(rule, hypernode)
        rows = compile_rule(plan, schema[head].columns, around).query
        names = columns_of(_of(head, schema), "h")
        return layout.put(head, exp.select(*names).from_(rows.subquery("h", copy=False)))

    def found(name: str) -> Relation:
        return Relation(schema[name].columns, (layout.part(name, "r", ""),))

    own = hypernode.derives
    outside = {name: context.relation(name, Version.ALL) for name in own}
    before = replace(context, relation=instead(context, outside))
    inside = replace(context, relation=instead(context, {name: found(name) for name in own}))
    seeds = [r for r in hypernode.rules if not is_empty(whole(r), context)]
    if not seeds:
        return Fixpoint({}, 0, "linear")
    steps = [r for r in hypernode.rules if not is_empty(whole(r), inside)]
    query = recursion_of(
        layout.columns,
        union_all([tagged(rule, before) for rule in seeds]),
        union_all([tagged(rule, inside) for rule in steps]),
    )
    whole_table = f"found_{hypernode.name}"
    store.run(create_temp(whole_table, query), as_written=True)
    parts = {}
    for predicate in hypernode.derives:
        part = layout.part(predicate, whole_table, ranked=True)
        name = table_name(hypernode, predicate, schema)
        rows = relation_query(Relation(schema[predicate].columns, (part,), ranked=True))
        if count := store.count(create_temp(name, rows)):
            parts[predicate] = Part("temp", name, count, ranked=True)
    store.run(drop(whole_table))
    return Fixpoint(parts, 1, "linear")


def _with_united(store: Store, hypernode: Hypernode, context: Context) -> Context:
    """The context, in which what has many parts and is read more than once is in one table.

    Each reading would plan a scan of every part, and take facts again that stand in several.
    """
    times = Counter(a.predicate for rule in hypernode.rules for a in rule.positive_atoms())

    def pays(name: str, relation: Relation) -> bool:
        return times[name] > 1 and len(relation.parts) > MOST_PARTS

    return in_one_table(store, context, f"united_{hypernode.name}", pays, distinct=True)


def _of(predicate: str, schema: Schema) -> Relation:
    """A relation with the columns of a predicate."""
    return Relation(schema[predicate].columns, ())


def _matches(work: Evaluation) -> bool:
    derives = work.hypernode.derives
    return len(derives) > 1 and not any(map(is_node, derives)) and work.may_be_one_statement


def _cost(work: Evaluation) -> Cost:
    """To plan all bodies together takes long, and one thread does the work."""
    hypernode = work.hypernode
    statements = 2 + 2 * len(hypernode.derives)
    rules = PLANNED_BODY * len(hypernode.rules)
    return Cost(STATEMENT * statements + rules + ALONE * HASHED * work.reads)


def _tagged(work: Evaluation) -> Fixpoint:
    return linear_of_several(work.store, work.hypernode, work.schema, work.context)


TAGGED: Evaluates = Operator("tagged", _matches, _cost, lambda work, _: _tagged(work))
