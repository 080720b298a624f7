"""The groups of aggregates that a change reaches: only these are computed again."""

from __future__ import annotations

from dataclasses import replace

from zodiac_sql.database.statements import distinct
from zodiac_sql.evaluate.run_plans import Target, found_by
from zodiac_sql.language.binding import arrange
from zodiac_sql.language.syntax import Aggregate, Atom, Column, Rule
from zodiac_sql.language.types import body_types
from zodiac_sql.maintain.contract import Task
from zodiac_sql.maintain.steps.change_plans import gains_of, losses_of
from zodiac_sql.sql.emptiness import solvable
from zodiac_sql.sql.plan import Version, touched
from zodiac_sql.sql.relations import Relation


def with_touched_groups(task: Task) -> Task:
    """The task, with the groups that the change reaches of every aggregate in its rules."""
    groups: dict[str, Relation] = {}

    def relation(name: str, version: Version) -> Relation:
        found = groups.get(name) if version is Version.TOUCHED else None
        return found or task.inputs.relation(name, version)

    with_groups = replace(task, context=replace(task.context, relation=relation))
    for rule in task.hypernode.rules:
        _add_groups_of(with_groups, rule, groups)
    return with_groups if groups else task


def _add_groups_of(task: Task, rule: Rule, groups: dict[str, Relation]) -> None:
    """Add the groups of a rule, by the name of their scan."""
    inserted, deleted = task.inputs.changed
    for index, aggregate in enumerate(arrange(rule.body).aggregates):
        inner = Rule(f"{rule.name}#{index}", Atom("", aggregate.group), aggregate.body)
        if (inserted | deleted) & (inner.positive() | inner.negative()):
            _add_groups_of(task, inner, groups)  # aggregates inside the aggregate come first
            groups[touched(rule, index).atom.predicate] = _groups(task, inner, aggregate)


def _groups(task: Task, inner: Rule, aggregate: Aggregate) -> Relation:
    """The groups of those solutions of an aggregate's body that come or go."""
    context = task.context
    types = body_types(aggregate.body, context.columns, context.functions).types
    columns = tuple(
        Column(f"v{number}", types.get(variable.name))
        for number, variable in enumerate(aggregate.group)
    )
    plans = solvable((*losses_of(task, inner), *gains_of(task, inner)), context)
    if not plans:
        return Relation(columns, ())
    table = f"touched_{task.hypernode.name}_{inner.name}"
    found = found_by(task.runner, plans, context, Target(table, columns, "touched", distinct))
    return Relation(columns, (found,) if found else ())
