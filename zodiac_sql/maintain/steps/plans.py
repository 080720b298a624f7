"""Plans that several strategies use, and how they run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from zodiac_sql.database.runner import Runner
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.evaluate.run_plans import Target, apply_plans
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Plan, candidate_check
from zodiac_sql.sql.relations import Part


def checks(cache: StatementCache, hypernode: Hypernode, predicate: str) -> list[Plan]:
    """Plans that derive the candidates that can be derived."""
    return [
        cache.get(("check", rule.name), partial(candidate_check, rule, recursive=hypernode.derives))
        for rule in hypernode.rules
        if rule.head.predicate == predicate
    ]


def found_by(
    runner: Runner, plans: Sequence[Plan], context: Context, target: Target
) -> Part | None:
    """Make a temporary table of what plans find. None if that is nothing."""
    rows = apply_plans(runner, plans, context, target)
    return Part("temp", target.table, rows, ranked=target.ranked) if rows else None
