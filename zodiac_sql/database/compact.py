"""Writes a database file anew: as small as it can be, tables in order, without unused symbols.

DuckDB uses the space of deleted rows again, but a file never gets smaller, and symbols that no fact
has any more stay in the dictionary. So all that is in the file is copied to a new one beside it,
which then takes its place in one step; after a kill, one of the two is there as a whole.

While it is copied, DuckDB holds the old file open, which keeps others from writing it, until the
new one is in its place.

In tables of facts and nodes, symbols are the columns of type INTEGER, and only they are
(column_types.py); there may be a few more in tables of classes, and then some symbols stay.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from zodiac_sql.database.connection import Connection, connect_duckdb
from zodiac_sql.database.database_file import DatabaseFile
from zodiac_sql.database.new_files import aside, log_of
from zodiac_sql.database.settings import NO_EXTENSIONS, Settings
from zodiac_sql.database.statements import union_all
from zodiac_sql.database.store import Store
from zodiac_sql.errors import StoreError

_SOURCE, _MADE = "zodiac_source", "zodiac_made"

_OURS = ("edb", "idb", "hd")
"""The schemas with tables of facts and nodes, which are put in order."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """What became of a file: its size in bytes before and after, and the symbols that went."""

    before: int
    after: int
    symbols: int

    def __str__(self) -> str:
        sizes = f"{self.before / 1e6:.1f} MB before, {self.after / 1e6:.1f} MB now"
        return f"{sizes}; {self.symbols:,} symbols that nothing used are gone"


def compact(file: Path, settings: Settings, storage_version: str | None = None) -> Compacted:
    """Write a file anew that this process has not open. Raises StoreError: then it is as before.

    Without `storage_version`, it keeps the form that it has.
    """
    log = log_of(file)
    if log.exists() and log.stat().st_size:
        raise StoreError(
            f"{file} has changes that are only in {log.name} as long as somebody reads it, or the "
            "disk has no room for them: close all that have it open, or make room. Nothing was "
            "changed."
        )
    before = file.stat().st_size
    try:
        with aside(file) as made, _helper(file, made, settings) as store:
            _open_both(store, file, made, storage_version)
            symbols = _copy(store)
            store.run("CHECKPOINT zodiac_made")
            store.run("DETACH zodiac_made")
            with made.open("rb+") as written:
                os.fsync(written.fileno())
            after = made.stat().st_size
            os.replace(made, file)
    except OSError as error:
        raise StoreError(f"{file} cannot be written anew: {error}. Nothing was changed.") from error
    return Compacted(before, after, symbols)


def _helper(file: Path, made: Path, settings: Settings) -> Store:
    """A database in memory that copies from one file to another."""
    config = {**settings, **NO_EXTENSIONS, "temp_directory": str(made.parent)}
    connection = Connection(connect_duckdb(config=config), str(file))
    return Store(connection, DatabaseFile(str(file)))


def _open_both(store: Store, file: Path, made: Path, storage_version: str | None) -> None:
    """Open the old file and the new one, and let no view or macro reach another one."""
    for setting, places in (
        ("allowed_paths", [file, log_of(file)]),
        ("allowed_directories", [made.parent]),
    ):
        values = exp.Array(expressions=[exp.Literal.string(str(place)) for place in places])
        item = exp.SetItem(this=exp.EQ(this=exp.to_identifier(setting), expression=values))
        store.run(exp.Set(expressions=[item]))
    store.run("SET enable_external_access = false")
    store.run("SET lock_configuration = true")
    _attach(store, file, _SOURCE, exp.AttachOption(this=exp.var("READ_ONLY")))
    form = exp.Literal.string(storage_version or _form(store))
    _attach(store, made, _MADE, exp.AttachOption(this=exp.var("STORAGE_VERSION"), expression=form))


def _attach(store: Store, path: Path, name: str, option: exp.AttachOption) -> None:
    named = exp.alias_(exp.Literal.string(str(path)), name, quoted=True)
    store.run(exp.Attach(this=named, expressions=[option]))


def _form(store: Store) -> str:
    """The storage version of the old file. DuckDB adds a + to it."""
    ((version,),) = store.rows(
        "SELECT tags['storage_version'] FROM duckdb_databases() WHERE database_name = $1", [_SOURCE]
    )
    return str(version).removesuffix("+")


def _copy(store: Store) -> int:
    """Copy everything to the new file. Returns how many symbols were left out."""
    store.run("COPY FROM DATABASE zodiac_source TO zodiac_made (SCHEMA)")
    tables = store.rows(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = $1"
        " ORDER BY table_oid",
        [_SOURCE],
    )
    used = list(_used(store))
    with store.transaction():
        for schema, name in tables:
            query = exp.select(exp.Star()).from_(
                exp.table_(name, db=schema, catalog=_SOURCE, quoted=True)
            )
            if schema in _OURS:
                query = query.order_by(exp.Ordered(this=exp.Var(this="ALL")))
            if schema == "zodiac" and name in ("symbol", "symbol_value"):
                query = query.where(_is_used(used)) if used else query.limit(0)
            there = exp.table_(name, db=schema, catalog=_MADE, quoted=True)
            store.run(exp.insert(query, there))
    counts = [
        exp.select(exp.Count(this=exp.Star())).from_(
            exp.table_("symbol", db="zodiac", catalog=catalog, quoted=True)
        )
        for catalog in (_SOURCE, _MADE)
    ]
    before, after = map(store.count, counts)
    return before - after


def _used(store: Store) -> Iterator[tuple[str, str, str]]:
    """The schemas, tables and names of columns that have symbols."""
    yield from store.rows(
        "SELECT schema_name, table_name, column_name FROM duckdb_columns()"
        " WHERE database_name = $1 AND data_type = 'INTEGER' AND (schema_name IN $2"
        " OR schema_name = 'zodiac' AND regexp_full_match(table_name, 'feed_[0-9]+'))",
        [_SOURCE, list(_OURS)],
    )


def _is_used(columns: Sequence[tuple[str, str, str]]) -> exp.Expr:
    """Whether the id of a symbol stands in one of some columns."""
    ids = [
        exp.select(exp.column(column, quoted=True)).from_(
            exp.table_(table, db=schema, catalog=_SOURCE, quoted=True)
        )
        for schema, table, column in columns
    ]
    return exp.In(this=exp.column("id"), query=union_all(ids).subquery(copy=False))
