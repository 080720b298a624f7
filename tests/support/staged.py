"""Staged facts, whether they wait in a table or as parameters."""

from __future__ import annotations

from typing import Any

from zodiac_sql.change.staged_rows import parameters_of, staged_query
from zodiac_sql.database.statements import create_temp
from zodiac_sql.database.store import Store
from zodiac_sql.language.schema import Predicate, Staged


def table_of(store: Store, staged: Staged) -> str:
    """The temporary table with staged facts, made now if they are parameters."""
    if staged.given is not None:
        types = tuple(column.type for column in staged.columns)
        known = Predicate("p", "p", staged.columns, types, staged.datatypes)
        query = create_temp(staged.table, staged_query(known, [staged]))
        store.run(query, parameters_of([staged]))
    return staged.table


def rows_of(store: Store, staged: Staged) -> list[tuple[Any, ...]]:
    """Staged facts, with the ids of symbols."""
    if staged.rows == 0:
        return []
    return store.rows(f'SELECT * FROM temp."{table_of(store, staged)}"')
