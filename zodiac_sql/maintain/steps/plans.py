"""The plans that all strategies for recursive hypernodes use in their rounds, and how they run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from zodiac_sql.evaluate.run_plans import Target, apply_plans
from zodiac_sql.language.syntax import Rule
from zodiac_sql.maintain.contract import Task
from zodiac_sql.maintain.steps.working_table import WorkingTables
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Plan, candidate_check, delta_plans
from zodiac_sql.sql.relations import Part


def all_onwards(task: Task, owns: WorkingTables) -> list[Plan]:
    """The delta variants of all rules."""
    return [plan for rule in task.hypernode.rules for plan in onwards(task, rule, owns)]


def onwards(task: Task, rule: Rule, owns: WorkingTables) -> tuple[Plan, ...]:
    """The delta variants of a rule over the hypernode's own predicates."""
    return delta_plans(task.cache, rule, {*owns, *task.closures})


def checks(task: Task, predicate: str) -> list[Plan]:
    """Plans that derive the candidates that can be derived."""
    own = task.hypernode.derives
    return [
        task.cache.get(("check", rule.name), partial(candidate_check, rule, recursive=own))
        for rule in task.hypernode.rules
        if rule.head.predicate == predicate
    ]


def found_by(task: Task, plans: Sequence[Plan], context: Context, target: Target) -> Part | None:
    """Make a temporary table of what plans find. None if that is nothing."""
    rows = apply_plans(task.store, task.cache, plans, context, target)
    return Part("temp", target.table, rows, ranked=target.ranked) if rows else None
