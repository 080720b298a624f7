"""The groups of aggregates that a change reaches: only these are computed again."""

from __future__ import annotations

from zodiac_sql.database.statements import distinct
from zodiac_sql.evaluate.run_plans import apply_plans
from zodiac_sql.language.binding import arrange
from zodiac_sql.language.syntax import Aggregate, Atom, Column, Rule
from zodiac_sql.language.types import body_types
from zodiac_sql.maintain.contract import Task
from zodiac_sql.sql.emptiness import is_empty
from zodiac_sql.sql.plan import touched
from zodiac_sql.sql.relations import Part, Relation


def find_touched(task: Task) -> None:
    """Fill `task.touched` for every aggregate in the hypernode's rules."""
    for rule in task.hypernode.rules:
        _find(task, rule)


def _find(task: Task, rule: Rule) -> None:
    inserted, deleted = task.changed()
    for index, aggregate in enumerate(arrange(rule.body).aggregates):
        inner = Rule(f"{rule.name}#{index}", Atom("", aggregate.group), aggregate.body)
        if (inserted | deleted) & (inner.positive() | inner.negative()):
            _find(task, inner)  # aggregates inside the aggregate come first
            task.touched[touched(rule, index).atom.predicate] = _groups(task, inner, aggregate)


def _groups(task: Task, inner: Rule, aggregate: Aggregate) -> Relation:
    """The groups of those solutions of an aggregate's body that come or go."""
    types = body_types(aggregate.body, task.types, task.functions).types
    columns = tuple(
        Column(f"v{number}", types.get(variable.name))
        for number, variable in enumerate(aggregate.group)
    )
    context = task.context(task.inputs)
    plans = [p for p in (*task.lost(inner), *task.gained(inner)) if not is_empty(p, context)]
    if not plans:
        return Relation(columns, ())
    table = f"touched_{task.hypernode.name}_{inner.name}"
    rows = apply_plans(task.store, task.cache, "touched", plans, columns, context, table, distinct)
    return Relation(columns, (Part("temp", table, rows),))
