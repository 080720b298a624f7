"""All ways to carry an update out, or to compute what it would do.

To add one: a file in change/operators/, and its row here.
"""

from __future__ import annotations

from collections.abc import Iterable

from zodiac_sql.change.execution import Applied, Carries, Execution
from zodiac_sql.change.operators.copied_first import COPIED_FIRST
from zodiac_sql.change.operators.directly import DIRECTLY
from zodiac_sql.change.operators.hypernodes import HYPERNODES, TO_THE_END
from zodiac_sql.change.operators.look_ups import LOOK_UPS
from zodiac_sql.cost.operator import Decision, run_cheapest

OPERATORS: tuple[Carries, ...] = (DIRECTLY, LOOK_UPS, HYPERNODES, COPIED_FIRST, TO_THE_END)

FORCED: Iterable[str] = ()
"""The names of operators that tests let run before all others, where they match."""


def carry_out(execution: Execution) -> tuple[Applied, Decision]:
    """Carry an update out, or preview it: what came of it, and which operator did it, and why."""
    return run_cheapest(OPERATORS, execution, FORCED)
