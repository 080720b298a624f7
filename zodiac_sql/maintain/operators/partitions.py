"""Hypernodes one of whose relations is a partition: DRed^c with modules (paper 2, Algorithm 3).

Facts of a partition have neither ranks nor proofs that could be examined one by one. Its module
does for all facts at once what `bf` is for: it takes out no fact that facts from outside prove.
"""

from __future__ import annotations

from zodiac_sql.cost.calibration import STATEMENT
from zodiac_sql.cost.operator import Cost, Operator
from zodiac_sql.maintain.papers.dred import dred
from zodiac_sql.maintain.steps.change_plans import losses
from zodiac_sql.maintain.weighed import Maintains, Weighed

STATEMENTS = 12
"""How many statements it takes where little moves."""


def _matches(weighed: Weighed) -> bool:
    task = weighed.task
    if task.merges and losses(task):
        return False
    return any(row.parted and not row.directed for row in task.modules)


def _cost(weighed: Weighed) -> Cost:
    """Without other rules, the module itself does not do more than starting over."""
    others = weighed.incremental if weighed.task.hypernode.rules else 0
    return Cost(STATEMENT * STATEMENTS + others, "a relation is kept as a partition")


PARTITIONS: Maintains = Operator("dred", _matches, _cost, lambda weighed, _: dred(weighed.task))

AS_CHOSEN: Maintains = Operator(
    "dred",
    _matches,
    lambda weighed: Cost(0, "a relation is kept as a partition"),
    lambda weighed, _: dred(weighed.task),
)
"""The same for strategies that users choose."""
