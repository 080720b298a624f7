"""The plans that all strategies for recursive hypernodes use in their rounds."""

from __future__ import annotations

from functools import partial

from zodiac_sql.language.syntax import Rule
from zodiac_sql.maintain.contract import Task
from zodiac_sql.maintain.steps.working_table import WorkingTables
from zodiac_sql.sql.plan import Plan, candidate_check, delta_plans


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
