"""How many facts can be copied, by the memory that DuckDB may use, and by what the disk has left.

SQLite keeps copies in a temporary file, of which it has only a few megabytes in memory
(side_database.py). But they are looked up at random places, so they are quick only as long as the
system can keep the file in memory.
"""

from __future__ import annotations

import os
from pathlib import Path
from shutil import disk_usage

from zodiac_sql.database.settings import memory_limit_of
from zodiac_sql.database.store import Store

BYTES_A_FACT = 60
"""With an index, and what a tree of SQLite leaves free."""

_ANYWAY = 2_000_000
"""So many are copied however little memory there is, if the disk has room."""

_SHARE_OF_DISK = 8
_SHARE_OF_MEMORY = 4

_PLACES = ("/var/tmp", "/usr/tmp", "/tmp", ".")
"""Where SQLite puts temporary files, if no variable says so."""


def room_of(store: Store) -> int:
    """How many facts can be copied in all."""
    ((text,),) = store.rows("SELECT current_setting('memory_limit')")
    memory = memory_limit_of({"memory_limit": text}) or 0
    facts = max(_ANYWAY, memory // _SHARE_OF_MEMORY // BYTES_A_FACT)
    return min(facts, _free() // _SHARE_OF_DISK // BYTES_A_FACT)


def _free() -> int:
    """How many bytes are free where SQLite puts temporary files."""
    told = (os.environ.get(name) for name in ("SQLITE_TMPDIR", "TMPDIR"))
    for place in (*told, *_PLACES):
        if place and Path(place).is_dir() and os.access(place, os.W_OK | os.X_OK):
            return disk_usage(place).free
    return 0
