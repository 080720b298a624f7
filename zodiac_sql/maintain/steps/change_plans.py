"""The plans that find what a change may take from a hypernode, and bring to it.

If rules came or went, they account for that, too.
"""

from __future__ import annotations

from zodiac_sql.language.syntax import Rule
from zodiac_sql.maintain.contract import Task
from zodiac_sql.sql.plan import Plan, Version, gained_variants, lost_variants, whole


def losses(task: Task) -> list[Plan]:
    """Plans for the heads that may lose a derivation."""
    plans = [plan for rule in task.lasting for plan in losses_of(task, rule)]
    if task.heritage:
        plans += [whole_plan(task, rule, Version.BEFORE) for rule in task.heritage.lost]
    return plans


def gains(task: Task) -> list[Plan]:
    """Plans for the heads that may gain a derivation."""
    plans = [plan for rule in task.lasting for plan in gains_of(task, rule)]
    if task.heritage:
        plans += [whole_plan(task, rule, Version.ALL) for rule in task.heritage.new]
    return plans


def losses_of(task: Task, rule: Rule) -> tuple[Plan, ...]:
    """Plans for the heads that may lose a derivation by the rule."""
    changed = task.changed()
    return task.cache.get(("lost", rule.name, *changed), lambda: lost_variants(rule, *changed))


def gains_of(task: Task, rule: Rule) -> tuple[Plan, ...]:
    """Plans for the heads that may gain a derivation by the rule."""
    changed = task.changed()
    return task.cache.get(("gained", rule.name, *changed), lambda: gained_variants(rule, *changed))


def whole_plan(task: Task, rule: Rule, version: Version) -> Plan:
    """The plan of a rule over all that is known, or was known before the change."""
    return task.cache.get(("whole", rule, version), lambda: whole(rule, version))
