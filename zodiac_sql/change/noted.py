"""Writing a small change whose facts are in memory to the journal (storage/journal.py)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from zodiac_sql.database.store import Store
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Type
from zodiac_sql.names import RANK, feed_table
from zodiac_sql.program.state import State
from zodiac_sql.sql.relations import Relation
from zodiac_sql.storage.feed import Entries, entered, entry_columns
from zodiac_sql.storage.journal import Key, TableRows, note

Rows = Sequence[tuple[Any, ...]]


def rows_of_table(
    key: Key, known: Predicate, gone: Rows, come: Rows, ranked: bool = False
) -> TableRows:
    """The rows that go out of a table of a predicate and come in. Ranks stand last in `come`."""
    stored = Relation(known.columns, ()).stored
    columns = tuple((column.name, (column.type or Type.SYMBOL).value) for column in stored)
    rank = ((RANK, Type.INT.value),) if ranked else ()
    return TableRows(key, (*columns, *rank), gone, come)


def noted(
    store: Store,
    old: State,
    new: State,
    changes: Iterable[TableRows],
    fed: Iterable[tuple[Predicate, Rows, bool]],
) -> State | None:
    """Write what changes to the journal. `fed` is what the change feed gets (storage/feed.py).

    Returns the state after it, or None if it cannot be written there.
    """
    found = entered(old.feed, fed)
    if found is None:
        return None
    feed, entries = found
    tables = [*changes, *map(_of_feed, entries)]
    moved = {n: place for n, place in new.positions.items() if old.positions.get(n) != place}
    return replace(new, feed=feed) if note(store, tables, moved) else None


def _of_feed(one: Entries) -> TableRows:
    key = ("zodiac", feed_table(one.table.number))
    columns = tuple(entry_columns(one.table.columns))
    return TableRows(key, columns, come=one.facts, begin=one.begin)
