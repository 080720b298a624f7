"""A recursion that has nothing to begin with: every rule needs a fact of its own predicates."""

from __future__ import annotations

from zodiac_sql.cost.operator import Cost, Operator
from zodiac_sql.evaluate.evaluation import Evaluates, Evaluation
from zodiac_sql.evaluate.semi_naive import Fixpoint


def _matches(work: Evaluation) -> bool:
    hypernode = work.hypernode
    if hypernode.bests or not hypernode.recursive or any(row.parted for row in work.modules):
        return False
    return work.begins_with_nothing


NOTHING: Evaluates = Operator(
    "nothing",
    lambda work: _matches(work),
    lambda work: Cost(0, "there is nothing to begin with"),
    lambda work, _: Fixpoint({}, 0, "loop"),
)
