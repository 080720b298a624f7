"""Best values of groups (evaluate/improve.py)."""

from __future__ import annotations

from zodiac_sql.cost.operator import Cost, Operator
from zodiac_sql.evaluate.evaluation import Evaluates, Evaluation
from zodiac_sql.evaluate.improve import best_values
from zodiac_sql.evaluate.semi_naive import Fixpoint


def _best(work: Evaluation) -> Fixpoint:
    return best_values(work.runner, work.hypernode, work.schema, work.context)


BEST: Evaluates = Operator(
    "best",
    lambda work: bool(work.hypernode.bests),
    lambda work: Cost(0, "best values of groups"),
    lambda work, _: _best(work),
)
