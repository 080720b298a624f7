"""Which temporary tables of a change are dropped, and when."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

from zodiac_sql.database import dictionary
from zodiac_sql.database.render import render
from zodiac_sql.database.statements import drop, drop_view
from zodiac_sql.database.store import Store
from zodiac_sql.names import RANKED, VIEWS

LARGEST_LEFT_BEHIND = 10_000
"""A table of at most this many rows may stay until the next change replaces it."""

MOST_RENAMINGS = 16
"""After so many changes of rules, their tables are dropped, however small they are."""


def drop_all_temporary(store: Store) -> None:
    """Drop all temporary tables, because after a failed change nobody knows what they hold."""
    _drop(store, _temporary(store))
    store.temporary.looked_through(0)


def drop_temporary(store: Store, keep: Collection[str], renamed: bool) -> None:
    """Drop the temporary tables of a finished change, except those in `keep`.

    Small tables stay, because the next change replaces them; if all are small, they need not even
    be listed. With `renamed`, hypernodes have changed, so the next change may give its tables other
    names and would not replace them: after some such changes, small tables go, too.
    """
    there = store.temporary
    there.renamings += renamed
    rows = there.total if there.renamings else there.bound
    if rows <= LARGEST_LEFT_BEHIND and there.renamings < MOST_RENAMINGS:
        return
    largest = 0
    gone: list[tuple[str, int | None]] = []
    for name, size in _temporary(store):
        small = size is not None and size <= LARGEST_LEFT_BEHIND and not there.renamings
        if size is not None and (name in keep or small):
            largest = max(largest, size)  # if it is large, the next change drops it
        else:
            gone.append((name, size))
    _drop(store, gone)
    store.temporary.looked_through(largest)


def _temporary(store: Store) -> list[tuple[str, int | None]]:
    """The temporary tables with their estimated sizes, and the temporary views with None."""
    rows = store.rows(
        "SELECT table_name, estimated_size FROM duckdb_tables() WHERE temporary UNION ALL"
        " SELECT view_name, NULL FROM duckdb_views() WHERE temporary"
        " AND (starts_with(view_name, $1) OR starts_with(view_name, $2))",
        [RANKED, VIEWS],
    )
    return [(name, size) for name, size in rows if name not in dictionary.NEW]


def _drop(store: Store, some: Sequence[tuple[str, int | None]]) -> None:
    """Drop tables and views, all by one text, which takes two thirds of the time."""
    if some:
        store.run(";".join(_dropping(name, size is None) for name, size in some))


@lru_cache(maxsize=1_000)
def _dropping(name: str, is_view: bool) -> str:
    return render(drop_view(name) if is_view else drop(name))
