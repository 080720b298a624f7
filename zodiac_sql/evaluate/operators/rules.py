"""The rules of a hypernode that is not recursive, in their order."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from sqlglot import exp

from zodiac_sql.cost.operator import certain
from zodiac_sql.database.statements import distinct
from zodiac_sql.evaluate.evaluation import Evaluates, Evaluation
from zodiac_sql.evaluate.operators.copies import shared
from zodiac_sql.evaluate.run_plans import Target, apply_plans
from zodiac_sql.evaluate.semi_naive import Fixpoint, table_name
from zodiac_sql.language.syntax import Rule
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.duplicates import has_duplicates
from zodiac_sql.sql.emptiness import is_empty, lacks_facts
from zodiac_sql.sql.plan import Version, whole
from zodiac_sql.sql.relations import Part, Relation


def _in_order(work: Evaluation) -> Fixpoint:
    """The rules of a hypernode that is not recursive, in their order.

    Usually this is one rule; if it is decomposed, first come the nodes of its tree, then their
    join.
    """
    hypernode, schema, context = work.hypernode, work.schema, work.context
    parts: dict[str, Part] = {}

    def relation(name: str, version: Version) -> Relation:
        if name in hypernode.derives:
            return Relation(schema[name].columns, (parts[name],) if name in parts else ())
        return context.relation(name, version)

    inside = replace(context, relation=relation)
    for rule in hypernode.rules:
        parts |= _single(work, rule, inside)
    return Fixpoint(parts, len(hypernode.rules) if parts else 0, "rule")


def _single(work: Evaluation, rule: Rule, context: Context) -> dict[str, Part]:
    """What one rule derives."""
    schema = work.schema
    predicate = rule.head.predicate
    if lacks_facts(rule, context):
        return {}  # without a plan: of an ontology's rules, most lack facts
    if work.store.watch.bounds is None and (part := shared(rule, schema, context)):
        return {predicate: part}
    plan = work.runner.cache.get(("whole", rule.name), partial(whole, rule))
    if is_empty(plan, context):
        return {}
    name = table_name(work.hypernode, predicate, schema)
    columns = schema[predicate].columns
    shape = distinct if has_duplicates(plan, columns, context) else _as_they_are
    target = Target(name, columns, "whole", shape, grows=True)
    rows = apply_plans(work.runner, [plan], context, target)
    return {predicate: Part("temp", name, rows)} if rows else {}


def _as_they_are(heads: exp.Query | None) -> exp.Query:
    assert heads is not None
    return heads


RULES: Evaluates = certain(
    "rules",
    "not recursive",
    lambda work: not (work.hypernode.recursive or work.hypernode.bests),
    _in_order,
)
