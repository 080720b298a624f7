"""Connections beside the one that changes a database.

aside       to the same database, with temporary tables of its own
users' SQL  to the same database, for SQL that users write
beside      to the same database, for calls of another thread
outside     to a database in memory, which may read and write files
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy

from zodiac_sql.database.clock import let_now_be
from zodiac_sql.database.company import Presence
from zodiac_sql.database.connection import Connection, connect_duckdb, connected
from zodiac_sql.database.database_file import SCHEMAS, DatabaseFile
from zodiac_sql.database.duckdb_errors import explaining
from zodiac_sql.database.settings import NO_EXTENSIONS, Settings
from zodiac_sql.database.store import Store
from zodiac_sql.errors import ResourceError, StoreError


@contextmanager
def connect_aside(store: Store) -> Iterator[Store]:
    """Another connection to the same database. Its temporary tables go with it.

    It can call the functions that were added to the first one. If a transaction is open, it is the
    store itself, because another connection could see another state of the database.
    """
    if store.transactions.current is not None:
        store.is_aside = True
        yield store
        return
    store.journal.settle()
    other = _another(store)
    other.connection.tracer = store.connection.tracer
    if store.connection.clock is not None:
        let_now_be(other, store.connection.clock)
    with other:
        other.look_in(*SCHEMAS)
        yield other
        store.file.macros = other.file.macros


def for_users_sql(store: Store) -> Store:
    """The connection for SQL that users write, which can see none of our temporary tables.

    All such SQL shares one connection. It is not the store's own, because DuckDB looks for any name
    among temporary tables first.
    """
    store.journal.comes()
    if store.users_sql is None:
        with explaining(store.connection):
            store.users_sql = _another(store)
    store.users_sql.connection.tracer = store.connection.tracer
    return store.users_sql


def connect_beside(store: Store) -> Store:
    """A connection to the same database for calls of this thread, whatever the other one does.

    It is one of those that have the database open. (DuckDB closes a cursor with its connection.)
    """
    file, instance = store.file, store.connection.instance
    assert store.presence is not None and file.opened is not None
    with instance.changing_hands:
        if store.presence.gone:
            raise StoreError(f"{file.path} has been closed")
        other = Store(connected(file.opened, file.path, file.read_only, instance), copy(file))
        other.presence = Presence(instance.company)
    try:
        other.look_in(*SCHEMAS)
    except BaseException:
        other.close()
        raise
    return other


def _another(store: Store) -> Store:
    return Store(store.connection.another(), copy(store.file))


@contextmanager
def connect_outside(store: Store) -> Iterator[Store]:
    """A database in memory that reads and writes files for the store, which must not do so.

    Rows go between the two as Arrow batches. The database in memory holds nothing of the database
    file, so nothing in that file can make it touch other files. Both share the memory limit
    meanwhile.
    """
    settings: Settings = {**NO_EXTENSIONS, **store.file.settings}
    limit = store.file.settings.get("memory_limit")
    if limit is not None:
        settings["memory_limit"] = half = _half_the_memory(store)
        store.run("SET memory_limit = $1", [half])
    try:
        with _spill() as spill:
            settings["temp_directory"] = spill
            path, raw = store.file.path, connect_duckdb(config=settings)
            connection = Connection(raw, path, watch=store.watch)
            with Store(connection, DatabaseFile(path, settings=settings)) as other:
                connection.tracer = store.connection.tracer
                other.run("SET arrow_lossless_conversion = true")
                yield other
    finally:
        if limit is not None:
            store.run("SET memory_limit = $1", [limit])


def _half_the_memory(store: Store) -> str:
    ((limit,),) = store.rows("SELECT current_setting('memory_limit')")
    number, unit = limit.split()
    return f"{float(number) / 2:.2f}{unit}"


def _spill() -> tempfile.TemporaryDirectory[str]:
    """A place for temporary files. Raises ResourceError."""
    try:
        return tempfile.TemporaryDirectory(prefix="zodiac_sql_", ignore_cleanup_errors=True)
    except OSError as error:
        raise ResourceError(
            f"no temporary file can be written. Nothing was changed. {error}"
        ) from error
