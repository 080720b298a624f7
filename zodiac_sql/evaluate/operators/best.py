"""Best values of groups (evaluate/improve.py)."""

from __future__ import annotations

from zodiac_sql.cost.operator import certain
from zodiac_sql.evaluate.evaluation import Evaluates
from zodiac_sql.evaluate.improve import best_values

BEST: Evaluates = certain(
    "best",
    "best values of groups",
    lambda work: bool(work.hypernode.bests),
    lambda work: best_values(work.runner, work.hypernode, work.schema, work.context),
)
