"""The loop: applies each update that arrives as one change, and yields it once it is durable."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zodiac_sql.change.change import Change, Streamed
from zodiac_sql.errors import (
    ConstraintError,
    DataError,
    EvaluationError,
    FunctionError,
    MissingFunctionError,
    ProgramError,
    QueryError,
    StreamError,
)
from zodiac_sql.stream.coalesce import Net
from zodiac_sql.stream.sources import UpdateSource
from zodiac_sql.stream.ticks import Ticks
from zodiac_sql.stream.updates import Item, once

if TYPE_CHECKING:
    from zodiac_sql.change.streamed_update import StreamedUpdate
    from zodiac_sql.program.state import State


LOGGER = logging.getLogger("zodiac_sql.stream")

Begin = Callable[[bool], AbstractContextManager["StreamedUpdate"]]
"""Begins an update of the knowledge base, which is applied at the end of the block. It is told
whether the update is a tick alone: no constraint can refuse that time goes on."""


REFUSALS = (
    ConstraintError, ProgramError, DataError, QueryError, EvaluationError, FunctionError,
)  # fmt: skip
"""Errors in an update itself. Only these become a StreamError with its number, or are passed
over."""


_UNREADABLE = (ValueError, TypeError, ArithmeticError, NotImplementedError, RecursionError)
"""The errors that Python and Arrow raise for values that they cannot read or convert."""


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """How a stream is applied; see `KnowledgeBase.stream`."""

    name: str | None = None
    coalesce: int = 1
    queue: int | None = None
    skip_bad: bool = False
    tick: float | None = None

    def __post_init__(self) -> None:
        if self.coalesce < 1:
            raise ValueError(f"coalesce is at least 1; not {self.coalesce}")
        if self.queue is not None and self.queue < 1:
            raise ValueError(f"queue is at least 1; not {self.queue}")
        if self.tick is not None and not self.tick > 0:
            raise ValueError(f"tick is a number of seconds above 0; not {self.tick}")

    def ticks(self) -> Ticks | None:
        """When the stream ticks by itself."""
        return None if self.tick is None else Ticks(self.tick)

    def passed_over(self, position: Callable[[str], int | None]) -> int:
        """How many updates are in the file already."""
        return (position(self.name) or 0) if self.name is not None else 0


def ended_early(name: str | None, done: int, there: int) -> StreamError:
    return StreamError(
        f"stream {name} has come to update {done}, but this source has only {there}: "
        "is it another one?",
        done,
    )


@dataclass(slots=True)
class StreamLoop:
    """Applies the updates of a source, except the first `done` ones."""

    source: UpdateSource
    begin: Begin
    options: StreamOptions
    done: int
    ticks: Ticks | None = None
    _singly: int = 0
    """How many of the next updates are applied one by one, because together they were refused."""
    _ticked: bool = False
    """Whether the clock ticks with the update that is being applied."""

    def changes(self) -> Iterator[Change]:
        """Yield one change for each update, or for several that are coalesced, and for each tick
        of its own.

        No update is in progress while a change is yielded. Updates that are not applied are put
        back into the source.
        """
        name = "a stream" if self.options.name is None else f"stream {self.options.name}"
        LOGGER.info("%s begins after update %d", name, self.done)
        try:
            yield from self._changes()
        finally:
            LOGGER.info("%s ends after update %d", name, self.done)

    def _changes(self) -> Iterator[Change]:
        while True:
            if self._waits():
                yield self._tick()
                continue
            item = self.source.next()
            if item is None:
                return
            taken = [item]
            change = None
            try:
                change = self._made_by(taken)
            finally:
                if change is None:
                    self.source.put_back(taken)
            if change is not None:
                if self.ticks is not None:
                    self.ticks.rests = False
                self.done += len(taken)
                self._singly = max(0, self._singly - 1)
                yield change

    def _waits(self) -> bool:
        """Whether it is time for a tick of its own."""
        ticks = self.ticks
        return ticks is not None and (ticks.alone or not self.source.wait(ticks.left))

    def _tick(self) -> Change:
        """Let the clock tick, whatever constraints say."""
        assert self.ticks is not None
        with self.begin(True) as update:
            update.tick()
        self.ticks.done()
        return update.change

    def _made_by(self, taken: list[Item]) -> Change | None:
        """The change of an update and those taken with it; None if they are refused together.

        In that case they will be tried one by one.
        """
        try:
            return self._applied(taken)
        except REFUSALS as error:
            if self._ticked:
                assert self.ticks is not None
                self.ticks.alone = True
                return None
            if len(taken) > 1:
                self._singly = len(taken)
                return None
            if not self.options.skip_bad or isinstance(error, MissingFunctionError):
                said = f"{self._called(taken[0])}: {error}"
                raise StreamError(said, self.done + 1) from error
            return self._passed_over(taken[0], error)

    def _applied(self, taken: list[Item]) -> Change:
        """Apply an update, together with those that have arrived and can be coalesced."""
        self._ticked = False
        taken[0].read()  # a bad one is refused before anything begins
        with self.begin(False) as update:
            with _reading():
                self._tell(update, taken)
            self._sign(update, taken)
            if self.ticks is not None and self.ticks.is_due and not self.ticks.rests:
                self._ticked = True
                update.tick()
            if self.options.coalesce == 1:
                self._look_ahead(update)
        if self._ticked and self.ticks is not None:
            self.ticks.done()
        return update.change

    def _tell(self, update: StreamedUpdate, taken: list[Item]) -> None:
        """Pass an update of the stream to the knowledge base, with others that can be netted."""
        step = taken[0].step_for(update.state)
        if self.options.coalesce > 1 and not self._singly:
            net = Net(update.state, update.graph_before)
            if net.add(step):
                self._take(taken, net, update.state)
            if len(taken) > 1:
                net.tell(update)
                return
        step.tell(update)

    def _take(self, taken: list[Item], net: Net, state: State) -> None:
        """Take updates from the source as long as they have arrived and can be netted."""
        while len(taken) < self.options.coalesce:
            item = self.source.ahead()
            try:
                if item is None or not net.add(item.step_for(state)):
                    return
            except DataError:  # it will be raised again when the update's turn comes
                return
            self.source.next()
            taken.append(item)

    def _sign(self, update: StreamedUpdate, taken: list[Item]) -> None:
        """Say which updates a change applies, and note how far the stream has come."""
        last = self.done + len(taken)
        update.applies(Streamed(self.done + 1, last, taken[0].arrived, self.source.waiting()))
        if self.options.name is not None:
            update.record(self.options.name, last)

    def _look_ahead(self, update: StreamedUpdate) -> None:
        """Say what the next update will delete, if it is here already."""
        item = self.source.ahead()
        if item is None:
            return
        with suppress(*REFUSALS), _reading():  # errors are raised when the update's turn comes
            step = item.step_for(update.state)
            if step.deletes and not step.has_rules and not any(map(once, step.deletes.values())):
                update.look_ahead(step.deletes)

    def _called(self, item: Item) -> str:
        """The name of the next update in messages."""
        return f"update {self.done + 1}" + (f" ({item.where})" if item.where else "")

    def _passed_over(self, item: Item, error: Exception) -> Change:
        """A change that only notes that an update was passed over."""
        LOGGER.warning("%s was passed over: %s", self._called(item), error)
        with self.begin(False) as update:
            update.note(f"{self._called(item)} was passed over: {error}")
            self._sign(update, [item])
        return update.change


def is_told(change: Change) -> bool:
    """Whether people see a change of a stream: not a tick at which nothing happens."""
    return bool(change.updates) or bool(change)


@contextmanager
def _reading() -> Iterator[None]:
    """Turn errors of Python or Arrow about rows into a DataError."""
    try:
        yield
    except _UNREADABLE as error:
        raise DataError(f"what it says cannot be read. {type(error).__name__}: {error}") from error
