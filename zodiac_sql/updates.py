"""Changes of an open knowledge base: each is collected, and then applied as a whole, or not at all.

The façade (knowledge_base.py) has changes carried out here.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from zodiac_sql.change.logged import log_change, log_refusal
from zodiac_sql.change.settings import CHANGING, Changing, Settings
from zodiac_sql.database import dictionary
from zodiac_sql.database.guard import Guard, exclusive
from zodiac_sql.database.limits import limits_of, require_known
from zodiac_sql.database.store import Store
from zodiac_sql.errors import (
    BusyError,
    ConstraintError,
    PublishedError,
    StoreError,
    ZodiacError,
)
from zodiac_sql.session import Session
from zodiac_sql.storage import catalog

if TYPE_CHECKING:
    from zodiac_sql.change.change import Change
    from zodiac_sql.change.collected import Collected
    from zodiac_sql.change.execution import Applied
    from zodiac_sql.change.explained import ChangeExplanation
    from zodiac_sql.change.materialise import Progress
    from zodiac_sql.change.plan_sizes import PlannedSizes
    from zodiac_sql.change.prepared import Prepared
    from zodiac_sql.change.report import IsCurrent
    from zodiac_sql.change.streamed_update import StreamedUpdate
    from zodiac_sql.database.compact import Compacted
    from zodiac_sql.maintain.papers.marking import Marks

_Do = Callable[["Collected", "IsCurrent", "Progress | None"], "Applied"]


@dataclass(slots=True)
class Last:
    """What the last change has left for the next one. Its tables are those of one connection."""

    store: Store
    prepared: Prepared | None = None
    marks: Marks | None = None
    change: weakref.ref[Change] | None = None
    """The last one that was applied, as long as its counts may be incomplete."""
    has_aside: bool = False
    """Whether tables may be there that only a Change needs."""


class Updates:
    """What changes an open knowledge base."""

    def __init__(self, session: Session, settings: Settings) -> None:
        self._session = session
        self._settings = settings
        self._last = Last(session.held)
        self._updating = False

    @property
    def _guard(self) -> Guard:
        return self._session.guard

    @property
    def last(self) -> Last:
        """What the last change has left; nothing if the database was opened again since."""
        if self._last.store is not self._session.held:
            self._last = Last(self._session.held)
        return self._last

    @contextmanager
    def updating(
        self, progress: Progress | None, how: Changing | None = None
    ) -> Iterator[Collected]:
        """Collect an update inside the block, and apply it at the end."""
        from zodiac_sql.change.apply import apply

        with self._collecting(how) as collected:
            yield collected
            with self._seen(progress) as seen:
                change = self._done(apply, collected, seen)
            self._session.times.add(change)
            log_change(change, self._session.path)
            for server in self._session.held.connection.instance.served:
                server.hears(change)
            last = self.last
            last.has_aside, last.change = True, weakref.ref(change)

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
            with self._seen(progress) as seen:
                self._done(preview, collected, seen)

    @contextmanager
    def planning(self, how: Changing | None = None) -> Iterator[Collected]:
        """Collect an update inside the block, and only estimate its effects at the end."""
        from zodiac_sql.change.apply import plan

        with self._collecting(how) as collected:
            yield collected
            self._plan(plan, collected)

    @exclusive
    def _plan(self, plan: Callable[[Collected], PlannedSizes], collected: Collected) -> None:
        collected.report.plan = plan(collected)

    @contextmanager
    def _collecting(self, how: Changing | None) -> Iterator[Collected]:
        """Begin an update. If the block fails, nothing of the update is left."""
        require_known(how or {}, CHANGING)
        with self._turn(), self._alone_collecting(how) as collected:
            yield collected

    def _turn(self) -> AbstractContextManager[None]:
        """A block in which no other thread changes the database, if it is served."""
        instance = self._session.held.connection.instance
        return instance.turns.turn() if instance.served else nullcontext()

    @contextmanager
    def _seen(self, progress: Progress | None) -> Iterator[Progress | None]:
        """A report of progress, from which servers hear, too, if there are any."""
        servers = self._session.held.connection.instance.served
        if not servers:
            yield progress
            return

        def seen(hypernode: str, number: int, total: int) -> None:
            for server in servers:
                server.sees((hypernode, number, total))
            if progress:
                progress(hypernode, number, total)

        try:
            for server in servers:
                server.sees(("", 0, 0))
            yield seen
        finally:
            for server in servers:
                server.sees(None)

    @contextmanager
    def _alone_collecting(self, how: Changing | None) -> Iterator[Collected]:
        file = self._session.store.file
        if file.read_only:
            raise StoreError(f"{file.path} was opened with read_only=True")
        self._guard.check()
        if self._updating:
            raise BusyError("an update is under way: use its verbs, or end it first")
        self._updating = True
        collected: Collected | None = None
        try:
            self._count_last()
            with self._session.held.watch.limited(limits_of(how or {}), changes=True):
                collected = self._begun((how or {}).get("check", True))
                yield collected
        except BaseException as error:
            self._last.marks = None
            if not self._guard.inherited:
                self._clean()
                if collected is not None and self._may_be_published(collected):
                    self._tell_if_published(collected, error)
                elif type(error) is StoreError and self._session.is_overtaken():
                    said = "this change was computed"
                    log_refusal(error, self._session.path)
                    raise catalog.changed_meanwhile(self._session.store, said) from error
            log_refusal(error, self._session.path)  # it was not published
            raise
        finally:
            self._updating = False
            if collected is not None:
                collected.report.ended = True

    @exclusive
    def _begun(self, check: bool) -> Collected:
        from zodiac_sql.change.baseline import Baseline
        from zodiac_sql.change.collected import nothing_collected

        session = self._session
        dictionary.forget_new(session.store)
        session.store.temporary.begin()
        session.state = session.current().again()  # the facts of the last change are gone now
        before = Baseline(
            store=session.store,
            state=session.state,
            functions=dict(session.functions),
            settings=self._settings,
            prepared=self.last.prepared,
            marks=self.last.marks,
        )
        return nothing_collected(before, check)

    @exclusive
    def _done(self, do: _Do, collected: Collected, progress: Progress | None) -> Change:
        """Apply or preview an update, and keep the state and results for the next one."""

        session = self._session
        store = collected.before.store  # the change must not refer to what it was collected in

        def is_current() -> bool:
            # Do not compare the state of the change itself: after a preview it is never current.
            return session.state is state_then and catalog.is_current(store, state_then)

        try:
            applied = do(collected, is_current, progress)
        except ConstraintError as error:
            raise self._explained(collected, error) from None
        state_then = applied.state
        last = self.last
        session.state, last.prepared, last.marks = applied.state, applied.prepared, applied.marks
        store.transactions.unsure = False
        change = collected.report.change = replace(applied.change, _why=self._why)
        return change

    def _explained(self, collected: Collected, error: ConstraintError) -> ConstraintError:
        """The error with reasons, as long as the tables of the change are there."""
        from zodiac_sql.change.constraints import BrokenError
        from zodiac_sql.read.why.why_violated import why_violated

        if not isinstance(error, BrokenError):
            return error
        before, functions = collected.before, self._session.functions
        reason = partial(why_violated, before.store, before.state, functions, error.change)
        return ConstraintError([replace(one, why=reason(one)) for one in error.violations])

    @exclusive
    def _why(self, change: Change, goal: str) -> ChangeExplanation:
        """Why a fact entered or left with a change."""
        from zodiac_sql.read.why.why_changed import why_changed

        session = self._session
        return why_changed(session.store, session.state, session.functions, change, goal)

    @exclusive
    def _clean(self) -> None:
        """Remove the temporary tables and new symbols of an update that has failed."""
        from zodiac_sql.change.temporary_tables import drop_all_temporary

        store = self._session.store
        store.transactions.end(store.connection)
        drop_all_temporary(store)
        dictionary.forget_new(store)

    def _may_be_published(self, collected: Collected) -> bool:
        """Whether an update failed at its COMMIT, or after it."""
        held = self._session.held
        return held is not collected.before.store or held.transactions.unsure

    @exclusive
    def _tell_if_published(self, collected: Collected, error: BaseException) -> None:
        """Read the state again. Raise PublishedError if the file has an update that failed."""
        from zodiac_sql.change.operators.directly import is_proven

        session = self._session
        session.current()
        if not isinstance(error, ZodiacError) or isinstance(error, PublishedError):
            return
        proof = collected.report.proof
        there = proof is not None and is_proven(session.held, proof)
        if there or session.state.is_after(collected.before.state):
            raise PublishedError(
                f"The change is in {session.held.file.path}, as a whole, but something failed when "
                f"it was there: {error}"
            ) from error

    def _count_last(self) -> None:
        """Complete the counts of the last change, if anybody still refers to it."""
        last = self.last
        change = last.change() if last.change else None
        last.change = None
        if change is not None:
            with suppress(ZodiacError):  # another connection has changed the file since
                _ = change.deleted

    # Life

    def compact(self, storage_version: str | None) -> Compacted:
        """Write the file anew, while it is closed, and open it again."""
        session = self._session
        session.require_alone(self._updating)
        self._count_last()
        session.current()
        self._drop_aside()
        return session.compact(storage_version)

    def close(self) -> None:
        """Close the database, and drop the tables that only a Change needs."""
        self._guard.check()
        for server in self._session.held.connection.instance.served:
            if server.session is self._session:
                server.stop()
        if self.last.has_aside:
            self._count_last()
        self._clear()
        self._session.close()

    @exclusive
    def _clear(self) -> None:
        if self.last.has_aside:
            with suppress(ZodiacError):  # if this fails, the next change drops them
                self._drop_aside()
        last = self.last
        last.has_aside = False
        if last.prepared is not None:
            last.prepared.copies.close()

    def _drop_aside(self) -> None:
        """Drop the tables that the last change set aside, unless another connection has changed
        the file.
        """
        session = self._session
        if session.state.aside and session.state is session.current():
            with session.store.transaction():
                catalog.drop_aside(session.store, session.state)
