"""Files that this process has closed, and how it left them.

To look through a file that may come from anybody takes as long as all the rest of opening it. If
this process has done so, and the file is just as it was when the last of its stores closed it, then
nobody has changed it since, and it need not be looked through again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from zodiac_sql.database.check_file import Listed
from zodiac_sql.database.new_files import log_of

_MOST = 1_000
"""How many files are remembered."""


@dataclass(frozen=True, slots=True)
class Left:
    """A file and its log when they were closed, and the macros in the file."""

    stats: tuple[tuple[int, ...], ...]
    macros: tuple[Listed, ...]


_left: dict[Path, Left] = {}


def note_left(file: Path, macros: tuple[Listed, ...]) -> None:
    """Note how a file was left, which is given without links."""
    if len(_left) >= _MOST:
        _left.clear()
    _left[file] = Left(tuple(_stats(file)), macros)


def as_left(file: Path) -> Left | None:
    """What is known of a file, if nobody has touched it since this process has left it."""
    left = _left.pop(file, None)
    return left if left and left.stats == tuple(_stats(file)) else None


def _stats(file: Path) -> Iterator[tuple[int, ...]]:
    for one in (file, log_of(file)):
        try:
            found = os.stat(one)
        except OSError:
            yield ()
        else:
            yield found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
