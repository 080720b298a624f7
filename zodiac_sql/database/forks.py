"""What a forked process inherits: databases of its parent, which it must neither use nor close.

When the last connection is closed, or the process ends, DuckDB writes a checkpoint into the file
and removes its log. If a fork did so, the parent would write to a log that is gone: its changes
would be acknowledged, and lost in a kill. If the fork connected to the file again, DuckDB would
give it the parent's database as it was, without a lock. So a fork never closes what it has
inherited, and never opens these files.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from weakref import WeakKeyDictionary

from zodiac_sql.errors import BusyError

_opened: WeakKeyDictionary[object, str] = WeakKeyDictionary()
"""The connections of this process, and their files."""

_inherited: list[str] = []


def opened(connection: object, path: str) -> None:
    """Note that this process has opened a file."""
    _opened[connection] = os.path.realpath(path)


def closed(connection: object) -> None:
    """Note that this process has closed a connection."""
    _opened.pop(connection, None)


def is_open(path: str, besides: Collection[object]) -> bool:
    """Whether this process has a file open by other connections than these."""
    real = os.path.realpath(path)
    return any(p == real and connection not in besides for connection, p in _opened.items())


def is_inherited(path: str) -> bool:
    """Whether a file was open in the parent process when this one was forked."""
    return os.path.realpath(path) in _inherited


def require_not_forked(maker: int, what: str) -> None:
    """Raise BusyError if something was made by another process than this one."""
    if os.getpid() != maker:
        raise BusyError(
            f"this {what} was made by process {maker}, and this is process {os.getpid()}, a fork "
            "of it: what it did would be lost. Let the other one do it. Or start processes that "
            'open files of their own: multiprocessing.get_context("spawn").'
        )


def _keep_what_is_inherited() -> None:
    """Keep what was open at the fork from ever being closed here, even when the process ends."""
    import ctypes  # late: few processes fork

    for connection, path in _opened.items():
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
        _inherited.append(path)
    _opened.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_keep_what_is_inherited)
