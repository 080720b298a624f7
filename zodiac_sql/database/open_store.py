"""Opens a database file: makes it if it is new, checks it, brings it up to date and locks it.

This prevents what a stranger's file could do: before anything in the file is read by name, it must
be as we make it (check_file.py), and DuckDB must not reach any other file.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from errno import EDQUOT, EFBIG, ENOSPC
from itertools import count
from pathlib import Path
from typing import Any

import duckdb

from zodiac_sql.database import forks
from zodiac_sql.database.as_left import as_left, identity_of
from zodiac_sql.database.check_file import require_our_macros, require_our_tables
from zodiac_sql.database.company import Presence
from zodiac_sql.database.connection import Connection, Opened, connect_duckdb, connected
from zodiac_sql.database.database_file import SCHEMAS, DatabaseFile
from zodiac_sql.database.duckdb_errors import DISK_FULL, explained
from zodiac_sql.database.instance import instance_of
from zodiac_sql.database.log import has_log, missing_log
from zodiac_sql.database.migrate import migrate
from zodiac_sql.database.new_files import aside, put_in_place
from zodiac_sql.database.other_log import require_its_log
from zodiac_sql.database.settings import (
    NO_EXTENSIONS,
    STORAGE_VERSION,
    WRONG_OPTIMIZER,
    Settings,
    require_storage_version,
)
from zodiac_sql.database.store import Store
from zodiac_sql.errors import LockedError, ResourceError, StoreError, ZodiacError
from zodiac_sql.paths import impossible


def open_store(
    path: str | Path = ":memory:",
    *,
    read_only: bool = False,
    threads: int | None = None,
    memory_limit: str | None = None,
    temp_directory: str | Path | None = None,
    external_access: bool = False,
    storage_version: str = STORAGE_VERSION,
) -> Store:
    """Open a database file, and bring its catalog up to date. A new one gets `storage_version`.

    Without `external_access`, no statement can then reach another file or the network, load an
    extension or change a setting, whatever is in the file. Raises LockedError, NewerFileError, or
    StoreError if the file is not a database, or not as we make them.
    """
    require_storage_version(storage_version)
    path = _as_duckdb_has_it(path)
    _require_a_possible_path(str(path), external_access)
    if temp_directory is not None and (said := _refused(str(temp_directory))):
        raise StoreError(f"temp_directory: {temp_directory} {said}.")
    instance = instance_of(str(path))
    is_made = False
    if not read_only and str(path) != ":memory:" and not os.path.lexists(path):
        is_made = _make(Path(path), storage_version)
    given = {"threads": threads, "memory_limit": memory_limit}
    settings: Settings = {name: value for name, value in given.items() if value is not None}
    locks = {} if external_access else NO_EXTENSIONS
    places = {} if temp_directory is None else {"temp_directory": str(temp_directory)}
    config: dict[str, Any] = {**settings, **locks, **places}
    store = None
    instance.company.require_no_publisher(str(path))  # the lock may be held by who waits for it
    try:
        with instance.changing_hands:
            file = Path(path).resolve()
            require_its_log(file)
            had_log, identity = has_log(file), identity_of(file)
            opened = Opened(_address(str(path)), config)
            connection = connected(opened, str(path), read_only, instance)
            store = Store(connection, DatabaseFile(str(path), read_only, settings, opened))
            store.presence = Presence(instance.company)
            if identity == identity_of(file):
                store.file.identity = identity
            _prepare(store, external_access, is_made)
            store.log.missing = missing_log(store, had_log)
    except ZodiacError:
        if store is not None:
            store.close()
        raise
    return store


def _address(path: str) -> str:
    return f":memory:zodiac_{next(_in_memory)}" if path == ":memory:" else path


_in_memory = count()
"""Numbers for databases in memory: of two with one name, DuckDB would make one."""


def _as_duckdb_has_it(path: str | Path) -> str | Path:
    """The path, with the home directory in place of a ~ at its beginning.

    DuckDB would put it there whatever follows: in place of that of ~x, which is another file.
    """
    return os.path.abspath(os.path.expanduser(path)) if str(path).startswith("~") else path


def _require_a_possible_path(path: str, external_access: bool) -> None:
    """Refuse a path that DuckDB would not treat as a file, or that cannot be used."""
    if path != ":memory:" and (said := _refused(path)):
        raise StoreError(f"{path} {said}.")
    if _PREFIXED.match(path) and path != ":memory:":
        raise StoreError(
            f"{path} is no file here: what stands before the colon would be an extension or a "
            "place in the network. If a file has that name, write ./ before it."
        )
    if Path(path).name.partition(".")[0].lower() in SCHEMAS:
        raise StoreError(
            f"{path} would have the name of one of the schemas in it ({', '.join(SCHEMAS)}), so "
            "that SQL could not tell them apart: choose another file name."
        )
    if "?" in path and not external_access:
        raise StoreError(
            f"DuckDB would write the log of {path} where the ? is, to a file that this database "
            "may not reach: choose another name, or open it with external_access=True."
        )
    if forks.is_inherited(path):
        raise LockedError(
            f"{path} was open when this process was forked, and belongs to the other one. Close it "
            'before the fork, or start the process by multiprocessing.get_context("spawn").'
        )


def _refused(path: str) -> str:
    """Why DuckDB can use no file at a path; empty if it can."""
    if said := impossible(path):
        return said
    try:
        path.encode()
    except UnicodeEncodeError:  # Python writes such bytes as halves of surrogate pairs
        return "is not UTF-8, and DuckDB takes no other names: rename it"
    with suppress(FileNotFoundError):  # there is no working directory any more
        if os.sep == "/" and "\\" in (whole := os.path.abspath(path)):
            return f"has a backslash, which DuckDB takes for a slash ({whole}): rename it"
    return ""


_PREFIXED = re.compile(r"\w{2,}:|:")
"""The beginnings of paths that DuckDB does not treat as files. (C: is a drive.)"""


def _prepare(store: Store, external_access: bool, is_made: bool) -> None:
    """Lock a file that was just opened, check what is in it, and bring it up to date.

    If this process has made it just now, or has closed it and nobody has touched it since, its
    tables and macros need no check.
    """
    store.look_in()
    store.file.name = _require_a_database_file(store)
    if store.count("SELECT current_setting('lock_configuration')::INTEGER") == 0:
        _configure(store, external_access)
    if is_made or store.file.in_memory:
        migrate(store, is_new=store.file.in_memory)
        store.file.macros = ()
    elif left := as_left(store.file.real):
        store.file.macros = left.macros
        migrate(store, is_new=False)
    else:
        require_our_tables(store)
        if migrate(store, is_new=False):
            store.file.macros = require_our_macros(store, external_access)
    store.look_in(*SCHEMAS)


def _make(path: Path, storage_version: str) -> bool:
    """Make a new database file with a catalog in another place, so that a kill leaves no partial
    file.

    The catalog is in the log, which is moved first, so a file without a log is never one of ours.
    If the file cannot be made, the attempt to open it tells why. Returns whether the file in place
    is the one made here.
    """
    try:
        with aside(path) as new:
            form: Settings = {"storage_compatibility_version": storage_version}
            connection = Connection(connect_duckdb(str(new), config=form), str(path))
            with Store(connection, DatabaseFile(str(path))) as store:
                store.look_in()
                store.file.name = _require_a_database_file(store)
                store.run("PRAGMA disable_checkpoint_on_shutdown")
                migrate(store, is_new=True)
            return put_in_place(new, path)
    except duckdb.Error as error:
        if DISK_FULL.search(str(error)):
            raise explained(error, str(path)) from error
    except OSError as error:
        if error.errno in (ENOSPC, EFBIG, EDQUOT):
            raise ResourceError(f"The disk is full: {path} cannot be made. {error}") from error
    return False


def _configure(store: Store, external_access: bool) -> None:
    """Make settings that need an open database. All connections of this process share them."""
    # DuckDB uses up to this many values of a small join side to skip blocks of the large side:
    # 7 ms against 50 for 20 of 10,000 values in 22 million rows that are in order.
    store.run("SET dynamic_or_filter_threshold = 1000")
    store.run(f"SET disabled_optimizers = '{WRONG_OPTIMIZER}'")
    if not external_access:
        store.run("SET enable_external_access = false")
        store.run(f"SET allowed_configs = {list(_NOT_LOCKED)}")
        store.run("SET lock_configuration = true")


_NOT_LOCKED = (
    "disabled_optimizers",  # see optimizers.py
    "enable_progress_bar",  # see connection.py
    "threads",  # see one_thread.py
    "memory_limit",  # see other_connections.py
    "TimeZone",  # a setting of the session; nothing of ours depends on it
    "current_transaction_invalidation_policy",  # DuckDB sets it itself, to alter a table
)


def _require_a_database_file(store: Store) -> str:
    """DuckDB's name for the file that was opened. Refuses a file that is not a database.

    DuckDB opens a .csv or .parquet file as a database in memory, where all changes would be lost.
    """
    opened = store.rows("SELECT path, database_name FROM duckdb_databases() WHERE NOT internal")
    if not store.file.in_memory and (len(opened) != 1 or not opened[0][0]):
        raise StoreError(
            f"{store.file.path} is no name for a database file: use one like farm.duckdb"
        )
    return str(opened[0][1])
