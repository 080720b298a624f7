"""Changes whose rounds cost DuckDB a statement each are begun anew with look-ups.

Rules with several recursive atoms cannot be cascaded (maintain/steps/cascade.py): where they are
deep, a change would take thousands of rounds. Nobody knows how many there will be. So a loop goes
on until it has cost twice what copies of everything cost, and ends then.
"""

from __future__ import annotations

from zodiac_sql.change.by_lookups import Kind, LookedUp, look_up
from zodiac_sql.change.collected import Collected
from zodiac_sql.change.prepared import Prepared
from zodiac_sql.cost.rounds import rounds_in
from zodiac_sql.lookups.worth import Declined, copying, limits_of
from zodiac_sql.program.state import State

TIMES_AS_MANY = 10
"""Look-ups may take so many times as long as the rounds have taken that they stand in for. If that
is too short, so many times as many rounds come before they are tried again: the rounds themselves
then cost that much more, so all tries together cost a part of what a statement a round would.
"""

MOST_SECONDS = 60
"""Nobody waits longer for copies."""


def most_rounds(state: State, prepared: Prepared, kind: Kind | None) -> int | None:
    """How many rounds of a loop cost DuckDB twice what copies of everything cost: the change begins
    anew then, by look-ups. None: it cannot be looked up.
    """
    seconds = 2 * copying(state.rows.values())
    if not kind or seconds > MOST_SECONDS:
        return None
    try:
        names = (name for name, *_ in kind)
        prepared.copies.require_possible(state, prepared.graph, names)
    except Declined:
        return None
    return rounds_in(seconds)


def look_up_instead(collected: Collected, prepared: Prepared, kind: Kind | None) -> LookedUp | None:
    """Carry a change out by look-ups: its rounds have cost DuckDB more than all copies do."""
    assert kind is not None
    copies, seconds = prepared.copies, sum(collected.report.seconds.values())
    copies.worth.earn(kind, 1, seconds, collected.request.streamed is not None)
    return look_up(collected, prepared, kind, limits_of(TIMES_AS_MANY * seconds))
