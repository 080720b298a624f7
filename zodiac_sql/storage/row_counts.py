"""The exact number of rows of every table in the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from zodiac_sql.database.statements import union_all
from zodiac_sql.database.store import Store
from zodiac_sql.language.schema import Predicate
from zodiac_sql.names import ASIDE, DERIVED_SCHEMA, between_table, classes_table, derived
from zodiac_sql.program.state import HypernodeRow
from zodiac_sql.sql.class_pairs import count_between, count_pairs


def list_tables(store: Store) -> list[tuple[str, str, int]]:
    """The schema, the name and the estimated size of every table of facts or nodes.

    (The query has no parameters, like all that open a file: see database/check_file.py.)
    """
    rows = store.rows(
        "SELECT database_name, schema_name, table_name, estimated_size FROM duckdb_tables()"
        " WHERE schema_name IN ('edb', 'idb', 'hd')"
    )
    return [(schema, table, size) for file, schema, table, size in rows if file == store.file.name]


def is_aside(schema: str, table: str) -> bool:
    """Whether the last change took a table away; it is kept so that the change can be read."""
    return schema == DERIVED_SCHEMA and table.startswith(ASIDE)


def load_row_counts(
    store: Store,
    tables: Sequence[tuple[str, str, int]],
    hypernodes: Sequence[HypernodeRow],
    schema: Mapping[str, Predicate],
) -> dict[tuple[str, str], int]:
    """The exact number of rows of every table of facts or nodes, and of every view of pairs."""
    found = _load_counts(store, [table for table in tables if not is_aside(*table[:2])])
    for row in hypernodes:
        for module in row.modules:
            if module.parted:
                name = schema[module.predicate].sql_name
                table = derived(row.id, classes_table(name))
                key = DERIVED_SCHEMA, derived(row.id, name)
                if (DERIVED_SCHEMA, table) not in found:
                    continue
                if module.directed:
                    between = derived(row.id, between_table(name))
                    found[key] = count_between(store, table, between)
                else:
                    found[key] = count_pairs(store, table, module.unequal)
    return found


def _load_counts(
    store: Store, tables: Sequence[tuple[str, str, int]]
) -> dict[tuple[str, str], int]:
    """The exact number of rows of tables. DuckDB keeps it, so nothing is scanned."""
    from sqlglot import exp

    # DuckDB's estimate counts deleted rows, too, so a table estimated at 0 rows is empty.
    found = {(schema, table): 0 for schema, table, _ in tables}
    filled = [(schema, table) for schema, table, size in tables if size]
    for start in range(0, len(filled), _COUNTED_AT_ONCE):
        some = filled[start : start + _COUNTED_AT_ONCE]
        counts = [
            exp.select(exp.Literal.number(place), exp.Count(this=exp.Star()), copy=False).from_(
                exp.table_(table, db=schema, quoted=True), copy=False
            )
            for place, (schema, table) in enumerate(some)
        ]
        rows = store.rows(union_all(counts))
        found |= {some[place]: count for place, count in rows}
    return found


_COUNTED_AT_ONCE = 50
"""One statement counts at most this many tables: 5,000 then take 0.3 s, and all at once 1 s."""
