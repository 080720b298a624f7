"""The plans that find what a change may take from a hypernode, and bring to it.

If rules came or went, they account for that, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.syntax import Rule
from zodiac_sql.maintain.contract import Task
from zodiac_sql.sql.plan import (
    Plan,
    Version,
    candidate_check,
    gained_variants,
    lost_variants,
    whole,
)


def losses(task: Task) -> list[Plan]:
    """Plans for the heads that may lose a derivation."""
    heritage = task.former.heritage
    return _all(task, losses_of, heritage.lost if heritage else (), Version.BEFORE)


def gains(task: Task) -> list[Plan]:
    """Plans for the heads that may gain a derivation."""
    heritage = task.former.heritage
    return _all(task, gains_of, heritage.new if heritage else (), Version.ALL)


def _all(
    task: Task,
    of_rule: Callable[[Task, Rule], tuple[Plan, ...]],
    moved: Iterable[Rule],
    version: Version,
) -> list[Plan]:
    lasting = task.former.lasting(task.hypernode.rules)
    plans = [plan for rule in lasting for plan in of_rule(task, rule)]
    return plans + [whole_plan(task.runner.cache, rule, version) for rule in moved]


def losses_of(task: Task, rule: Rule) -> tuple[Plan, ...]:
    """Plans for the heads that may lose a derivation by the rule."""
    key = ("lost", rule.name, *task.inputs.changed)
    return task.runner.cache.get(key, lambda: lost_variants(rule, *task.inputs.changed))


def gains_of(task: Task, rule: Rule) -> tuple[Plan, ...]:
    """Plans for the heads that may gain a derivation by the rule."""
    key = ("gained", rule.name, *task.inputs.changed)
    return task.runner.cache.get(key, lambda: gained_variants(rule, *task.inputs.changed))


def checks(cache: StatementCache, hypernode: Hypernode, predicate: str) -> list[Plan]:
    """Plans that derive the candidates that can be derived."""
    own, rules = hypernode.derives, hypernode.rules
    mine = (rule for rule in rules if rule.head.predicate == predicate)
    return [cache.get(("check", r.name), partial(candidate_check, r, recursive=own)) for r in mine]


def whole_plan(cache: StatementCache, rule: Rule, version: Version) -> Plan:
    """The plan of a rule over all that is known, or was known before the change."""
    return cache.get(("whole", rule, version), lambda: whole(rule, version))
