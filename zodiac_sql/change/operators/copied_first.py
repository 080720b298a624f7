"""Look-ups for a change whose rounds cost DuckDB a statement each: all copies are made for it.

Rules with several recursive atoms cannot be cascaded (maintain/steps/cascade.py): where they are
deep, a change would take thousands of rounds. Nobody knows how many there will be. So the
hypernodes are maintained until their rounds have cost twice what copies of everything cost, and
then the change is begun anew, with look-ups.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from copy import deepcopy
from dataclasses import replace

from zodiac_sql.change.execution import Applied, Carries, Execution
from zodiac_sql.change.kinds import kind_of
from zodiac_sql.change.operators.hypernodes import expected
from zodiac_sql.change.operators.look_ups import looked_up
from zodiac_sql.cost.operator import Cost, Declined, Operator
from zodiac_sql.lookups.copies import Copies
from zodiac_sql.lookups.worth import copying, limits_of

MOST = 60_000
"""Nobody waits for more milliseconds for copies, nor for look-ups. Nobody knows how many rounds
there would be.
"""


def _matches(execution: Execution) -> bool:
    kind = kind_of(execution)
    if kind is None or _copying(execution) > MOST:
        return False
    copies, before = execution.prepared.copies, execution.before
    names = (name for name, *_ in kind)
    return not copies.why_impossible(before.state, execution.prepared.graph, names)


def _copying(execution: Execution) -> float:
    """What rounds may take before everything is copied, in milliseconds."""
    return 2 * copying(execution.before.state.rows.values())


def _cost(execution: Execution) -> Cost:
    """It comes when the hypernodes have been maintained for so long in vain."""
    return Cost(expected(execution) + _copying(execution), "rounds cost more than all copies")


def _run(execution: Execution, _: float) -> Applied | Declined:
    kind = kind_of(execution)
    assert kind is not None
    copies, seconds = execution.prepared.copies, sum(execution.told.seconds.values())
    with nullcontext() if execution.publishes else _on_credit(copies):
        copies.worth.earn(kind, 1, seconds, execution.request.streamed is not None)
        return looked_up(execution, kind, limits_of(MOST))


@contextmanager
def _on_credit(copies: Copies) -> Iterator[None]:
    """Let a preview make the copies that the change would make. What it earns is not kept; what it
    spends of what was there before, is.
    """
    before = copies.worth
    copies.worth = credit = deepcopy(before)
    try:
        yield
    finally:
        copies.worth = before
        before.earned = min(before.earned, credit.earned)
        before.prices = replace(credit.prices, gained=before.prices.gained)


COPIED_FIRST: Carries = Operator("look-ups, copied first", _matches, _cost, _run)
