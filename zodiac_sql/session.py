"""An open knowledge base: the database, its state, and the results kept for the next change.

The façade (knowledge_base.py) gets the state from here, and has changes carried out here.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from zodiac_sql.change.settings import CHANGING, Changing, Settings
from zodiac_sql.database import dictionary
from zodiac_sql.database.connection import Tracer
from zodiac_sql.database.guard import Guard, exclusive
from zodiac_sql.database.limits import NO_LIMITS, Limits, limits_of, require_known
from zodiac_sql.database.registered_functions import remove_function
from zodiac_sql.database.signals import forget
from zodiac_sql.database.store import Store
from zodiac_sql.errors import (
    BusyError,
    ConstraintError,
    FunctionError,
    PublishedError,
    StoreError,
    ZodiacError,
)
from zodiac_sql.language.functions import Function
from zodiac_sql.python_functions import add_function, require_free, shown, signature, takes
from zodiac_sql.storage import catalog

if TYPE_CHECKING:
    from zodiac_sql.change.apply import Applied
    from zodiac_sql.change.change import Change
    from zodiac_sql.change.collected import Collected
    from zodiac_sql.change.explained import ChangeExplanation
    from zodiac_sql.change.materialise import Progress
    from zodiac_sql.change.plan_sizes import Plan
    from zodiac_sql.change.prepared import Prepared
    from zodiac_sql.change.report import IsCurrent
    from zodiac_sql.change.streamed_update import StreamedUpdate
    from zodiac_sql.database.compact import Compacted
    from zodiac_sql.maintain.marking import Marks
    from zodiac_sql.program.state import State

_Answer = TypeVar("_Answer")

_Do = Callable[["Collected", "IsCurrent", "Progress | None"], "Applied"]

_READING_TRIES = 5
"""How often a query is tried, because another connection may change the file meanwhile."""


class Session:
    """What a knowledge base holds while it is open."""

    def __init__(
        self,
        opened: Callable[[], Store],
        functions: Iterable[Function],
        settings: Settings,
        limits: Limits = NO_LIMITS,
    ) -> None:
        self._open_store = opened
        self._settings = settings
        self._prepared: Prepared | None = None
        self._marks: Marks | None = None
        self.functions: dict[str, Function] = {}
        self._updating = False
        self._has_changed = False
        self._last: weakref.ref[Change] | None = None
        self._held = opened()
        self._end = weakref.finalize(self, _settle_at_the_end, self._held)
        self._held.watch.usual = limits
        try:
            dictionary.prepare(self._held)
            self.state = catalog.load_anew(self._held, is_empty=self._held.file.in_memory)
            for function in functions:
                self.register(function)
        except ZodiacError:
            self._held.close()
            raise

    @property
    def guard(self) -> Guard:
        """Who may use the knowledge base now."""
        return self._held.guard

    _guard = guard  # for methods that are exclusive

    @property
    def store(self) -> Store:
        """The open database. It is opened again if a failure has damaged the connection."""
        if self._held.connection.damaged:
            self._open_again()
        return self._held

    # Changing

    @contextmanager
    def updating(
        self, progress: Progress | None, how: Changing | None = None
    ) -> Iterator[Collected]:
        """Collect an update inside the block, and apply it at the end."""
        from zodiac_sql.change.apply import apply

        with self._collecting(how) as collected:
            yield collected
            change = self._done(apply, collected, progress)
            self._has_changed = True
            self._last = weakref.ref(change)

    @contextmanager
    def streaming(self, how: Changing | None = None) -> Iterator[StreamedUpdate]:
        """The same as `updating` for an update of a stream."""
        from zodiac_sql.change.streamed_update import StreamedUpdate

        with self.updating(None, how) as collected:
            yield StreamedUpdate(collected)

    @contextmanager
    def previewing(
        self, progress: Progress | None, how: Changing | None = None
    ) -> Iterator[Collected]:
        """Collect an update inside the block, and only compute its effects at the end."""
        from zodiac_sql.change.apply import preview

        with self._collecting(how) as collected:
            yield collected
            self._done(preview, collected, progress)

    @contextmanager
    def planning(self, how: Changing | None = None) -> Iterator[Collected]:
        """Collect an update inside the block, and only estimate its effects at the end."""
        from zodiac_sql.change.apply import plan

        with self._collecting(how) as collected:
            yield collected
            self._plan(plan, collected)

    @exclusive
    def _plan(self, plan: Callable[[Collected], Plan], collected: Collected) -> None:
        collected.plan = plan(collected)

    @contextmanager
    def _collecting(self, how: Changing | None) -> Iterator[Collected]:
        """Begin an update. If the block fails, nothing of the update is left."""
        require_known(how or {}, CHANGING)
        if self.store.file.read_only:
            raise StoreError(f"{self.store.file.path} was opened with read_only=True")
        self.guard.check()
        if self._updating:
            raise BusyError("an update is under way: use its verbs, or end it first")
        self._updating = True
        collected: Collected | None = None
        try:
            self._count_last()
            with self._held.watch.limited(limits_of(how or {}), changes=True):
                collected = self._begun()
                collected.check = (how or {}).get("check", True)
                yield collected
        except BaseException as error:
            self._marks = None
            if not self.guard.inherited:
                self._clean()
                if collected is not None and self._may_be_published(collected):
                    self._tell_if_published(collected, error)
                elif type(error) is StoreError and self._is_overtaken():
                    said = "this change was computed"
                    raise catalog.changed_meanwhile(self.store, said) from error
            raise
        finally:
            self._updating = False
            if collected is not None:
                collected.ended = True

    @exclusive
    def _begun(self) -> Collected:
        from zodiac_sql.change.collected import Collected

        dictionary.forget_new(self.store)
        self.store.temporary.begin()
        self.state = self.current().again()  # the facts of the last change are gone now
        return Collected(
            store=self.store,
            state=self.state,
            functions=dict(self.functions),
            settings=self._settings,
            prepared=self._prepared,
            marks=self._marks,
        )

    @exclusive
    def _done(self, do: _Do, collected: Collected, progress: Progress | None) -> Change:
        """Apply or preview an update, and keep the state and results for the next one."""

        store = collected.store  # the change must not refer to what it was collected in

        def is_current() -> bool:
            # Do not compare the state of the change itself: after a preview it is never current.
            return self.state is state_then and catalog.is_current(store, state_then)

        try:
            applied = do(collected, is_current, progress)
        except ConstraintError as error:
            raise self._explained(collected, error) from None
        state_then = applied.state
        self.state, self._prepared = applied.state, applied.prepared
        self._marks = applied.marks
        store.transactions.unsure = False
        collected.change = replace(applied.change, _why=self._why)
        return collected.change

    def _explained(self, collected: Collected, error: ConstraintError) -> ConstraintError:
        """The error with reasons, as long as the tables of the change are there."""
        from zodiac_sql.change.constraints import BrokenError
        from zodiac_sql.read.why.why_violated import why_violated

        if not isinstance(error, BrokenError):
            return error
        reason = partial(
            why_violated, collected.store, collected.state, self.functions, error.change
        )
        return ConstraintError([replace(one, why=reason(one)) for one in error.violations])

    @exclusive
    def _why(self, change: Change, goal: str) -> ChangeExplanation:
        """Why a fact entered or left with a change."""
        from zodiac_sql.read.why.why_changed import why_changed

        return why_changed(self.store, self.state, self.functions, change, goal)

    @exclusive
    def _clean(self) -> None:
        """Remove the temporary tables and new symbols of an update that has failed."""
        from zodiac_sql.change.temporary_tables import drop_all_temporary

        self.store.transactions.end(self.store.connection)
        drop_all_temporary(self.store)
        dictionary.forget_new(self.store)

    def _may_be_published(self, collected: Collected) -> bool:
        """Whether an update failed at its COMMIT, or after it."""
        return self._held is not collected.store or self._held.transactions.unsure

    @exclusive
    def _tell_if_published(self, collected: Collected, error: BaseException) -> None:
        """Read the state again. Raise PublishedError if the file has an update that failed."""
        from zodiac_sql.change.directly import is_proven

        self.current()
        if not isinstance(error, ZodiacError) or isinstance(error, PublishedError):
            return
        there = collected.proof is not None and is_proven(self._held, collected.proof)
        if there or self.state.is_after(collected.state):
            raise PublishedError(
                f"The change is in {self._held.file.path}, as a whole, but something failed when "
                f"it was there: {error}"
            ) from error

    def _count_last(self) -> None:
        """Complete the counts of the last change, if anybody still refers to it."""
        change = self._last() if self._last else None
        self._last = None
        if change is not None:
            with suppress(ZodiacError):  # another connection has changed the file since
                _ = change.deleted

    # Reading

    def current(self) -> State:
        """The state of the file. It is read again if another connection of this process changed it,
        or a change failed when it was in the file already.
        """
        store = self.store
        if store.transactions.unsure or not catalog.is_current(store, self.state):
            self.state = catalog.load_anew(store)
            store.transactions.unsure = False
        return self.state

    def read(self, ask: Callable[[State], _Answer]) -> _Answer:
        """The answer of `ask` for one state. It retries if another connection changes the file.

        (A transaction cannot ensure this, because DuckDB ends it when it must replan a statement.)
        """
        for _ in range(_READING_TRIES):
            state = self.state
            try:
                answer = ask(state)
            except ZodiacError:
                if self.current() is state:
                    raise
            else:
                if self.current() is state:
                    return answer
        raise catalog.changed_meanwhile(self.store, "it was read")

    @contextmanager
    def holding(self, ask: Callable[[State], AbstractContextManager[_Answer]]) -> Iterator[_Answer]:
        """The same as `read` for an answer that stays open inside the block."""
        with ExitStack() as entered:
            yield self._enter(entered, ask)

    @exclusive
    def _enter(
        self, entered: ExitStack, ask: Callable[[State], AbstractContextManager[_Answer]]
    ) -> _Answer:
        return self.read(lambda state: entered.enter_context(ask(state)))

    def _is_overtaken(self) -> bool:
        """Whether another connection has changed the file since the last call here."""
        with suppress(StoreError):
            return catalog.generation(self.store) != self.state.generation
        return False

    # Functions

    def register(self, function: Function) -> None:
        """Let rules call a function. Raises FunctionError if it clashes with existing rules."""
        from zodiac_sql.sql.functions import python_function

        used = self.state.functions.get(function.name)
        if used is None:
            require_free(function.name)
        elif used != signature(function):
            raise FunctionError(
                f"rules use {shown(used)}; it cannot be registered as {shown(function)}"
            )
        if function.call is None or not takes(function.call, len(function.parameters)):
            raise FunctionError(
                f"{function.name} does not take {len(function.parameters)} arguments"
            )
        if function.name in self.functions:
            remove_function(self.store, python_function(function.name))
        add_function(self.store, function)
        self.functions[function.name] = function

    # Life

    def compact(self, storage_version: str | None) -> Compacted:
        """Write the file anew, while it is closed, and open it again."""
        from zodiac_sql.database.compact import compact
        from zodiac_sql.database.forks import is_open

        store = self.store
        if store.file.in_memory or store.file.read_only:
            raise StoreError(f"{store.file.path} is no file that may be written")
        own = [one.connection.duckdb for one in (store, store.reader) if one]
        if self._updating or is_open(store.file.path, own):
            raise BusyError(f"{store.file.path} is in use: compact it when nobody else has it open")
        self._count_last()
        self.current()
        self._drop_aside()
        store.journal.settle()  # close would leave it in the file if it fails
        store.close()
        try:
            return compact(store.file.real, store.file.settings, storage_version)
        finally:
            self._open_again()

    def _open_again(self) -> None:
        """Close a damaged connection, and open the file again.

        Raises StoreError if it cannot be opened now; the next call tries once more.
        """
        old = self._held
        if old.file.in_memory:
            raise StoreError("DuckDB failed, and what was in memory is lost: begin with a new one")
        old.close()
        store = self._open_store()
        store.take_place_of(old)
        try:
            dictionary.prepare(store)
            state = catalog.load_anew(store)
            for function in self.functions.values():
                add_function(store, function)
        except BaseException:
            store.close()
            raise
        self._end.detach()
        self._end = weakref.finalize(self, _settle_at_the_end, store)
        self._held, self.state = store, state
        self._prepared = self._marks = self._last = None
        self._has_changed = False

    def trace(self, tracer: Tracer | None) -> None:
        """Show a function every statement; None ends this."""
        self._held.connection.tracer = tracer

    @property
    def path(self) -> str:
        return self._held.file.path

    def close(self) -> None:
        """Close the database, and drop the tables that only a Change needs."""
        self.guard.check()
        if self._has_changed:
            self._count_last()
        self._close()
        forget(self.guard.watch)

    @exclusive
    def _close(self) -> None:
        if self._has_changed:
            with suppress(ZodiacError):  # if this fails, the next change drops them
                self._drop_aside()
        self._has_changed = False
        if self._prepared is not None:
            self._prepared.copies.close()
        self._held.close()

    def _drop_aside(self) -> None:
        """Drop the tables that the last change set aside, unless another connection has changed
        the file.
        """
        if self.state.aside and self.state is self.current():
            with self.store.transaction():
                catalog.drop_aside(self.store, self.state)


def _settle_at_the_end(store: Store) -> None:
    """Bring to the tables what waits in the journal of a session that nobody has closed.

    That is called when it is garbage, or the program ends. Other clients of DuckDB would not find
    these changes. Nothing of it is lost if it fails.
    """
    instance = store.connection.instance
    if not (instance.damaged or store.guard.inherited or instance.company.settling.locked()):
        with suppress(ZodiacError):
            store.journal.settle()
