"""What a file must be like before anything in it is read by name.

A file may come from anybody, and DuckDB would compute what it holds: a view or a macro in place of what
we made, a column with a default or an expression, a check, an index over an expression. So in our
schemas there are only tables, of plain types, and the macros of the catalog as we made them.

All is asked of DuckDB's own functions, and compared as text: nothing of the file is called here.
"""

from __future__ import annotations

import re

from zodiac_sql.database.migrate import Database, migrations
from zodiac_sql.errors import StoreError

_OURS = "('zodiac', 'edb', 'idb', 'hd')"

_FACTS = "('INTEGER', 'BIGINT', 'DOUBLE', 'BOOLEAN', 'DATE', 'TIMESTAMP')"
"""The types of columns of facts."""

# The pairs of a module are a view beside the table of its classes, which had another name first. Such
# views are there for people; nothing here reads them. And the first column for modules had another
# default, which nothing takes: the table is made anew by migration 6.

_NOT_OURS = f"""
SELECT 'the view ' || schema_name || '.' || view_name FROM system.main.duckdb_views()
WHERE database_name = $1 AND schema_name IN {_OURS} AND NOT (schema_name = 'idb' AND
    (SELECT count(*) FROM system.main.duckdb_tables() AS t
     WHERE t.database_name = $1 AND t.schema_name = 'idb'
         AND t.table_name IN (view_name || ' classes',
                              regexp_replace(view_name, '^(h[0-9]+_)', '\\1zodiac$classes_'))) > 0)
UNION ALL
SELECT 'the column ' || column_name || ' of ' || schema_name || '.' || table_name
FROM system.main.duckdb_columns()
WHERE database_name = $1 AND schema_name IN {_OURS}
    AND (schema_name, table_name) IN (SELECT (schema_name, table_name)
                                      FROM system.main.duckdb_tables() WHERE database_name = $1)
    AND (NOT CASE WHEN schema_name = 'zodiac'
             THEN regexp_full_match(data_type, '[A-Z]+(\\[\\])?|MAP\\(VARCHAR, VARCHAR\\)'
                                               || '|STRUCT\\([a-z", A-Z\\[\\]]*\\)\\[\\]')
             ELSE data_type IN {_FACTS} END
         OR NOT regexp_full_match(coalesce(column_default, '0'),
                                  '[0-9]+|''\\[\\]''|CAST\\(''[ft]'' AS BOOLEAN\\)')
            AND NOT (table_name = 'hypernode' AND column_default = 'main.list_value()'))
UNION ALL
SELECT constraint_text || ' in ' || schema_name || '.' || table_name
FROM system.main.duckdb_constraints()
WHERE database_name = $1 AND schema_name IN {_OURS}
    AND NOT (constraint_type = 'NOT NULL'
             OR (schema_name = 'zodiac' AND constraint_type = 'PRIMARY KEY'))
UNION ALL
SELECT 'an index on ' || schema_name || '.' || table_name FROM system.main.duckdb_tables()
WHERE database_name = $1 AND schema_name IN {_OURS} AND index_count > has_primary_key::INTEGER
LIMIT 5
"""


def require_our_tables(store: Database) -> None:
    """Raise StoreError if something in our schemas is not as we make it; macros are not looked at."""
    _refuse(store, [what for (what,) in store.rows(_NOT_OURS, [store.database])])


def require_our_macros(store: Database) -> None:
    """Raise StoreError if a macro in our schemas is not one of the catalog, as we made it.

    They are compared with the same ones made here, under other names: so both are written by this
    version of DuckDB.
    """
    expected = _macros()
    store.run("".join(expected.values()))
    found = store.rows(
        "SELECT function_name, schema_name, parameters,"
        # One that was read from a file has the older way to write a function inside.
        " regexp_replace(macro_definition, '\\(lambda (\\w+): ', '(\\1 -> ', 'g')"
        " FROM system.main.duckdb_functions() WHERE NOT internal AND macro_definition IS NOT NULL"
        f" AND (database_name = $1 AND schema_name IN {_OURS}"
        f" OR database_name = 'temp' AND starts_with(function_name, '{_EXPECTED}'))",
        [store.database],
    )
    store.run("".join(f"DROP MACRO temp.main.{_EXPECTED}{name};" for name in expected))
    made = {name[len(_EXPECTED) :]: tuple(rest) for name, s, *rest in found if s == "main"}
    there = [(name, s, tuple(rest)) for name, s, *rest in found if s != "main"]
    wrong = [f"the macro {s}.{name}" for name, s, rest in there if made.get(name) != rest]
    missing = made.keys() - {name for name, schema, _ in there if schema == "zodiac"}
    _refuse(store, sorted(wrong) or [f"no macro zodiac.{name}" for name in sorted(missing)])


_EXPECTED = "zodiac_expected_"

_MACRO = re.compile(r"^CREATE (?:OR REPLACE )?MACRO zodiac\.(\w+)(.*?;)$", re.DOTALL | re.MULTILINE)


def _macros() -> dict[str, str]:
    """The statement that makes each macro of the catalog, as a temporary one of another name."""
    return {
        name: f"CREATE TEMP MACRO {_EXPECTED}{name}{body}"
        for _, _, text in migrations()
        for name, body in _MACRO.findall(text)
    }


def _refuse(store: Database, found: list[str]) -> None:
    if found:
        raise StoreError(
            f"{store.path} is not as zodiac_sql makes its files: it has {', '.join(found)}. Somebody "
            "has changed it, and nothing in it is read. Take its facts from where they came from."
        )
