"""Writing a small change whose facts are in memory to the journal (storage/journal.py)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from zodiac_sql.database.store import Store
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Type
from zodiac_sql.names import RANK, feed_table
from zodiac_sql.program.state import State
from zodiac_sql.sql.relations import Relation
from zodiac_sql.storage.feed import entered, entry_columns
from zodiac_sql.storage.journal import Columns, Entry, Key, differing, note

Rows = Sequence[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class TableChange:
    """The rows that go out of a table of a predicate and come in. Ranks stand last in `come`."""

    key: Key
    known: Predicate
    gone: Rows
    come: Rows
    ranked: bool = False

    @property
    def columns(self) -> Columns:
        """The names and types of the table's columns."""
        stored = Relation(self.known.columns, ()).stored
        columns = [(column.name, (column.type or Type.SYMBOL).value) for column in stored]
        return (*columns, (RANK, Type.INT.value)) if self.ranked else tuple(columns)


def noted(
    store: Store,
    old: State,
    new: State,
    changes: Iterable[TableChange],
    fed: Iterable[tuple[Predicate, Rows, bool]],
) -> State | None:
    """Write what changes to the journal. `fed` is what the change feed gets (storage/feed.py).

    Returns the state after it, or None if it cannot be written there.
    """
    found = entered(old.feed, fed)
    if found is None:
        return None
    feed, entries = found
    entry = Entry(positions=dict(differing(old.positions, new.positions)))
    for change in changes:
        entry.edit(change.key, change.columns, change.gone, change.come)
    for one in entries:
        key = ("zodiac", feed_table(one.table.number))
        entry.fed.append((key, tuple(entry_columns(one.table.columns)), one.begin, one.facts))
    return replace(new, feed=feed) if note(store, entry) else None
