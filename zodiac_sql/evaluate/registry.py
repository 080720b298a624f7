"""All ways to evaluate a hypernode from scratch.

To add one: a file in evaluate/operators/, and its row here.
"""

from __future__ import annotations

from collections.abc import Iterable

from zodiac_sql.cost.operator import Decision, run_cheapest
from zodiac_sql.evaluate.evaluation import Evaluates, Evaluation
from zodiac_sql.evaluate.layers import forget
from zodiac_sql.evaluate.operators.best import BEST
from zodiac_sql.evaluate.operators.classes import CLASSES
from zodiac_sql.evaluate.operators.components import COMPONENTS
from zodiac_sql.evaluate.operators.copies import COPIES
from zodiac_sql.evaluate.operators.in_layers import IN_LAYERS
from zodiac_sql.evaluate.operators.loop import LOOP
from zodiac_sql.evaluate.operators.nothing import NOTHING
from zodiac_sql.evaluate.operators.rules import RULES
from zodiac_sql.evaluate.operators.statement import STATEMENT_OF_ONE
from zodiac_sql.evaluate.operators.tagged import TAGGED
from zodiac_sql.evaluate.semi_naive import Fixpoint

OPERATORS: tuple[Evaluates, ...] = (
    RULES,
    BEST,
    COMPONENTS,
    CLASSES,
    NOTHING,
    COPIES,
    IN_LAYERS,
    STATEMENT_OF_ONE,
    TAGGED,
    LOOP,
)

FORCED: Iterable[str] = ()
"""The names of operators that tests let run before all others, where they match."""


def evaluate(work: Evaluation) -> tuple[Fixpoint, Decision]:
    """Compute a hypernode from scratch, in temporary tables: and which operator did it, and why.

    Facts that reach it from elsewhere are read but never become its own, unless one of its rules
    derives them, too (ARCHITECTURE.md, "Invariants").
    """
    with work.runner.rules.together([rule.name for rule in work.hypernode.rules]):
        done = run_cheapest(OPERATORS, work, FORCED)
    if work.has("sampled closure"):
        forget(work.store)
    return done
