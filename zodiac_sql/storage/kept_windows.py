"""Windows in the catalog."""

from __future__ import annotations

from collections.abc import Iterable

from zodiac_sql.database.store import Store
from zodiac_sql.database.together import Together
from zodiac_sql.language.syntax import Window
from zodiac_sql.program.windows import StoredWindow


def load_windows(store: Store) -> tuple[StoredWindow, ...]:
    """The windows in the file, in the order in which they came."""
    rows = store.rows(
        "SELECT set_name, strftime(added_at, '%Y-%m-%dT%H:%M:%SZ'), predicate, time_column,"
        " lifetime, facts, group_columns, by_events, late, refuses"
        " FROM zodiac.fact_window ORDER BY rowid"
    )
    return tuple(
        StoredWindow(
            set_name,
            Window(predicate, column, lifetime, count, tuple(groups), events, late, refuses),
            added_at,
        )
        for set_name, added_at, predicate, column, lifetime, count, groups, events, late, refuses
        in rows
    )  # fmt: skip


def save_windows(writes: Together, windows: Iterable[StoredWindow]) -> None:
    """Write all windows anew: there are few."""
    writes.add("DELETE FROM zodiac.fact_window")
    for one in windows:
        window = one.window
        writes.add(
            "INSERT INTO zodiac.fact_window"
            " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::TIMESTAMP)",
            [
                one.set, window.predicate, window.column, window.lifetime, window.count,
                list(window.groups), window.events, window.late, window.refuses,
                one.added_at.removesuffix("Z"),
            ],
        )  # fmt: skip
