"""A recursion that has nothing to begin with: every rule needs a fact of its own predicates."""

from __future__ import annotations

from zodiac_sql.cost.operator import certain
from zodiac_sql.evaluate.evaluation import Evaluates
from zodiac_sql.evaluate.semi_naive import Fixpoint

NOTHING: Evaluates = certain(
    "nothing",
    "there is nothing to begin with",
    lambda work: work.begins_with_nothing,
    lambda _: Fixpoint({}, 0, "loop"),
)
