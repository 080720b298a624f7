"""All ways to maintain one hypernode after one change, and the strategies that users may choose.

By `auto` and `lookups`, the cheapest operator that matches is run (cost/operator.py). The other
strategies are for those who compare: a recursive hypernode is maintained by the one that was
chosen, and all others as by `auto` as far as they cannot be chosen, without weighing.

To add an operator: a file in maintain/operators/, and its row here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from zodiac_sql.cost.operator import Decision, run_cheapest
from zodiac_sql.maintain.contract import Outcome, Task
from zodiac_sql.maintain.operators import partitions, recompute, support
from zodiac_sql.maintain.operators.band import BAND
from zodiac_sql.maintain.operators.best import BEST
from zodiac_sql.maintain.operators.candidates import CANDIDATES
from zodiac_sql.maintain.operators.components import COMPONENTS
from zodiac_sql.maintain.operators.copies import COPIES
from zodiac_sql.maintain.operators.lost_edge import LOST_EDGE
from zodiac_sql.maintain.operators.nodes import nodes
from zodiac_sql.maintain.operators.partitions import PARTITIONS
from zodiac_sql.maintain.operators.products import PRODUCTS
from zodiac_sql.maintain.operators.recompute import RECOMPUTE
from zodiac_sql.maintain.operators.sets import SETS
from zodiac_sql.maintain.operators.support import SUPPORT
from zodiac_sql.maintain.papers.bf import bf_with
from zodiac_sql.maintain.papers.dred import dred_with
from zodiac_sql.maintain.papers.marking import NO_MARKS, Marking, candidates_with
from zodiac_sql.maintain.weighed import Maintains, Moves, Weighed

Operators = tuple[Maintains, ...]

OPERATORS: Operators = (
    COPIES,
    CANDIDATES,
    PRODUCTS,
    SUPPORT,
    LOST_EDGE,
    SETS,
    BEST,
    COMPONENTS,
    PARTITIONS,
    RECOMPUTE,
)

_NOT_CHOSEN: Operators = (BEST, COMPONENTS, partitions.AS_CHOSEN, CANDIDATES, recompute.LAST)
"""What maintains a hypernode whatever strategy is chosen, if that cannot."""

OF_TICKS: Operators = (BAND, recompute.LAST)
"""What maintains a hypernode whose rules say now(), when the clock has moved."""

CHOSEN: dict[str, Operators] = {
    "recompute": (recompute.AS_CHOSEN,),
    "dred": (dred_with(NO_MARKS), *_NOT_CHOSEN),
    "bf": (bf_with(NO_MARKS), *_NOT_CHOSEN),
    "support": (support.AS_CHOSEN, *_NOT_CHOSEN),
}

MARKING: dict[str, Callable[[Marking], Operators]] = {
    "bf_marking": lambda marks: (bf_with(marks), candidates_with(marks), *_NOT_CHOSEN),
    "dred_marking": lambda marks: (dred_with(marks), candidates_with(marks), *_NOT_CHOSEN),
}
"""Those that look one update ahead in a stream (papers/marking.py), by what is marked."""

FORCED: Iterable[str] = ()
"""The names of operators that tests let run before all others, where they match."""

LOOKUPS = ("auto", "lookups")
"""Those by which changes of few facts may be looked up (change/operators/look_ups.py): when that
has been earned, or at once. What is not looked up follows by the cheapest operator."""

STRATEGIES = (*LOOKUPS, *CHOSEN, *MARKING)
"""The names of all strategies."""


def maintain(
    task: Task, strategy: str, marking: Marking = NO_MARKS
) -> tuple[Outcome, Decision, Moves | None]:
    """Maintain a hypernode: what came of it, which operator did it, and why, and how many facts
    were expected to move.
    """
    operators = CHOSEN.get(strategy, OPERATORS)
    if strategy in MARKING:
        operators = MARKING[strategy](marking)
    if task.inputs.ticked:
        operators = OF_TICKS
    elif strategy != "recompute":
        operators = (nodes(partial(_maintained, strategy=strategy)), *operators)
    weighed = Weighed(task)
    with task.runner.rules.together([rule.name for rule in task.hypernode.rules]):
        done = run_cheapest(operators, weighed, FORCED)
    return *done, weighed.moves


def _maintained(task: Task, strategy: str) -> Outcome:
    """The outcome alone, for a rule of several."""
    return maintain(task, strategy)[0]
