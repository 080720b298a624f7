"""Writing a small change whose facts are in memory to the journal (storage/journal.py).

That is all of it, or, if its facts must go to their tables, what it adds to the change feed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from zodiac_sql.change.feed_entries import given_move
from zodiac_sql.change.kinds import MOST_GIVEN
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.database.store import Store
from zodiac_sql.database.together import Check, Together
from zodiac_sql.database.waiting import NOTE_ENTRIES_IF_WRITTEN
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Type
from zodiac_sql.names import RANK, feed_table
from zodiac_sql.program.feed import Feed
from zodiac_sql.program.state import State
from zodiac_sql.sql.relations import Relation
from zodiac_sql.storage.feed import Entries, entered, entry_columns, write_entries
from zodiac_sql.storage.journal import Key, TableRows, make_room, note, note_entries

Rows = Sequence[tuple[Any, ...]]

Fed = Sequence[tuple[Predicate, Rows, bool]]
"""Facts of predicates in the change feed, with whether they have entered."""

Found = tuple[Feed, Sequence[Entries]]
"""The feed after a change, and the entries that the change adds to it."""


def rows_of_table(
    key: Key, known: Predicate, gone: Rows, come: Rows, ranked: bool = False
) -> TableRows:
    """The rows that go out of a table of a predicate and come in. Ranks stand last in `come`."""
    stored = Relation(known.columns, ()).stored
    columns = tuple((column.name, (column.meant or Type.SYMBOL).value) for column in stored)
    rank = ((RANK, Type.INT.value),) if ranked else ()
    return TableRows(key, (*columns, *rank), gone, come)


def noted(
    store: Store,
    old: State,
    new: State,
    changes: Iterable[TableRows],
    fed: Fed,
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


def prepare_feed(store: Store, feed: Feed, fed: Fed) -> Found | None:
    """Before the transaction of a change, find what the feed gets if it may wait in the journal.

    If not, nothing waits there any more: what is written then may count or delete older entries.
    """
    # Of more facts, the row in the journal would be large: they go to their tables.
    few = sum(len(rows) for _, rows, _ in fed) <= MOST_GIVEN
    presence = store.presence
    if few and presence is not None and presence.knows() and (found := entered(feed, fed)):
        make_room(store)
        return found
    store.journal.settle()
    return None


def write_fed(
    writes: Together, old: State, fed: Fed, cache: StatementCache, found: Found | None
) -> Feed:
    """Inside the transaction of a change, write what the feed gets: to the journal if it was found.

    Returns the feed after it.
    """
    if found is None:
        fresh = writes.store.temporary.fresh
        moved = (given_move(known, rows, into, fresh("fed")) for known, rows, into in fed)
        written = write_entries(writes, old.feed, moved, cache)
        writes.run()
        return written()
    after, entries = found
    if entries:
        note_entries(writes, [*map(_of_feed, entries)])
    return after


def write_fed_if_written(writes: Together, found: Found, check: Check) -> Feed:
    """The same for one fact that waits, and moves only if the statement `WRITTEN` writes it.

    `check` is told how many rows that has written. Returns the feed after it if there are any.
    """
    after, entries = found
    note_entries(writes, [*map(_of_feed, entries)], NOTE_ENTRIES_IF_WRITTEN, check)
    return after


def _of_feed(one: Entries) -> TableRows:
    key = ("zodiac", feed_table(one.table.number))
    return TableRows(key, entry_columns(one.table.columns), come=one.facts, begin=one.begin)
