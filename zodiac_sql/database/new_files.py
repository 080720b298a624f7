"""Makes a new database file in another place, and moves it to its place as a whole."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

_DIRECTORY_PREFIX = ".zodiac-new-"
"""The prefix of the directories in which files are made. (DuckDB cannot write a log into a
directory with a ? in its name.)"""

_SECONDS_UNTIL_ABANDONED = 600.0
"""A directory in which nothing was written for so long was left by a process that was killed, and
is removed."""


@contextmanager
def aside(path: Path) -> Iterator[Path]:
    """A path of the same name on the same file system. It is removed at the end."""
    for left in path.parent.glob(f"{_DIRECTORY_PREFIX}*"):
        with suppress(OSError):
            written = max(part.stat().st_mtime for part in (left, *left.iterdir()))
            if time.time() - written > _SECONDS_UNTIL_ABANDONED:
                shutil.rmtree(left)
    directory = Path(mkdtemp(prefix=_DIRECTORY_PREFIX, dir=path.parent))
    try:
        yield directory / path.name
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def log_of(path: Path) -> Path:
    """The path of the log of a database. DuckDB does not count what follows a ? as its name."""
    name, mark, rest = str(path).partition("?")
    return Path(f"{name}.wal{mark}{rest}")


def put_in_place(new: Path, path: Path) -> bool:
    """Move a file and its log to their place, the log first, unless another process was faster.

    Returns whether they were moved.
    """
    log, its_log = log_of(new), log_of(path)
    if os.path.lexists(path):
        return False
    os.replace(log, its_log)  # a log that is there without a database is useless
    try:
        os.link(new, path)
    except FileExistsError:
        return False
    except OSError:  # a file system without links
        os.rename(new, path)
    return True
