"""The verbs that have to do with time: where the clock is, and how long facts stay."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Unpack

from zodiac_sql.change.settings import Changing
from zodiac_sql.questions import Questions

if TYPE_CHECKING:
    from zodiac_sql.change.change import Change
    from zodiac_sql.change.clock import Moment
    from zodiac_sql.change.update import Update


class Timed(Questions):
    """What can be asked of a session, and what has to do with time."""

    if TYPE_CHECKING:

        def update(self, **how: Unpack[Changing]) -> AbstractContextManager[Update]: ...

    def tick(self, now: Moment | None = None, **how: Unpack[Changing]) -> Change:
        """Let the clock be at a time, and facts leave that windows let go by then.

            kb.tick()

        `now` is a moment in UTC, or with its own time zone, or seconds since 1970; by default it is
        what the clock of the machine says. All that leaves is one change, as if it was deleted.
        Facts that are inserted later are too late if they would have left by this time. A clock
        that is put back brings nothing back. Raises QueryError for what is no time.
        """
        with self.update(**how) as update:
            update.tick(now)
        return update.change

    def keep(self, predicate: str, *windows: str, **how: Unpack[Changing]) -> Change:
        """Make these the windows of a predicate: how long its explicit facts stay, or how many.

            kb.keep("reading", "at: 1 hour", "last 100 by turbine")

        Each says what stands in parentheses after `.window reading` in a text of rules. Those in
        named rule sets stay as they are; without any, facts stay until they are deleted. Raises
        ProgramError.
        """
        with self.update(**how) as update:
            update.keep(predicate, *windows)
        return update.change
