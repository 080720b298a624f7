"""One recursive statement for one predicate."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from zodiac_sql.cost.calibration import HASHED, STATEMENT
from zodiac_sql.cost.most_facts import most_facts
from zodiac_sql.cost.operator import Cost, Operator
from zodiac_sql.database.statements import create_temp, union_all
from zodiac_sql.evaluate.evaluation import Evaluates, Evaluation
from zodiac_sql.evaluate.in_shares import among, in_shares, pays
from zodiac_sql.evaluate.layers import sampled
from zodiac_sql.evaluate.recursive_statement import (
    begins_inside,
    instead,
    recursion_of,
    with_tables,
)
from zodiac_sql.evaluate.semi_naive import Fixpoint, table_name
from zodiac_sql.sql.emptiness import is_empty
from zodiac_sql.sql.plan import Version, whole
from zodiac_sql.sql.relations import Part, Relation
from zodiac_sql.sql.select import compile_rule


def _linear(work: Evaluation) -> Fixpoint:
    """WITH RECURSIVE: what the rules derive from the outside facts, and then from each other."""
    store, schema, hypernode = work.store, work.schema, work.hypernode
    (predicate,) = hypernode.derives
    context = with_tables(store, hypernode, work.context)
    columns = schema[predicate].columns
    outside = context.relation(predicate, Version.ALL)
    own = Relation(columns, (Part("", "r", outside.rows),))
    before = replace(context, relation=instead(context, {predicate: outside}))
    inside = replace(context, relation=instead(context, {predicate: own}))
    rules = [rule for rule in hypernode.rules if not is_empty(whole(rule), context)]
    if not rules:
        return Fixpoint({}, 0, "linear")
    names = [column.name for column in own.stored]
    plans = {rule.name: begins_inside(rule, hypernode) for rule in rules}
    seeds = {name: compile_rule(plan, columns, before).query for name, plan in plans.items()}
    steps = {name: compile_rule(plan, columns, inside).query for name, plan in plans.items()}
    name = table_name(hypernode, predicate, schema)
    preserved = work.forms.preserved
    kept = columns[preserved[0]].name if preserved else None
    if kept and pays(
        store, work.reads, len(columns), lambda: most_facts(store, predicate, rules, before)
    ):

        def recursion(first: int, end: int) -> exp.Select:
            begun = [among(query, kept, first, end) for query in seeds.values()]
            others = [r.name for r in rules if predicate not in r.positive()]
            more = {n: among(steps[n], kept, first, end) for n in others}
            return recursion_of(names, union_all(begun), union_all([*{**steps, **more}.values()]))

        rows = in_shares(store, name, recursion)
    else:
        query = recursion_of(names, union_all([*seeds.values()]), union_all([*steps.values()]))
        rows = store.count(create_temp(name, query), as_written=True)
    return Fixpoint({predicate: Part("temp", name, rows, ranked=True)} if rows else {}, 1, "linear")


def _matches(work: Evaluation) -> bool:
    return len(work.hypernode.derives) == 1 and work.may_be_one_statement


def _cost(work: Evaluation) -> Cost:
    """What it reads is hashed; in a large closure, the heads that it finds tell more."""
    found = sampled(work)
    return Cost(3 * STATEMENT + HASHED * work.reads + (found.in_statement if found else 0))


STATEMENT_OF_ONE: Evaluates = Operator("statement", _matches, _cost, lambda work, _: _linear(work))
