"""A database file that DuckDB has open in this process: who uses it, and can it be trusted?"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakSet, WeakValueDictionary

from zodiac_sql.database.company import Company
from zodiac_sql.database.published import Published
from zodiac_sql.database.turns import Turns
from zodiac_sql.errors import LockedError, StoreError

if TYPE_CHECKING:
    from _thread import LockType


@dataclass(frozen=True, slots=True, eq=False)
class Served:
    """A server of a database (serve/server.py)."""

    hears: Callable[[Any], None]
    """Is called with each change that this process has published."""
    sees: Callable[[tuple[str, int, int] | None], None]
    """Is called with the hypernode that a change, or a preview, is about to evaluate, how many it
    has done, and how many there are; with None when nothing is computed any more."""
    renew: Callable[[], None]
    """Closes its connections, which are made again when they are needed."""
    stop: Callable[[], None]
    session: object
    """That of the knowledge base that it serves."""


@dataclass(slots=True, weakref_slot=True, eq=False)
class FileInstance:
    """A database file as DuckDB has it open, once for all connections of this process.

    It is `damaged` if a COMMIT has failed, or after an error that makes DuckDB refuse everything.
    Its memory may then differ from the file, and must never be written there.
    """

    damaged: bool = False
    company: Company = field(default_factory=Company)
    changing_hands: LockType = field(default_factory=Lock)
    """Held by who opens or closes it: only the first can make settings, before they are locked, and
    DuckDB does not open a file that the last one is about to close."""
    threads: int | None = None
    """How many DuckDB has, but for statements that must have one (one_thread.py), once asked."""
    with_one_thread: WeakSet[object] = field(default_factory=WeakSet)
    """What stands for such statements that run, of all connections."""
    setting_threads: LockType = field(default_factory=Lock)
    """Held by who sets the number."""
    served: tuple[Served, ...] = ()
    """The servers of knowledge bases that have it open."""
    turns: Turns = field(default_factory=Turns)
    """Who changes it takes turns, as long as it is served."""
    published: Published = field(default_factory=Published)
    """Its last states."""


_instances: WeakValueDictionary[str, FileInstance] = WeakValueDictionary()
"""The instances of open files, by path."""

_lock = Lock()
"""Two threads that open a file at the same time get the same instance."""


def _unlock() -> None:
    """Begin with a lock that is free: another thread may have held it when this process began."""
    global _lock
    _lock = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock)


def instance_of(path: str) -> FileInstance:
    """The instance that a file is opened in.

    Raises StoreError if it is damaged, or LockedError if the file is open under another name: by a
    hard link, DuckDB would open it a second time, with a log of its own, and lose changes.
    """
    if path == ":memory:":
        return FileInstance()
    real = os.path.realpath(path)
    with _lock:
        for other in list(_instances):
            if other != real and _is_same(other, real):
                raise LockedError(
                    f"{path} is open in this process as {other}, which is the same file by a hard "
                    "link: open it by that name."
                )
        known = _instances.setdefault(real, FileInstance())
    if known.damaged:
        raise StoreError(
            f"writing {path} has failed: the change is in it as a whole, or not at all. It can be "
            "opened again when all knowledge bases of this process that have it open are closed, "
            "or used once more (each opens it again then)."
        )
    return known


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:  # one of them is not there yet, or not any more
        return False
