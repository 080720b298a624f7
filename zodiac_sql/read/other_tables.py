"""Tells of SQL that reads something else under the name of a predicate.

SQL ignores case, and a file may have tables of the user's own. So a predicate's view may have
another name than the predicate (language/schema.py), while its name is that of something else.
"""

from __future__ import annotations

from collections.abc import Iterator

from zodiac_sql.database.other_connections import for_users_sql
from zodiac_sql.database.permitted import tables_in
from zodiac_sql.database.store import Store
from zodiac_sql.names import is_constraint
from zodiac_sql.program.state import State


def other_tables(store: Store, state: State, text: str) -> Iterator[str]:
    """What is to be said of SQL that could be answered."""
    renamed = state.once("renamed", lambda: _renamed(state))
    if not renamed:
        return
    views = {known.sql_name.lower(): name for name, known in state.schema.items()}
    lower = {name.lower(): name for name in renamed}
    for read in sorted(tables_in(for_users_sql(store), text)):
        there = views.get(read.lower())
        if read in renamed and there is not None:
            name, what = read, f"the predicate {there}"
        elif read.lower() in lower and there is None:
            name, what = lower[read.lower()], "a table or view of your own"
        else:
            continue
        view = state.schema[name].sql_name
        yield f"{read} in this SQL is {what}: the view of the predicate {name} is {view}"


def _renamed(state: State) -> frozenset[str]:
    """The predicates whose views have other names. (IRIs are no names in SQL.)"""
    return frozenset(
        name
        for name, known in state.schema.items()
        if known.sql_name != name and not is_constraint(name) and ":" not in name
    )
