"""Files that this process has closed, and how it left them.

To look through a file that may come from anybody takes as long as all the rest of opening it. If
this process has done so, and the file is just as it was when the last of its stores closed it, then
nobody has changed it since, and it need not be looked through again.

That holds for the file that was open, and not for one that somebody has put in its place meanwhile,
nor for a log that lies beside it afterwards: when DuckDB closes a file, its changes are in it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from zodiac_sql.database.check_file import Listed
from zodiac_sql.database.new_files import log_of

_MOST = 1_000
"""How many files are remembered."""

Identity = tuple[int, int]
"""The device and the number of a file, which no other has as long as it is open."""


@dataclass(frozen=True, slots=True)
class Left:
    """The size and the times of a file when it was closed, and the macros in it."""

    stat: tuple[int, ...]
    macros: tuple[Listed, ...]


_left: dict[Path, Left] = {}


def identity_of(file: Path) -> Identity | None:
    """Which file a path leads to, given without links; None if there is none."""
    try:
        found = os.stat(file)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def note_left(file: Path, opened: Identity | None, macros: tuple[Listed, ...]) -> None:
    """Note how a file was left. `opened` is the one that was opened by this path."""
    if opened is None or opened != identity_of(file) or os.path.lexists(log_of(file)):
        return
    if len(_left) >= _MOST:
        _left.clear()
    _left[file] = Left(_stat(file), macros)


def as_left(file: Path) -> Left | None:
    """What is known of a file, if nobody has touched it since this process has left it."""
    left = _left.pop(file, None)
    if left is None or os.path.lexists(log_of(file)) or left.stat != _stat(file):
        return None
    return left


def _stat(file: Path) -> tuple[int, ...]:
    try:
        found = os.stat(file)
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
