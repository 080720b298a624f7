"""What a forked process inherits: databases of its parent, which it must neither use nor close.

DuckDB writes a checkpoint into the file and removes its log when the last connection is closed, be
it by the end of the process. A fork that did so would take what the parent writes next into a file
that is gone: acknowledged, and lost in a kill. And if it connected to the file again, DuckDB would
give it the parent's database as it was, without a lock. So a fork never lets go of what it has
inherited, and opens no file of these.
"""

from __future__ import annotations

import os
from weakref import WeakKeyDictionary

from zodiac_sql.errors import BusyError

_opened: WeakKeyDictionary[object, str] = WeakKeyDictionary()
"""The connections of this process, and their files."""

_inherited: list[str] = []


def opened(connection: object, path: str) -> None:
    """Say that this process has opened a file."""
    _opened[connection] = os.path.realpath(path)


def closed(connection: object) -> None:
    """Say that this process has closed a connection."""
    _opened.pop(connection, None)


def is_inherited(path: str) -> bool:
    """Whether a file was open in the process that this one is a fork of, when it was forked."""
    return os.path.realpath(path) in _inherited


def require_not_forked(maker: int, what: str) -> None:
    """Raise BusyError if another process than this one has made something."""
    if os.getpid() != maker:
        raise BusyError(
            f"this {what} was made by process {maker}, and this is process {os.getpid()}, a fork "
            "of it: what it did would be lost. Let the other one do it. Or start processes that "
            'open files of their own: multiprocessing.get_context("spawn").'
        )


def _keep_what_is_inherited() -> None:
    """Let what was open at the fork never be closed here, not even at the end of the process."""
    import ctypes  # late: few processes fork

    for connection, path in _opened.items():
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
        _inherited.append(path)
    _opened.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_keep_what_is_inherited)
