"""Checks that a file is as we make it, before anything in it is read by name.

A file may come from anybody, and DuckDB would run code that it holds: a view or a macro in place of
ours, a trigger, a column with a default or an expression, a check, an index over an expression. So
our schemas may hold only tables of plain types, and the macros of the catalog as we made them.

The checks call only DuckDB's own functions, and compare texts: they call nothing of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from zodiac_sql.database.migrate import Database, catalog
from zodiac_sql.errors import StoreError

# Statements here have no parameters: before it takes the first one, DuckDB's module imports pandas
# if that is installed, which costs more than all the rest of opening a file. They list no columns,
# because for that DuckDB plans each of its own views (10 ms), and the text that makes a table has
# all that is in it.

_OURS = "('zodiac', 'edb', 'idb', 'hd')"
"""Our schemas. DuckDB ignores the case of their names, so we compare names in lower case."""

_TABLES = f"""
SELECT database_name, schema_name, table_name, sql, index_count > has_primary_key::INTEGER
FROM system.main.duckdb_tables() WHERE lower(schema_name) IN {_OURS}
"""

_VIEWS = f"""
SELECT database_name, schema_name, view_name
FROM system.main.duckdb_views() WHERE lower(schema_name) IN {_OURS}
"""

_TRIGGERS = f"""
SELECT database_name, schema_name, trigger_name
FROM system.main.duckdb_triggers() WHERE lower(schema_name) IN {_OURS}
"""

_NAME = r'(?:[A-Za-z_][A-Za-z0-9_]*|"(?:[^"]|"")+")'

_FACT = (
    rf"{_NAME} (?:INTEGER|BIGINT|DECIMAL\(38,18\)|DOUBLE|BOOLEAN|DATE|TIMESTAMP)"
    r"(?: DEFAULT\([0-9]+\))?(?: NOT NULL)?"
)
"""A column of a table of facts."""

# The first column for modules had a default that calls a function. Nothing uses it: migration 6
# makes the table anew.
_DEFAULT = r"[0-9]+|'\[\]'|CAST\('[ft]' AS BOOLEAN\)|true|false|main\.list_value\(\)"

_PLAIN = (
    r"(?:VARCHAR|INTEGER|BIGINT|BOOLEAN|TIMESTAMP)(?:\[\])?|MAP\(VARCHAR, VARCHAR\)"
    r"|TINYINT|DOUBLE|DECIMAL\(38, ?18\)"
    r'|STRUCT\([a-z", A-Z\[\]]*\)\[\]'
)

_ENTRY = rf"{_NAME} (?:{_PLAIN})(?: DEFAULT\((?:{_DEFAULT})\))?(?: NOT NULL)?(?: PRIMARY KEY)?"
"""A column of a table of the catalog."""

_MADE = re.compile(
    rf"CREATE TABLE (?:zodiac\.{_NAME}\({_ENTRY}(?:, {_ENTRY})*\)"
    rf"|(?:(?:edb|idb|hd)\.{_NAME}|zodiac\.feed_[0-9]+)\({_FACT}(?:, {_FACT})*\));"
)
"""What DuckDB writes for a table of ours: nothing in it computes anything."""


def require_our_tables(store: Database) -> None:
    """Raise StoreError if something in our schemas is not as we make it, except for macros."""
    listed, shown, triggers = (store.rows(asked) for asked in (_TABLES, _VIEWS, _TRIGGERS))
    tables = [
        (s, name, text, more) for file, s, name, text, more in listed if file == store.file.name
    ]
    views = [(s, view) for file, s, view in shown if file == store.file.name]
    wrong = [f"the trigger {s}.{name}" for file, s, name in triggers if file == store.file.name]
    _refuse(store, [*_wrong_tables(tables), *_wrong_views(tables, views), *wrong])


def _wrong_tables(tables: list[tuple[str, str, str, bool]]) -> Iterator[str]:
    for schema, name, text, has_indexes in tables:
        if has_indexes:
            yield f"an index on {schema}.{name}"
        elif not _MADE.fullmatch(text):
            yield f"another table {schema}.{name}"


def _wrong_views(
    tables: list[tuple[str, str, str, bool]], views: list[tuple[str, str]]
) -> Iterator[str]:
    """Find views in our schemas, except a module's view of pairs beside its table of classes.

    That table had another name at first. Such views are for people; nothing here reads them.
    """
    inner = {name for schema, name, *_ in tables if schema == "idb"}
    for schema, view in views:
        first = re.sub(r"^(h[0-9]+_)", r"\1zodiac$classes_", view)
        if schema != "idb" or not inner & {f"{view} classes", first}:
            yield f"the view {schema}.{view}"


@dataclass(frozen=True, slots=True)
class Listed:
    """A function of DuckDB that may have effects, or any macro that is not DuckDB's."""

    database: str
    schema: str
    name: str
    kind: str
    internal: bool
    parameters: tuple[str, ...]
    definition: str | None


_own: list[Listed] = []
"""DuckDB's own functions that are not plain. They are the same for all files of a process."""


def own_functions(store: Database) -> tuple[Listed, ...]:
    """DuckDB's own functions that are not plain, for a store that cannot load extensions."""
    if not _own:
        list_functions(store)
    return tuple(_own)


def list_functions(store: Database, external_access: bool = False) -> tuple[Listed, ...]:
    """All macros that are not DuckDB's, and those functions of its own that are not plain.

    Listing functions takes 15 ms, however few are wanted, so DuckDB's own are listed once.
    """
    rows = store.rows(
        "SELECT DISTINCT database_name, schema_name, function_name, function_type, internal,"
        " CASE WHEN NOT internal THEN parameters END, macro_definition"
        " FROM system.main.duckdb_functions() WHERE NOT internal AND macro_definition IS NOT NULL"
        " OR internal AND (function_type IN ('table', 'table_macro', 'pragma')"
        " OR stability = 'VOLATILE')"
    )
    listed = tuple(
        Listed(database, schema, name, kind, internal, tuple(parameters or ()), definition)
        for database, schema, name, kind, internal, parameters, definition in rows
    )
    if not external_access:
        _own[:] = [function for function in listed if function.internal]
    return listed


def require_our_macros(store: Database, external_access: bool) -> tuple[Listed, ...]:
    """Raise StoreError if a macro in our schemas is not one of the catalog, as we made it.

    They are compared with temporary copies made here under other names, so that this version of
    DuckDB writes the text of both. Returns the macros that are there, without these copies.
    """
    expected = _macros()
    store.run("".join(expected.values()))
    listed = list_functions(store, external_access)
    store.run("".join(f"DROP MACRO temp.main.{_EXPECTED}{name};" for name in expected))
    made = [f for f in listed if f.database == "temp" and f.name.startswith(_EXPECTED)]
    right = {f.name.removeprefix(_EXPECTED): _body(f) for f in made}
    there = tuple(f for f in listed if not f.internal and f not in made)
    ours = [f for f in there if f.database == store.file.name and f.schema.lower() in _SCHEMAS]
    wrong = [f"the macro {f.schema}.{f.name}" for f in ours if right.get(f.name) != _body(f)]
    missing = right.keys() - {f.name for f in ours if f.schema == "zodiac"}
    _refuse(store, sorted(wrong) or [f"no macro zodiac.{name}" for name in sorted(missing)])
    return there


_SCHEMAS = ("zodiac", "edb", "idb", "hd")


def _body(macro: Listed) -> tuple[tuple[str, ...], str]:
    """What a macro computes, written the older way wherever versions of DuckDB differ.

    The text depends on which version has made the file, and on whether the macro was read from it.
    """
    text = macro.definition or ""
    text = re.sub(r"\(lambda (\w+): ", r"(\1 -> ", text)
    return macro.parameters, re.sub(r"\(NOT \((t\[1\]) (IN \([^()]*\))\)\)", r"(\1 NOT \2)", text)


_EXPECTED = "zodiac_expected_"

_MACRO = re.compile(r"^CREATE MACRO zodiac\.(\w+)(.*?;)$", re.DOTALL | re.MULTILINE)


def _macros() -> dict[str, str]:
    """The statement that makes each macro of the catalog, as a temporary one of another name."""
    return {
        name: f"CREATE TEMP MACRO {_EXPECTED}{name}{body}"
        for name, body in _MACRO.findall(catalog())
    }


def _refuse(store: Database, found: list[str]) -> None:
    if found:
        raise StoreError(
            f"{store.file.path} is not as zodiac_sql makes its files: it has "
            f"{', '.join(found[:5])}. Somebody has changed it, and nothing in it is read. Take its "
            "facts from where they came from."
        )
