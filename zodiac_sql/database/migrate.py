"""Brings the catalog of a database file up to date: numbered SQL files, each in a transaction.

Each file has a transaction of its own, because DuckDB cannot change a table that holds data after
it has deleted from it or altered it in the same transaction. A kill between two files leaves a
catalog of an older version, which the next opening brings up to date. A new catalog holds no data,
so it is made in one transaction, because each transaction costs a write to the disk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Protocol

from zodiac_sql.errors import NewerFileError, StoreError
from zodiac_sql.names import DERIVED_SCHEMA, EXPLICIT_SCHEMA, NODE_SCHEMA

if TYPE_CHECKING:
    from zodiac_sql.database.database_file import DatabaseFile

_DROPS_KEYS = 6
_UNSIGNED_ZEROS = 7
_DECIMALS = 17
_VALUES_APART = 19
"""The migrations that need a step in Python."""


class Database(Protocol):
    """What is needed of a store."""

    file: DatabaseFile

    def look_in(self, *schemas: str) -> None: ...

    def run(self, statement: Any, parameters: Sequence[object] | None = None) -> object: ...

    def rows(
        self, statement: Any, parameters: Sequence[object] | None = None
    ) -> list[tuple[Any, ...]]: ...

    def count(self, statement: str, parameters: Sequence[object] | None = None) -> int: ...

    def transaction(self) -> AbstractContextManager[None]: ...


@cache
def migrations() -> tuple[tuple[int, str, str], ...]:
    """(number, name, SQL text) of each migration that this version knows, in order."""
    folder = files("zodiac_sql.database.migrations")
    found = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    return tuple(
        (int(name[:4]), name[5:-4], (folder / name).read_text(encoding="utf-8")) for name in found
    )


@cache
def catalog() -> str:
    """The text that makes the newest catalog."""
    return (files("zodiac_sql.database") / "catalog.sql").read_text(encoding="utf-8")


def migrate(store: Database, is_new: bool) -> int:
    """Apply the migrations that the file lacks, and return the version it had, 0 if it was new.

    Raises NewerFileError, or StoreError.
    """
    applied = _applied_version(store)
    if applied == 0 and not is_new:
        _require_free_names(store)
        _require_something(store)
    known = migrations()
    newest = known[-1][0]
    if applied > newest:
        raise NewerFileError(
            f"{store.file.path} was written by a newer zodiac_sql: its catalog has version "
            f"{applied}, this zodiac_sql knows up to {newest}. Install a newer one: "
            "pip install --upgrade zodiac-sql"
        )
    missing = [migration for migration in known if migration[0] > applied]
    if not missing:
        return applied
    if store.file.read_only and applied == 0:
        raise StoreError(
            f"{store.file.path} is a DuckDB file without a knowledge base of zodiac_sql. Give the "
            "path of one; or, to make one in this file, open it without read_only."
        )
    if store.file.read_only:
        raise StoreError(
            f"{store.file.path} holds no zodiac_sql catalog of version {newest}. "
            "Open it once without read_only to bring it up to date."
        )
    if applied == 0:
        _make_catalog(store, missing)
    for version, name, text in missing if applied else ():
        _look_in_the_file(store, version)
        with store.transaction():
            if version == _DROPS_KEYS:
                _rename_first_modules(store)
            if version == _UNSIGNED_ZEROS:
                _remove_signs_of_zeros(store)
            if version == _DECIMALS:
                _keep_floats(store)
            store.run(text)
            if version == _VALUES_APART:
                _read_numbers_apart(store)
            store.run(_note([(version, name)]))
    return applied


def _make_catalog(store: Database, known: Sequence[tuple[int, str, str]]) -> None:
    """Make a new catalog: the one to which all migrations lead.

    The file need not be new: it may have somebody else's tables and macros. So names are looked up
    as DuckDB does by itself; the text calls no function.
    """
    store.run("RESET search_path")
    with store.transaction():
        store.run(catalog())
        store.run(_note([(version, name) for version, name, _ in known]))


def _note(applied: Sequence[tuple[int, str]]) -> str:
    """The statement that records migrations. It is text (see check_file.py): names are our own."""
    rows = ", ".join(
        f"({number}, '{name}', system.main.now()::TIMESTAMP)" for number, name in applied
    )
    return f"INSERT INTO zodiac.migration VALUES {rows}"


_MAKE_SCHEMAS = (1, 5)
"""The migrations that make schemas, and so change where names are looked up first. They call no
function."""


def _look_in_the_file(store: Database, version: int) -> None:
    """Let a migration find tables in the file by name, but no functions instead of DuckDB's."""
    if version in _MAKE_SCHEMAS:
        store.run("RESET search_path")
    else:
        later = (NODE_SCHEMA,) if version > max(_MAKE_SCHEMAS) else ()
        store.look_in("zodiac", EXPLICIT_SCHEMA, DERIVED_SCHEMA, *later)


def _require_free_names(store: Database) -> None:
    """Refuse a file in which somebody else's schemas have the names of ours."""
    found = store.rows(
        "SELECT schema_name, database_name FROM duckdb_schemas() AS s"
        " WHERE lower(schema_name) IN ('zodiac', 'edb', 'idb', 'hd') AND NOT"
        " (lower(schema_name) = 'zodiac' AND NOT EXISTS (SELECT 1 FROM duckdb_tables() AS t"
        " WHERE t.database_name = s.database_name AND lower(t.schema_name) = 'zodiac')) ORDER BY 1"
    )
    names = " and ".join(name for name, database in found if database == store.file.name)
    if names:
        raise StoreError(
            f"{store.file.path} has a schema {names} that zodiac_sql has not made, and that it "
            "would need for its own tables (zodiac, edb, idb and hd). Move what is in it to "
            "another schema, and drop it; or open another file, and insert your tables' rows. "
            "Nothing was changed."
        )


def _applied_version(store: Database) -> int:
    """The newest migration in the file, 0 if it has no catalog."""
    found = store.rows(
        "SELECT database_name FROM duckdb_tables() WHERE schema_name = 'zodiac'"
        " AND table_name = 'migration' AND NOT temporary"
    )
    if (store.file.name,) not in found:
        return 0
    store.look_in("zodiac")
    return store.count("SELECT coalesce(max(version), 0) FROM zodiac.migration")


def _require_something(store: Database) -> None:
    """Refuse an empty database: a file of ours is empty only if its log is missing."""
    there = store.count(
        "SELECT (SELECT count(*) FROM duckdb_tables() WHERE database_name = $1)"
        " + (SELECT count(*) FROM duckdb_views() WHERE database_name = $1 AND NOT internal)"
        " + (SELECT count(*) FROM duckdb_functions() WHERE database_name = $1 AND NOT internal)",
        [store.file.name],
    )
    if not there:
        raise StoreError(
            f"{store.file.path} is a database with nothing in it. If it is a copy of one that is "
            "open, what was in that is in its .wal file: copy both while nothing is changed, this "
            f"one as {store.file.path}.wal; or copy after close(), or after sql('CHECKPOINT'). If "
            "it is to be a new one, delete the file first."
        )


def _rename_first_modules(store: Database) -> None:
    """Give tables of modules their present names: "h7_p classes".

    They were called "h7_zodiac$classes_p", also in the views over them.
    """
    old = store.rows(
        "SELECT table_name, regexp_replace(table_name,"
        " '^(h[0-9]+_)zodiac\\$(classes|external)_(.*)$', '\\1\\3 \\2')"
        " FROM duckdb_tables() WHERE schema_name = 'idb' AND database_name = $1"
        " AND regexp_matches(table_name, '^h[0-9]+_zodiac\\$(classes|external)_')",
        [store.file.name],
    )
    if not old:
        return
    from sqlglot import exp  # late, as few files have such names

    for name, new in old:
        table = exp.table_(name, db=DERIVED_SCHEMA, quoted=True)
        action = exp.AlterRename(this=exp.table_(new, quoted=True))
        store.run(exp.Alter(this=table, kind="TABLE", actions=[action]))
    _rewrite_views(store, dict(old))


def _remove_signs_of_zeros(store: Database) -> None:
    """Replace each -0.0 in a table of facts by 0.0, which is equal."""
    columns = store.rows(
        "SELECT schema_name, table_name, column_name FROM duckdb_columns()"
        " WHERE schema_name IN ('edb', 'idb', 'hd') AND data_type = 'DOUBLE' AND database_name = $1"
        " AND (schema_name, table_name) IN (SELECT (schema_name, table_name) FROM duckdb_tables()"
        " WHERE database_name = $1)",
        [store.file.name],
    )
    if not columns:
        return
    from sqlglot import exp  # late, as few files have such columns

    for schema, name, column in columns:
        table = exp.table_(name, db=schema, quoted=True)
        value = exp.column(column, quoted=True)
        signed = exp.and_(value.eq(0), exp.Anonymous(this="signbit", expressions=[value.copy()]))
        if store.rows(exp.select("1").from_(table).where(signed).limit(1)):
            store.run(
                exp.update(table, {exp.to_identifier(column, quoted=True): 0.0}, where=signed)
            )


def _keep_floats(store: Database) -> None:
    """Let rules with values of xsd:decimal go on with floats: write them as xsd:double."""
    for which, rewritten in _TEXTS_OF_RULES:
        for name, text, prefixes in store.rows(which):
            from zodiac_sql.language.kept_texts import with_floats  # late, as few files have any

            store.run(rewritten, [with_floats(text, prefixes), name])


_TEXTS_OF_RULES = (
    (
        "SELECT name, source, prefixes FROM zodiac.rule WHERE contains(source, 'decimal')",
        "UPDATE zodiac.rule SET source = $1 WHERE name = $2",
    ),
    (
        "SELECT name, source, prefixes FROM zodiac.template WHERE contains(source, 'decimal')",
        "UPDATE zodiac.template SET source = $1 WHERE name = $2",
    ),
)


def _read_numbers_apart(store: Database) -> None:
    """Let views read numbers where they are now: `t1.number` was a column of zodiac.symbol."""
    views = store.rows(
        "SELECT sql FROM duckdb_views() WHERE NOT internal AND database_name = $1"
        " AND schema_name = 'main' AND regexp_matches(sql, 't[0-9]+\\.number')",
        [store.file.name],
    )
    for (text,) in views:
        from zodiac_sql.database.former_views import with_values_apart  # late: few files have any

        store.run(with_values_apart(text, store.file.name))


def _rewrite_views(store: Database, names: Mapping[str, str]) -> None:
    """Let views read tables of idb by their new names."""
    import sqlglot
    from sqlglot import exp

    views = store.rows(
        "SELECT sql, schema_name FROM duckdb_views() WHERE NOT internal AND database_name = $1"
        " AND contains(sql, 'zodiac$')",
        [store.file.name],
    )
    for text, schema in views:
        view = sqlglot.parse_one(text, dialect="duckdb")
        made = view.find(exp.Table, bfs=True)
        assert made is not None
        made.set("db", exp.to_identifier(schema, quoted=True))
        made.set("catalog", exp.to_identifier(store.file.name, quoted=True))
        for table in view.find_all(exp.Table):
            if table.db == DERIVED_SCHEMA and table.name in names:
                table.set("this", exp.to_identifier(names[table.name], quoted=True))
        view.set("replace", True)
        store.run(view)
