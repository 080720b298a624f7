"""Questions to a knowledge base while another thread changes it.

A change is computed in temporary tables, and published in one short transaction (change/). DuckDB
gives each transaction the tables as they were when it began, whatever others publish meanwhile. So
a reader has a connection of its own, and each question is a transaction: it is answered from one
published state, and waits for nobody.

Rule: a reader is one of the stores that have the database open (database/company.py). Reason: then
each change that is published counts up the generation, by which the reader notices it, and none
waits in the journal. What waits there when the reader comes is brought to the tables first.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import TypeVar

from zodiac_sql.database import dictionary
from zodiac_sql.database.guard import exclusive
from zodiac_sql.database.other_connections import connect_beside
from zodiac_sql.database.store import Store
from zodiac_sql.program.state import State
from zodiac_sql.questions import Questions
from zodiac_sql.session import Session
from zodiac_sql.storage import catalog
from zodiac_sql.storage.clock import tell_time
from zodiac_sql.storage.journal import settle_what_is_left

_Answer = TypeVar("_Answer")

_TRIES = 5
"""How often a question begins, because changes wait in the journal."""

_LATEST = "SELECT generation, (SELECT count(*) FROM zodiac.journal) FROM zodiac.counter"


class Reader(Questions):
    """Asks a knowledge base while another thread changes it. Get one from `KnowledgeBase.reader`.

    Each question is answered from one published state, the last one when the question began. Only
    the thread that made the reader may use it, one call at a time. Close it after use: the file is
    open until all its readers are closed, too. `verify` and `explain` take long, and raise
    LockedError if a change is published meanwhile; so does `profile` from scratch.
    """


class ReadingSession(Session):
    """What a reader holds: a connection beside that of a session, and the state that it sees.

    The functions are those of the session, and so are the times of changes.
    """

    def __init__(self, changing: Session) -> None:
        self._changing = changing
        self.functions = changing.functions
        self.times = changing.times
        self.held = self._opened(changing.held)
        # Not that of the session, which may be about to note a change that did not count.
        self.state = State(generation=-1)
        try:
            self.current()
        except BaseException:
            self.held.close()
            raise

    def _opened(self, other: Store) -> Store:
        """A connection beside another one."""
        other.connection.require_undamaged()
        store = connect_beside(other)
        try:
            store.watch.usual = other.watch.usual
            dictionary.prepare(store)
        except BaseException:
            store.close()
            raise
        return store

    @property
    def store(self) -> Store:
        """The connection. It is made anew if a failure has damaged the database."""
        if self.held.connection.damaged:
            self._open_again()
        return self.held

    def _open_again(self) -> None:
        """Make the connection anew: beside the old one, which may be the last that is open, or, if
        that is damaged and has to be closed first, beside that of the session.
        """
        old = self.held
        if old.connection.damaged:
            old.close()
            self.held = self._opened(self._changing.held)
        else:
            self.held = self._opened(old)
            old.close()
        self.held.take_place_of(old)

    def current(self) -> State:
        """The last published state."""
        with ExitStack() as entered:
            return self._begin(entered)

    def read(self, ask: Callable[[State], _Answer]) -> _Answer:
        """The answer of `ask` for the last published state, which it sees as long as it runs."""
        try:
            with ExitStack() as entered:
                return ask(self._begin(entered))
        finally:
            if self.held.is_aside:
                self._open_again()

    @exclusive
    def _enter(
        self, entered: ExitStack, ask: Callable[[State], AbstractContextManager[_Answer]]
    ) -> _Answer:
        # An answer that stays open has a connection of its own, so that others can be asked for.
        return Session.read(self, lambda state: entered.enter_context(ask(state)))

    def _begin(self, entered: ExitStack) -> State:
        """Begin a transaction, and return the state that it sees."""
        store = self.store
        for _ in range(_TRIES):
            entered.enter_context(store.transaction(read_only=True))
            ((generation, waiting),) = store.rows(_LATEST)
            if not waiting:
                self._see(store, generation)
                tell_time(store, self.state)
                return self.state
            entered.close()
            store.journal.was_left = True
            settle_what_is_left(store)
        raise catalog.changed_meanwhile(store, "it was read")

    def _see(self, store: Store, generation: int) -> None:
        """Note the state with a generation. It is read from the file only if nobody has it."""
        if self.state.generation != generation:
            store.symbols.last = None
            latest = self._changing.state
            known = latest.generation == generation
            published = store.connection.instance.published
            found = latest if known else published.soon(generation)
            self.state = found or catalog.load(store)
