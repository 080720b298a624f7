"""A copy of the database file, made while it is open.

The copy is made by another process. Reason: a process has all its locks on a file taken away when
it closes the file, however often it has opened it (POSIX). To copy it here would let a second
process write the file that this one has open.

While it is copied, an open transaction counts up the generation, and is rolled back in the end: so
no other store of this process can publish a change (storage/save_catalog.py). What the file's .wal
holds, if it could not be written to the file, is copied too, and becomes a part of the copy.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from zodiac_sql.database.other_connections import for_users_sql
from zodiac_sql.database.store import Store
from zodiac_sql.errors import StoreError
from zodiac_sql.paths import impossible

_COPY = """
import os, shutil, sys
source, target, made = sys.argv[1:]
try:
    shutil.copyfile(source, made)
    if os.path.exists(source + ".wal") and os.path.getsize(source + ".wal"):
        shutil.copyfile(source + ".wal", made + ".wal")
        import duckdb
        duckdb.connect(made, config={"enable_external_access": False}).close()
    with open(made, "rb+") as file:
        os.fsync(file.fileno())
    if os.path.exists(target):
        sys.exit(target + " has come to exist meanwhile")
    os.rename(made, target)
except OSError as error:
    sys.exit(str(error.strerror or error))
finally:
    for name in (made, made + ".wal"):
        if os.path.exists(name):
            os.remove(name)
"""


def back_up(store: Store, target: Path) -> None:
    """Copy the database file to a path where there is no file yet. Raises StoreError."""
    if store.file.in_memory:
        raise StoreError("a knowledge base in memory has no file to copy: export its facts instead")
    if reason := impossible(target):
        raise StoreError(f"{target} {reason}.")
    if target.exists():
        raise StoreError(f"{target} exists already, and a backup replaces no file: name another")
    made = target.with_name(f".{target.name}.being-made")
    command = [sys.executable, "-I", "-c", _COPY, str(store.file.real), str(target), str(made)]
    with _unchanged(store):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["the copying process was ended"]
        raise StoreError(f"cannot back {store.file.path} up to {target}: {said[-1]}")


@contextmanager
def _unchanged(store: Store) -> Iterator[None]:
    """Inside the block, the file stays as it is."""
    if store.file.read_only:  # then no process can write it
        yield
        return
    store.journal.settle()
    with suppress(StoreError):  # it is refused while somebody reads
        for_users_sql(store).run("CHECKPOINT")
    store.run("BEGIN TRANSACTION")
    try:
        store.run("UPDATE zodiac.counter SET generation = generation + 1")
        yield
    finally:
        store.run("ROLLBACK")
