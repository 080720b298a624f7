"""The groups of aggregates that a change reaches: only these are computed again."""

from __future__ import annotations

from dataclasses import replace

from zodiac_sql.database.statements import distinct
from zodiac_sql.evaluate.run_plans import Target
from zodiac_sql.language.binding import arrange
from zodiac_sql.language.syntax import Aggregate, Atom, Column, Rule
from zodiac_sql.language.types import body_types
from zodiac_sql.maintain.contract import Task
from zodiac_sql.maintain.steps.change_plans import gains_of, losses_of
from zodiac_sql.maintain.steps.plans import found_by
from zodiac_sql.sql.emptiness import is_empty
from zodiac_sql.sql.plan import touched
from zodiac_sql.sql.relations import Relation


def with_touched_groups(task: Task) -> Task:
    """The task, with the groups that the change reaches of every aggregate in its rules."""
    for rule in task.hypernode.rules:
        task = _with_groups_of(task, rule)
    return task


def _with_groups_of(task: Task, rule: Rule) -> Task:
    inserted, deleted = task.changed()
    for index, aggregate in enumerate(arrange(rule.body).aggregates):
        inner = Rule(f"{rule.name}#{index}", Atom("", aggregate.group), aggregate.body)
        if (inserted | deleted) & (inner.positive() | inner.negative()):
            task = _with_groups_of(task, inner)  # aggregates inside the aggregate come first
            scan = touched(rule, index).atom.predicate
            groups = _groups(task, inner, aggregate)
            task = replace(task, touched={**task.touched, scan: groups})
    return task


def _groups(task: Task, inner: Rule, aggregate: Aggregate) -> Relation:
    """The groups of those solutions of an aggregate's body that come or go."""
    types = body_types(aggregate.body, task.types, task.functions).types
    columns = tuple(
        Column(f"v{number}", types.get(variable.name))
        for number, variable in enumerate(aggregate.group)
    )
    context = task.context(task.inputs)
    plans = [
        p for p in (*losses_of(task, inner), *gains_of(task, inner)) if not is_empty(p, context)
    ]
    if not plans:
        return Relation(columns, ())
    table = f"touched_{task.hypernode.name}_{inner.name}"
    found = found_by(task, plans, context, Target(table, columns, "touched", distinct))
    return Relation(columns, (found,) if found else ())
