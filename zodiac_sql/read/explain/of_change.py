"""What the hypernodes with work had to do in a change, or would have to do, by its stats."""

from __future__ import annotations

from collections.abc import Sequence

from zodiac_sql.change.change import Change
from zodiac_sql.change.stats import HypernodeStats
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.names import is_constraint
from zodiac_sql.read.explain.decisions import Decisions, HypernodeWork, RuleTime, decisions


def explain_change(change: Change) -> Decisions:
    """The decisions of a change or a preview."""
    hypernodes = change.after.by_name
    done = change.stats.hypernodes.items()
    work = [_explained(hypernodes[name], stats) for name, stats in done]
    return decisions(change.seconds, True, work)


def _explained(hypernode: Hypernode, stats: HypernodeStats) -> HypernodeWork:
    ms = 1000 * stats.seconds
    return HypernodeWork(
        hypernode=hypernode.name,
        derives=[name for name in hypernode.derives if not is_constraint(name)],
        operator=stats.strategy,
        why=stats.why,
        ms=ms,
        rounds=stats.iterations,
        inserted=stats.inserted,
        deleted=stats.deleted,
        expected_inserted=stats.expected_inserted,
        expected_deleted=stats.expected_deleted,
        maintaining=stats.considered,
        evaluating=stats.evaluated,
        rules=_rule_times(hypernode, ms),
    )


def _rule_times(hypernode: Hypernode, ms: float) -> Sequence[RuleTime]:
    """The time of a rule that has a hypernode for itself. Several are not told apart."""
    names = [rule.name for rule in hypernode.rules]
    if len(names) == 1:
        return [RuleTime(names[0], ms, None, "change")]
    return [RuleTime(name) for name in names]
