"""Hypernodes one of whose relations is a partition: DRed^c with modules (paper 2, Algorithm 3).

Facts of a partition have neither ranks nor proofs that could be examined one by one. Its module
does for all facts at once what `bf` is for: it takes out no fact that facts from outside prove.
"""

from __future__ import annotations

from math import inf

from zodiac_sql.cost.calibration import STATEMENT
from zodiac_sql.cost.operator import Cost, Declined, Operator, certain
from zodiac_sql.cost.rounds import rounds_in
from zodiac_sql.maintain.contract import Outcome
from zodiac_sql.maintain.papers.dred import dred
from zodiac_sql.maintain.steps.change_plans import losses
from zodiac_sql.maintain.weighed import Maintains, Weighed


def _matches(weighed: Weighed) -> bool:
    task = weighed.task
    if task.former.merges and losses(task):
        return False
    return any(row.parted and not row.directed for row in task.inner.rows)


def _cost(weighed: Weighed) -> Cost:
    """Where little moves, it takes twelve statements. Without other rules, the module itself does
    not do more than starting over.
    """
    others = weighed.incremental if weighed.task.hypernode.rules else 0
    return Cost(12 * STATEMENT + others, "a relation is kept as a partition")


def _run(weighed: Weighed, next_ms: float) -> Outcome | Declined:
    """Deletion goes on round by round, until that has cost as much as starting over."""
    rounds = None if next_ms == inf else rounds_in(next_ms / 1000)
    return dred(weighed.task, rounds)


PARTITIONS: Maintains = Operator("dred", _matches, _cost, _run)

AS_CHOSEN: Maintains = certain(
    "dred", "a relation is kept as a partition", _matches, lambda weighed: dred(weighed.task)
)
"""The same for strategies that users choose."""
