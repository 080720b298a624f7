"""The verbs of an update that have to do with time: where the clock is, and how long facts stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zodiac_sql.change.collected import Collected
from zodiac_sql.database.guard import Guard, exclusive
from zodiac_sql.errors import QueryError
from zodiac_sql.names import CLOCK

if TYPE_CHECKING:
    from zodiac_sql.change.clock import Moment


class TimedUpdate:
    """What is to change with time; all other verbs are those of an `Update`."""

    def __init__(self, collected: Collected) -> None:
        self._collected = collected

    @property
    def _guard(self) -> Guard:
        if self._collected.report.ended:
            raise QueryError("this update has ended: its verbs are for inside its with block")
        return self._collected.before.store.guard

    @exclusive
    def tick(self, now: Moment | None = None) -> None:
        """Let the clock be at a time, and facts leave that windows let go by then.

        `now` is a moment in UTC, or with its own time zone; or seconds since 1970; by default it is
        what the clock of the machine says. Raises QueryError for anything else.
        """
        from zodiac_sql.change.clock import clock_at

        self._collected.request.positions[CLOCK] = clock_at(now)

    @exclusive
    def keep(self, predicate: str, *windows: str) -> None:
        """Make these the windows of a predicate, of those that stand in no named rule set.

        Each says what stands in parentheses after `.window p`: "at: 1 hour", "last 100 by turbine".
        Raises ProgramError.
        """
        from zodiac_sql.change.clock import windows_of

        name, rules = self._collected.edits.meant(predicate), self._collected.request.rules
        rules.windows.replace_of(name, windows_of(name, windows))
