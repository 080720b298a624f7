"""What changes leave in temporary tables, and when it goes."""

from __future__ import annotations

from collections.abc import Collection

from zodiac_sql.database import dictionary
from zodiac_sql.database.statements import drop, drop_view
from zodiac_sql.database.store import Store
from zodiac_sql.names import RANKED, VIEWS

_SMALL_TABLE = 10_000
"""Tables of at most so many rows may stay until the next change replaces them."""


def drop_temporary(store: Store, keep: Collection[str] | None = None, others: bool = True) -> None:
    """Drop temporary tables: all of them, or after a success those of some size not to be kept.

    Small tables then stay: the next change will replace them. If all were, nobody needs to look. But
    after a change of rules it may need `others`, under the names of other hypernodes.
    """
    if keep is not None and store.largest <= _SMALL_TABLE and not others:
        return
    rows = store.rows(
        "SELECT table_name, estimated_size FROM duckdb_tables() WHERE temporary UNION ALL"
        " SELECT view_name, NULL FROM duckdb_views() WHERE temporary AND (starts_with(view_name, $1)"
        " OR starts_with(view_name, $2))",
        [RANKED, VIEWS],
    )
    store.largest = 0
    for name, size in rows:
        if name == dictionary.NEW:
            continue
        if size is None:
            store.run(drop_view(name))
        elif keep is not None and (name in keep or (size <= _SMALL_TABLE and not others)):
            store.largest = max(store.largest, size)  # what is large goes with the next change
        else:
            store.run(drop(name))
