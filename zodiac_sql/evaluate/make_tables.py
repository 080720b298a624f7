"""Temporary tables that every change makes by the same statement: rendered once, run often."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from sqlglot import exp

from zodiac_sql.database.render import render
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.database.statements import create_temp
from zodiac_sql.database.store import Parameters, Store
from zodiac_sql.sql.relations import Part, PartMarks


def make_table(
    store: Store,
    cache: StatementCache,
    key: Hashable,
    name: str,
    query: Callable[[], exp.Query],
    parameters: Parameters = None,
) -> int:
    """Create a temporary table with the rows of a query. Returns how many there are.

    `key` has all that the statement depends on, except the table's name.
    """

    def statement() -> str:
        return render(create_temp(name, query()))

    return store.count(cache.get((key, name), statement), parameters)


def make_part(
    store: Store,
    cache: StatementCache,
    key: Hashable,
    name: str,
    query: Callable[[], exp.Query],
    *,
    ranked: bool = False,
    marks: PartMarks | None = None,
    parameters: Parameters = None,
) -> Part | None:
    """As `make_table`, but returns the facts of the table, or None if there are none."""
    rows = make_table(store, cache, key, name, query, parameters)
    return Part("temp", name, rows, ranked=ranked, marks=marks) if rows else None
