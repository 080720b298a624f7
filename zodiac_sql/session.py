"""An open knowledge base: the database, its state, and the functions that rules call.

Questions (questions.py) get the state from here, and changes (updates.py) replace it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

from zodiac_sql.change.times import Times
from zodiac_sql.database import dictionary
from zodiac_sql.database.connection import Tracer
from zodiac_sql.database.guard import Guard, exclusive
from zodiac_sql.database.limits import NO_LIMITS, Limits
from zodiac_sql.database.registered_functions import remove_function
from zodiac_sql.database.signals import forget
from zodiac_sql.database.store import Store
from zodiac_sql.errors import BusyError, FunctionError, StoreError, ZodiacError
from zodiac_sql.language.functions import Function
from zodiac_sql.python_functions import add_function, require_free, shown, signature, takes
from zodiac_sql.storage import catalog
from zodiac_sql.storage.clock import tell_time

if TYPE_CHECKING:
    from zodiac_sql.database.compact import Compacted
    from zodiac_sql.program.state import State

_Answer = TypeVar("_Answer")

_READING_TRIES = 5
"""How often a query is tried, because another connection may change the file meanwhile."""


class Session:
    """What a knowledge base holds while it is open."""

    def __init__(
        self,
        opened: Callable[[], Store],
        functions: Iterable[Function] = (),
        limits: Limits = NO_LIMITS,
    ) -> None:
        self._open_store = opened
        self.functions: dict[str, Function] = {}
        self.held = opened()
        """The database as it is, even if a failure has damaged the connection."""
        self._end = weakref.finalize(self, _settle_at_the_end, self.held)
        self.held.watch.usual = limits
        self.times = Times()
        """What the changes since it was opened took."""
        try:
            dictionary.prepare(self.held)
            self.state = catalog.load_anew(self.held, is_empty=self.held.file.in_memory)
            for function in functions:
                self.register(function)
        except ZodiacError:
            self.held.close()
            raise

    @property
    def guard(self) -> Guard:
        """Who may use the knowledge base now."""
        return self.held.guard

    _guard = guard  # for methods that are exclusive

    @property
    def store(self) -> Store:
        """The open database. It is opened again if a failure has damaged the connection."""
        if self.held.connection.damaged:
            self._open_again()
        return self.held

    # Reading

    def current(self) -> State:
        """The state of the file. It is read again if another connection of this process changed it,
        or a change failed when it was in the file already.
        """
        store = self.store
        if store.transactions.unsure or not catalog.is_current(store, self.state):
            self.state = catalog.load_anew(store)
            store.transactions.unsure = False
        tell_time(self.store, self.state)
        return self.state

    def read(self, ask: Callable[[State], _Answer]) -> _Answer:
        """The answer of `ask` for one state. It retries if another connection changes the file.

        (A transaction cannot ensure this, because DuckDB ends it when it must replan a statement.)
        """
        for _ in range(_READING_TRIES):
            state = self.state
            try:
                tell_time(self.store, state)
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

    def is_overtaken(self) -> bool:
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

    def require_alone(self, is_updating: bool) -> None:
        """Raise StoreError or BusyError if the file cannot be written anew now."""
        from zodiac_sql.database.forks import is_open

        store = self.store
        if store.file.in_memory or store.file.read_only:
            raise StoreError(f"{store.file.path} is no file that may be written")
        own = [one.connection.duckdb for one in (store, store.users_sql) if one]
        if is_updating or is_open(store.file.path, own):
            raise BusyError(f"{store.file.path} is in use: compact it when nobody else has it open")

    def compact(self, storage_version: str | None) -> Compacted:
        """Write the file anew, while it is closed, and open it again. See `require_alone`."""
        from zodiac_sql.database.compact import compact

        store = self.store
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
        old = self.held
        if old.file.in_memory:
            raise StoreError("DuckDB failed, and what was in memory is lost: begin with a new one")
        for server in old.connection.instance.served:
            server.renew()
        old.close()
        store = self._open_store()
        store.take_place_of(old)
        try:
            dictionary.prepare(store)
            store.connection.instance.published.forget()
            state = catalog.load_anew(store)
            for function in self.functions.values():
                add_function(store, function)
        except BaseException:
            store.close()
            raise
        self._end.detach()
        self._end = weakref.finalize(self, _settle_at_the_end, store)
        self.held, self.state = store, state

    def trace(self, tracer: Tracer | None) -> None:
        """Show a function every statement; None ends this."""
        self.held.connection.tracer = tracer

    @property
    def path(self) -> str:
        return self.held.file.path

    def close(self) -> None:
        """Close the database."""
        self._close()
        forget(self.guard.watch)

    @exclusive
    def _close(self) -> None:
        self.held.close()


def _settle_at_the_end(store: Store) -> None:
    """Bring to the tables what waits in the journal of a session that nobody has closed.

    That is called when it is garbage, or the program ends. Other clients of DuckDB would not find
    these changes. Nothing of it is lost if it fails.
    """
    instance = store.connection.instance
    if not (instance.damaged or store.guard.inherited or instance.company.settling.locked()):
        with suppress(ZodiacError):
            store.journal.settle()
