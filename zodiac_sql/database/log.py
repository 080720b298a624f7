"""The log beside a database file (DuckDB's .wal), and how a file that was left without it is told.

Until a checkpoint, what changes write is in the log alone. A copy of the file without its log is a
database like any other, but an older one: nobody would notice.

Rule: before the first change that begins a log, the file itself says since when there is one; the
first thing in the log takes that back. So a file with its log says nothing, nor does one that a
checkpoint has made whole, and a file that does say something has lost its log. There is one more
such file: that of a process killed after the checkpoint and before the log, which is a millisecond
later. Nothing is missing there; so people are warned, and not refused.

Each log has a mark that no other has, which the file and the first thing in the log both hold: so a
log of another state is told (other_log.py).
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import duckdb

from zodiac_sql.database.duckdb_errors import explained
from zodiac_sql.database.new_files import log_of
from zodiac_sql.errors import PublishedError, ResourceError, StoreError

if TYPE_CHECKING:
    from zodiac_sql.database.connection import Connection
    from zodiac_sql.database.store import Store

BEGINS, AFTER, HAS = "zodiac begins log ", " after ", "zodiac has log "
"""What stands before marks in the table zodiac.log. "zodiac begins log B after A" says that log B
begins, where the last was A. "zodiac has log B" takes back that it is missing."""

_LAST = r"max(regexp_extract(mark, 'log (\S+)', 1))"

_BEGIN = f"""
MERGE INTO zodiac.log USING (
    SELECT $1::TIMESTAMP AS begun,
        '{BEGINS}' || $2 || '{AFTER}' || coalesce({_LAST}, 'none') AS mark
    FROM zodiac.log
) AS new ON false
WHEN NOT MATCHED BY SOURCE THEN DELETE
WHEN NOT MATCHED BY TARGET THEN INSERT (begun, mark) VALUES (new.begun, new.mark)
"""

# It inserts a row, and only once: so a log that is read a second time leaves two.
_SETTLE = f"""
INSERT INTO zodiac.log (mark)
SELECT '{HAS}' || {_LAST} FROM zodiac.log HAVING count(*) = count(begun)
"""


@dataclass(slots=True)
class Log:
    """The log of a file, as far as a store knows."""

    missing: str | None = None
    """What to tell people if it is lost."""
    unsettled: bool = False
    """Whether the log must still say that it is there, because what prepares it has failed."""

    def settle(self, connection: Connection) -> None:
        """Let the log say that it is there. No watch is told, so that Ctrl-C cannot interrupt this.

        Another signal's handler may raise something there: then it is done again, and told
        afterwards.
        """
        connection.watch.ends()
        struck: RuntimeError | None = None
        for _ in range(2):
            try:
                connection.duckdb.execute(_SETTLE)
            except duckdb.Error as error:
                connection.abandon()
                raise explained(error, connection.path) from error
            except RuntimeError as error:  # this is how DuckDB reports an interruption
                struck = error
            else:
                self.unsettled = False
                break
        if struck is not None:
            raise KeyboardInterrupt from struck


def has_log(file: Path) -> bool:
    """Whether there is a log beside a file, given without links, with something in it."""
    try:
        return os.stat(log_of(file)).st_size > 0
    except (OSError, ValueError):
        return False


def prepare_log(store: Store) -> None:
    """Let the file say that there is a log, if a change is about to begin one.

    Raises ResourceError if the disk is too full for that.
    """
    if store.file.in_memory or (has_log(store.file.real) and not store.log.unsettled):
        return
    # Settling the journal prepares a log, too: it must not begin here, under the lock.
    before, store.journal.is_apart = store.journal.is_apart, True
    try:
        with store.connection.instance.company.closed():
            if has_log(store.file.real):
                store.log.settle(store.connection)
            else:
                _begin_log(store)
    except PublishedError as error:  # what is published is not the change
        raise ResourceError(
            f"The disk is full. Nothing was changed. DuckDB says: {error.__cause__}"
        ) from error
    finally:
        store.journal.is_apart = before


def _begin_log(store: Store) -> None:
    store.log.unsettled = True
    try:
        # No transaction of the store: its end would end the limits of the change.
        now = datetime.now(UTC).replace(tzinfo=None)
        store.run(_BEGIN, [now, f"{now:%Y-%m-%dT%H:%M:%S}-{uuid4().hex}"])
        with suppress(StoreError):  # somebody writes: then a loss of this log cannot be told
            store.run("CALL checkpoint($1)", [store.file.name])
    except StoreError:
        store.connection.abandon()
        raise
    finally:
        store.log.settle(store.connection)


def missing_log(store: Store, had_log: bool) -> str | None:
    """What to tell people if a file that was just opened has lost its log.

    The same statement looks whether changes were left in its journal.
    """
    ((begun, left),) = store.rows(
        "SELECT CASE WHEN count(*) = count(begun)"
        " THEN strftime(max(begun), '%Y-%m-%d %H:%M:%S') END,"
        " (SELECT count(*) FROM zodiac.journal) FROM zodiac.log"
    )
    store.journal.was_left = left > 0
    assert store.presence is not None
    if begun is None or store.presence.alone() is None:  # who has it open was told
        return None
    if had_log:
        store.log.unsettled = True
        return None
    return (
        f"{store.file.path} lacks its log: what was changed after {begun} UTC is not "
        "in it. If it is a copy of a file that was open, that is in the .wal beside the other: "
        f"copy both while nothing is changed, this one as {store.file.path}.wal; or make a "
        "backup. (If a process that had it open was killed at that very moment, nothing is "
        "missing.) The next change ends this warning."
    )
