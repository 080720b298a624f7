"""Rounds over delta tables (evaluate/semi_naive.py): all recursions can be evaluated like that.

A loop that takes many rounds goes on in one statement (rest_at_once.py).
"""

from __future__ import annotations

from zodiac_sql.cost.calibration import HASHED, STATEMENT
from zodiac_sql.cost.operator import Cost, Operator
from zodiac_sql.evaluate.evaluation import Evaluates, Evaluation
from zodiac_sql.evaluate.layers import sampled
from zodiac_sql.evaluate.semi_naive import Fixpoint, semi_naive

STATEMENTS, OF_A_PREDICATE = 10, 5
"""How many statements some rounds take, and how many more for each predicate."""


def _cost(work: Evaluation) -> Cost:
    """In a large closure, rounds find the same heads as one statement."""
    statements = STATEMENTS + OF_A_PREDICATE * len(work.hypernode.derives)
    found = sampled(work)
    heads = found.in_statement if found else 0
    return Cost(STATEMENT * statements + 2 * HASHED * work.reads + heads)


def _loop(work: Evaluation) -> Fixpoint:
    return semi_naive(work.runner, work.hypernode, work.schema, work.context, {})


LOOP: Evaluates = Operator(
    "loop", lambda work: work.is_recursion, _cost, lambda work, _: _loop(work)
)
