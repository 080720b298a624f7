"""Who may use a database: the thread that opened it, one call at a time, and no forked process.

A connection to DuckDB has one transaction and one open answer, and a change is many statements. A
call between two of them, from another thread or from a function that a statement calls, would end
their transaction or wait for ever. So each verb that touches the database is `exclusive`: other
calls meanwhile are refused immediately, before they do anything.

At any time one thread is the user, and only it sets `busy`, so no lock is needed. The owner is the
user, except while it has lent the database to another thread.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import get_ident
from typing import Concatenate, NoReturn, ParamSpec, Protocol, TypeVar

from zodiac_sql.database.forks import require_not_forked
from zodiac_sql.database.limits import limits_of, require_known
from zodiac_sql.database.watch import Watch
from zodiac_sql.errors import BusyError

_LENT = -1
"""The user while the database is lent to a thread that has not begun yet."""


class Guard:
    """Refuses calls that may not use a database now. `path` is the file to open instead."""

    __slots__ = ("_owner", "_process", "_user", "busy", "path", "watch")

    def __init__(self, path: str, watch: Watch | None = None) -> None:
        self.path = path
        self.watch = watch or Watch()
        self._process = os.getpid()
        self._owner = self._user = get_ident()
        self.busy = False
        """Whether a call is in progress. The caller of `enter` sets it to False at the end."""

    @property
    def inherited(self) -> bool:
        """Whether this process is a fork of the one that opened the database."""
        return os.getpid() != self._process

    def require_own_process(self) -> None:
        """Raise BusyError in a fork of the process that opened the database."""
        require_not_forked(self._process, "knowledge base")

    def check(self) -> int:
        """Raise BusyError if the calling thread may not call now. Returns this thread."""
        me = get_ident()
        if self._user != me or self.busy or os.getpid() != self._process:
            self._refuse(me)
        return me

    def enter(self) -> None:
        """Begin a call. Raises BusyError.

        Nothing is called after `busy` is set, so that no interruption can leave it set.
        """
        me = self.check()
        self.busy = True
        if self._user != me:  # lent just now: the lender sets the user first, and then sees `busy`
            self.busy = False
            self._refuse(me)

    def lent(self, work: Callable[[], _Result]) -> Callable[[], _Result]:
        """Work for another thread, which has the database from now on until it is done."""
        self.check()
        self._user = _LENT

        def done() -> _Result:
            self._user = get_ident()
            try:
                return work()
            finally:
                self._user = self._owner

        return done

    @contextmanager
    def borrowed(self) -> Iterator[None]:
        """Let this thread be the user inside. Raises BusyError if another one uses the database."""
        me = get_ident()
        if self._user == me:
            yield
            return
        if self._user != self._owner or self.inherited:
            self._refuse(me)
        self._user = me
        if self.busy:
            self._user = self._owner
            self._refuse(me)
        try:
            yield
        finally:
            self._user = self._owner

    def _refuse(self, me: int) -> NoReturn:
        self.require_own_process()
        if self._user == me:
            raise BusyError(_WITHIN)
        said = _OVERLAP if self._owner == me else _FOREIGN
        if self.path != ":memory:":
            said += (
                f", or open the file once more in this thread: zodiac_sql.connect({self.path!r})"
            )
        if self.busy and self._owner != me:  # DuckDB and Arrow have threads of their own
            raise BusyError(f"{said}. Or {_WITHIN}")
        raise BusyError(f"{said}.")


_WITHIN = (
    "the knowledge base was called within a call of itself: by a registered function, a tracer, a "
    "report of progress, or what gives the rows. Ask before that call, and let them have the "
    "answer."
)
_FOREIGN = (
    "a knowledge base belongs to the thread that opened it, and this is another one. Let that "
    "thread do it (a zodiac_sql.UpdateQueue brings updates to it, for kb.stream)"
)
_OVERLAP = (
    "another thread is using the knowledge base, such as that of an asynchronous stream during an "
    "update. Ask between two updates, or again later"
)


# --- verbs ----------------------------------------------------------------------------------------

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


class _Guarded(Protocol):
    @property
    def _guard(self) -> Guard: ...


_Self = TypeVar("_Self", bound=_Guarded)


def exclusive(
    verb: Callable[Concatenate[_Self, _Arguments], _Result],
) -> Callable[Concatenate[_Self, _Arguments], _Result]:
    """Make a method raise BusyError unless it may be called now, and refuse others meanwhile.

    `busy` is set and cleared in the method's own frame: an interruption can come where a function
    begins, and then nothing of that function runs.
    """

    @wraps(verb)
    def guarded(self: _Self, /, *args: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        guard = self._guard
        guard.enter()
        try:
            guard.watch.enters()
            return verb(self, *args, **named)
        finally:
            try:
                guard.watch.leaves()
            finally:
                guard.busy = False

    return guarded


def limited(
    verb: Callable[Concatenate[_Self, _Arguments], _Result],
) -> Callable[Concatenate[_Self, _Arguments], _Result]:
    """The same for a question, which may have limits of its own (limits.py)."""
    own = inspect.getfullargspec(verb)
    known = frozenset((*own.args, *own.kwonlyargs))

    @wraps(verb)
    def guarded(self: _Self, /, *args: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        guard = self._guard
        require_known(named, known)
        given = limits_of(named)
        for name in given:
            del named[name]
        guard.enter()
        try:
            with guard.watch.limited(given, changes=False):
                guard.watch.enters()
                return verb(self, *args, **named)
        finally:
            try:
                guard.watch.leaves()
            finally:
                guard.busy = False

    return guarded
