"""The verbs that have to do with time: where the clock is, how long facts stay, and streams."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Unpack, overload

from zodiac_sql.change.settings import CHANGING, Changing
from zodiac_sql.database.limits import require_known
from zodiac_sql.questions import Questions
from zodiac_sql.updates import Updates

if TYPE_CHECKING:
    from zodiac_sql.change.change import Change
    from zodiac_sql.change.clock import Moment
    from zodiac_sql.change.streamed_update import StreamedUpdate
    from zodiac_sql.change.update import Update
    from zodiac_sql.stream.channel import UpdateQueue


class Timed(Questions):
    """What can be asked of a session, and what has to do with time."""

    _updates: Updates

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

    @overload
    def stream(
        self,
        updates: AsyncIterable[Mapping[str, object]],
        *,
        name: str | None = None,
        coalesce: int = 1,
        queue: int | None = None,
        skip_bad: bool = False,
        tick: float | None = None,
        **how: Unpack[Changing],
    ) -> AsyncIterator[Change]: ...

    @overload
    def stream(
        self,
        updates: Iterable[Mapping[str, object]] | str | Path | IO[str] | UpdateQueue,
        *,
        name: str | None = None,
        coalesce: int = 1,
        queue: int | None = None,
        skip_bad: bool = False,
        tick: float | None = None,
        **how: Unpack[Changing],
    ) -> Iterator[Change]: ...

    def stream(
        self,
        updates: object,
        *,
        name: str | None = None,
        coalesce: int = 1,
        queue: int | None = None,
        skip_bad: bool = False,
        tick: float | None = None,
        **how: Unpack[Changing],
    ) -> Iterator[Change] | AsyncIterator[Change]:
        """Apply updates as they come, each as one change. It is in the file when it is yielded.

            updates = [{"delete": {"at": [("wt1", 20)]}, "insert": {"at": [("wt1", 21)]}}]
            for change in kb.stream(updates):
                print(change.updates, change.inserted)

        An update (`StreamUpdate`) has the keys "delete", "insert", "drop_rules" and "add_rules".
        `updates` is an iterable of them; a file of JSON lines, as a path or open; an `UpdateQueue`;
        or an asynchronous iterable: then use `async for`, and a thread applies updates while the
        next change is awaited. Between two changes, `kb` may be used.

        With a `name`, the file records how far the stream has come (`position`); when the stream is
        started again from its first update, updates that are in the file are passed over. Up to
        `coalesce` updates that have arrived become one change with their net effect. A thread reads
        up to `queue` updates ahead. A bad update ends the stream (StreamError; earlier updates are
        in the file); with `skip_bad` it is passed over, and reported in the change's notes.

        With `tick`, the clock ticks by itself at most every so many seconds, as one change with the
        updates that have arrived, or a change of its own, which is yielded if something moves.
        """
        from zodiac_sql.stream.loop import StreamOptions
        from zodiac_sql.stream.run import stream

        require_known(how, CHANGING)
        options = StreamOptions(name, coalesce, queue, skip_bad, tick)
        self._session.guard.check()

        def begin(ticks: bool) -> AbstractContextManager[StreamedUpdate]:
            alone: Changing = {**how, "check": False}
            return self._updates.streaming(alone if ticks else how)

        return stream(updates, begin, self.position, self._session.guard, options)
