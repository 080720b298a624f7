"""Refuses a log that was begun on another state of the file that it lies beside.

DuckDB replays whatever log it finds. If somebody has put a backup in the place of a file whose log
was left by a kill, or a log comes back that was away, that would mix two states. So before DuckDB
opens a file with a log, the marks in both are compared (log.py).

The mark in the log is found in its first bytes, where texts stand in the clear. The marks in the
file are read by another name of the file, beside which DuckDB finds no log. If the file is in the
state of after the log, then either the process was killed between writing the file and removing the
log, which DuckDB knows, and reads no log; or the log has come back. So DuckDB opens both, only to
read: if it has replayed the log, the first row of the log is there twice.

A log that another program has begun, or an older version, has no mark, and is not refused.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from zodiac_sql.database.log import AFTER, BEGINS, HAS, has_log
from zodiac_sql.database.new_files import aside, log_of
from zodiac_sql.database.settings import NO_EXTENSIONS
from zodiac_sql.errors import StoreError

_FIRST = 1 << 16
"""In so many bytes the mark is looked for. It stands in the first thing in the log."""

_NAME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d-[0-9a-f]{32}"

_MARK = re.compile(f"{BEGINS}({_NAME}){AFTER}({_NAME}|none)|{HAS}({_NAME})")


@dataclass(frozen=True, slots=True)
class _Mark:
    """A mark as it is written: which log it names, and on which log's state that was begun."""

    text: str
    log: str
    base: str


def require_its_log(file: Path) -> None:
    """Raise StoreError if a file, given without links, lies beside the log of another state."""
    if not has_log(file) or _is_open_here(file):
        return
    mark = _mark_in(log_of(file))
    marks = None if mark is None else _marks_in(file)
    if mark is None or marks is None:  # if it cannot be read, opening it tells why
        return
    if mark.text in (m.text for m in marks):
        if not _is_replayed(file, mark):
            return
        why = f"The file was written at {_written(file)}, and has already all that is in it"
    else:
        last = {m.log for m in marks} or {"none"}
        if mark.base in last:
            return
        newest = max(last)
        why = (
            f"The file was written at {_written(file)}, and is from before its first log"
            if newest == "none"
            else f"The last log of the file was begun at {_time(newest)}"
        )
    raise StoreError(
        f"{log_of(file)} is a log of another state of {file}: it was begun at {_time(mark.log)}. "
        f"{why}. Read together, they would be a mixture, so nothing was read, and nothing was "
        f"changed. If the file is what you want, move {log_of(file).name} away; if you want what "
        "is in the log, put back the file that it was left with."
    )


def _time(log: str) -> str:
    return f"{log[:10]} {log[11:19]} UTC"


def _written(file: Path) -> str:
    return f"{datetime.fromtimestamp(file.stat().st_mtime, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _is_open_here(file: Path) -> bool:
    """Whether this process has the file open: then it was looked at before.

    And to close it once more would take the locks away that the process has on it (POSIX).
    """
    try:
        there = os.stat(file)
        opened = [int(name) for name in os.listdir("/dev/fd")]
    except OSError:  # a system without such locks
        return False
    return any(_is(number, there) for number in opened)


def _is(number: int, there: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.fstat(number), there)
    except OSError:  # what has listed them
        return False


def _mark_in(log: Path) -> _Mark | None:
    """The first mark in a log."""
    try:
        with log.open("rb") as opened:
            first = opened.read(_FIRST)
    except OSError:
        return None
    return _read(first.decode("latin-1"))


def _read(text: str) -> _Mark | None:
    found = _MARK.search(text)
    if found is None:
        return None
    begun, after, there = found.groups()
    return _Mark(found[0], begun or there, after or there)


def _marks_in(file: Path) -> list[_Mark] | None:
    """The marks in a file without its log; None if it cannot be read."""
    try:
        with aside(file) as other:
            try:
                os.link(file, other)
            except OSError:  # a file system without links
                shutil.copyfile(file, other)
            return _marks(other)
    except (OSError, duckdb.Error):
        return None


def _is_replayed(file: Path, mark: _Mark) -> bool:
    """Whether DuckDB would replay a log whose first row the file has already."""
    try:
        return _marks(file).count(mark) > 1
    except duckdb.Error as error:
        return not isinstance(error, duckdb.IOException)


def _marks(file: Path) -> list[_Mark]:
    """The marks that DuckDB finds in a file, which may be anybody's: only a plain table is read."""
    config = {**NO_EXTENSIONS, "enable_external_access": False, "threads": 1}
    with duckdb.connect(str(file), read_only=True, config=config) as connection:
        plain = connection.execute(
            "SELECT 1 FROM system.main.duckdb_tables() WHERE database_name = current_database()"
            " AND sql = 'CREATE TABLE zodiac.log(begun TIMESTAMP, mark VARCHAR);'"
        )
        if not plain.fetchall():
            return []
        rows = connection.execute("SELECT mark FROM zodiac.log WHERE mark IS NOT NULL").fetchall()
    return [mark for (text,) in rows if (mark := _read(text)) is not None]
