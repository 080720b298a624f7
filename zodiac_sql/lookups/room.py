"""How many facts can be copied and moved, by the memory that DuckDB may use, and the free disk.

SQLite keeps copies in a temporary file, of which it has only a few megabytes in memory
(side_database.py). But they are looked up at random places, so they are quick only as long as the
system can keep the file in memory.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from shutil import disk_usage

from zodiac_sql.database.settings import memory_limit_of
from zodiac_sql.database.store import Store

BYTES_A_FACT = 60
"""With an index, and what a tree of SQLite leaves free."""

BYTES_A_MOVE = 3 * 4096
"""SQLite keeps in memory what pages were like before a change: one of the facts, and of indexes."""

_ANYWAY = 2_000_000
"""So many are copied however little memory there is, if the disk has room."""

_SHARE_OF_DISK = 8
_SHARE_OF_MEMORY = 4

_PLACES = ("/var/tmp", "/usr/tmp", "/tmp", ".")
"""Where SQLite puts temporary files, if no variable says so."""


@dataclass(frozen=True, slots=True)
class Room:
    """How many facts can be copied in all, and how many a change may move."""

    facts: int = sys.maxsize
    moved: int = 0


def room_of(store: Store) -> Room:
    """What there is room for."""
    ((text,),) = store.rows("SELECT current_setting('memory_limit')")
    memory = (memory_limit_of({"memory_limit": text}) or 0) // _SHARE_OF_MEMORY
    facts = max(_ANYWAY, memory // BYTES_A_FACT)
    return Room(min(facts, _free() // _SHARE_OF_DISK // BYTES_A_FACT), memory // BYTES_A_MOVE)


def _free() -> int:
    """How many bytes are free where SQLite puts temporary files."""
    told = (os.environ.get(name) for name in ("SQLITE_TMPDIR", "TMPDIR"))
    for place in (*told, *_PLACES):
        if place and Path(place).is_dir() and os.access(place, os.W_OK | os.X_OK):
            return disk_usage(place).free
    return 0
