"""The entries of the change feed in the file: read, written and deleted.

Rule: the entries of a change are written in the transaction that publishes the change, so they are
there exactly if the change is. Where no predicate is in the feed, there is no statement for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from typing import Any

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.render import render
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.database.statements import parameter, union_all
from zodiac_sql.database.store import Store
from zodiac_sql.database.together import Together
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.names import COMMIT, INSERTED, TIME, feed_table
from zodiac_sql.program.feed import Feed, FeedTable, Keeping, Layout, Retention
from zodiac_sql.sql.relations import Relation

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class MovedFacts:
    """Facts of a predicate that a change has moved, as a query for the columns of its tables."""

    predicate: str
    columns: tuple[Column, ...]
    inserted: bool
    key: Hashable
    """All that the text of the query depends on."""
    query: Callable[[], exp.Select]
    parameters: Mapping[str, object] = field(default_factory=dict)


# --- reading --------------------------------------------------------------------------------------


def load_feed(store: Store, gone: int) -> Feed:
    """What the file says of its feed, of which changes up to number `gone` are deleted."""
    store.journal.settle()
    since = dict(store.rows("SELECT predicate, since FROM zodiac.feed ORDER BY rowid"))
    ((*limits, narrowed),) = store.rows(
        "SELECT changes, seconds, bytes, narrowed FROM zodiac.feed_state"
    )
    rows = store.rows("SELECT number, predicate, columns, types FROM zodiac.feed_table ORDER BY 1")
    tables = [
        FeedTable(
            number,
            predicate,
            tuple(Column(c, Type(t)) for c, t in zip(columns, types, strict=True)),
        )
        for number, predicate, columns, types in rows
    ]
    last = max(gone, narrowed)
    return _measured(store, Feed(since, Retention(*limits), gone, last, narrowed), tables)


def _measured(store: Store, feed: Feed, tables: Sequence[FeedTable]) -> Feed:
    """A feed with what its tables have."""
    asked = [
        exp.select(
            exp.Literal.number(table.number),
            exp.Count(this=exp.Star()),
            exp.Max(this=exp.column(COMMIT, quoted=True)),
            exp.Min(this=exp.column(TIME, quoted=True)),
        ).from_(entries_table(table.number))
        for table in tables
    ]
    found = {n: rest for n, *rest in store.rows(union_all(asked))} if asked else {}
    counted = [replace(table, entries=found[table.number][0]) for table in tables]
    return replace(
        feed,
        tables={(table.predicate, table.columns): table for table in counted},
        last=max([feed.last, *(last for _, last, _ in found.values() if last is not None)]),
        oldest=min((oldest for _, _, oldest in found.values() if oldest), default=None),
    )


def entries_table(number: int) -> exp.Table:
    """A table of entries."""
    return exp.table_(feed_table(number), db="zodiac", quoted=True)


# --- writing --------------------------------------------------------------------------------------


def write_entries(
    writes: Together, feed: Feed, moved: Iterable[MovedFacts], cache: StatementCache
) -> Callable[[], Feed]:
    """Let what a change has moved be written, inside its transaction.

    Returns what tells the feed after it, once it is written.
    """
    by_layout: dict[Layout, list[MovedFacts]] = defaultdict(list)
    for one in moved:
        by_layout[one.predicate, one.columns].append(one)
    if not by_layout:
        return lambda: feed
    commit, now = feed.last + 1, datetime.now(UTC).replace(tzinfo=None)
    tables = dict(feed.tables)
    counted: dict[Layout, int] = {}
    for layout, some in by_layout.items():
        if layout not in tables:
            tables[layout] = _make_table(writes.store, layout, tables.values())
        number = tables[layout].number
        text = cache.of(layout[0]).get(
            ("feed", number, *((one.columns, one.inserted, one.key) for one in some)),
            lambda number=number, some=some: _insertion(number, some),  # type: ignore[misc]
        )
        given = {COMMIT: commit, TIME: now}
        for one in some:
            given |= one.parameters
        writes.add(text, given, partial(counted.__setitem__, layout))

    def written() -> Feed:
        for layout, count in counted.items():
            tables[layout] = replace(tables[layout], entries=tables[layout].entries + count)
        after = replace(feed, last=commit, tables=tables, oldest=feed.oldest or now)
        return _delete_oldest(writes.store, after, now) if _is_too_long(after, now) else after

    return written


@dataclass(frozen=True, slots=True)
class Entries:
    """Entries of facts in memory: all begin with number, time and kind, then comes the fact."""

    table: FeedTable
    begin: Row
    facts: Sequence[Row]


def entered(
    feed: Feed, moved: Iterable[tuple[Predicate, Sequence[Row], bool]]
) -> tuple[Feed, list[Entries]] | None:
    """The entries of a change whose facts are in memory.

    `moved` has facts of predicates that are in the feed, with whether they have entered. Returns
    the feed with them, too; or None, if a table must be made first, or entries deleted.
    """
    found: list[Entries] = []
    commit, now = feed.last + 1, datetime.now(UTC).replace(tzinfo=None)
    tables = dict(feed.tables)
    for known, rows, inserted in moved:
        table = tables.get((known.name, known.columns))
        if table is None:
            return None
        found.append(Entries(table, (commit, now, inserted), rows))
        entries = table.entries + len(rows)
        tables[known.name, known.columns] = replace(table, entries=entries)
    if not found:
        return feed, []
    after = replace(feed, last=commit, tables=tables, oldest=feed.oldest or now)
    return None if _is_too_long(after, now) else (after, found)


@lru_cache(maxsize=256)
def entry_columns(columns: tuple[Column, ...]) -> tuple[tuple[str, str], ...]:
    """The names and types of the columns of a table of entries."""
    named = [(COMMIT, Type.INT), (TIME, Type.TIMESTAMP), (INSERTED, Type.BOOL)]
    stored = enumerate(Relation(columns, ()).stored)
    named += [(f"c{place}", column.type or Type.SYMBOL) for place, column in stored]
    return tuple((name, type_.value) for name, type_ in named)


def _make_table(store: Store, layout: Layout, others: Iterable[FeedTable]) -> FeedTable:
    """Make the table for entries of a predicate with columns that it did not have before."""
    number = max((table.number for table in others), default=0) + 1
    predicate, columns = layout
    types = [column.meant or Type.SYMBOL for column in columns]
    store.run(
        "INSERT INTO zodiac.feed_table VALUES ($1, $2, $3::VARCHAR[], $4::VARCHAR[])",
        [number, predicate, [c.name for c in columns], [type_.value for type_ in types]],
    )
    definitions = [
        exp.ColumnDef(
            this=exp.to_identifier(name, quoted=True),
            kind=exp.DataType.build(SQL_TYPES[Type(type_)], "duckdb"),
        )
        for name, type_ in entry_columns(columns)
    ]
    table = exp.Schema(this=entries_table(number), expressions=definitions)
    store.run(exp.Create(this=table, kind="TABLE"))
    return FeedTable(number, predicate, columns)


def _insertion(number: int, moved: Sequence[MovedFacts]) -> str:
    rows = union_all([_rows(one) for one in moved])
    return render(exp.insert(rows, entries_table(number)))


def _rows(moved: MovedFacts) -> exp.Select:
    query = moved.query()
    ours = [parameter(COMMIT), parameter(TIME), exp.convert(moved.inserted)]
    query.set("expressions", [*ours, *query.expressions])
    return query


# --- deleting -------------------------------------------------------------------------------------


def _is_too_long(feed: Feed, now: datetime) -> bool:
    """Whether a quarter more is there than is to be kept."""
    limits = feed.limits
    count, seconds, size = limits.changes, limits.seconds, limits.bytes
    return (
        (count is not None and feed.last - feed.gone > count + max(1, count // 4))
        or (size is not None and feed.bytes > size * 1.25)
        or (
            seconds is not None
            and feed.oldest is not None
            and feed.oldest < now - timedelta(seconds=seconds * 1.25)
        )
    )


def _delete_oldest(store: Store, feed: Feed, now: datetime) -> Feed:
    """Delete the changes that need not be kept. The last one stays."""
    limits, gone = feed.limits, feed.gone
    if limits.changes is not None:
        gone = max(gone, feed.last - limits.changes)
    if limits.seconds is not None:
        gone = max(gone, _last_before(store, feed, now - timedelta(seconds=limits.seconds)))
    if limits.bytes is not None:
        gone = max(gone, _last_beyond(store, feed, limits.bytes))
    gone = min(gone, feed.last - 1)
    earlier = exp.column(COMMIT, quoted=True) <= exp.Literal.number(gone)
    for table in feed.tables.values():
        store.run(exp.delete(entries_table(table.number), where=earlier))
    store.run("UPDATE zodiac.feed_state SET gone = $1", [gone])
    return _measured(store, replace(feed, gone=gone), list(feed.tables.values()))


def _last_before(store: Store, feed: Feed, moment: datetime) -> int:
    """The last change before a moment, or 0."""
    earlier = exp.column(TIME, quoted=True) < exp.cast(parameter(TIME), "TIMESTAMP")
    asked = [
        exp.select(exp.Max(this=exp.column(COMMIT, quoted=True)))
        .from_(entries_table(table.number))
        .where(earlier)
        for table in feed.tables.values()
    ]
    found = store.rows(union_all(asked), {TIME: moment})
    return max((number for (number,) in found if number is not None), default=0)


def _last_beyond(store: Store, feed: Feed, most: int) -> int:
    """The last change without which the others take at most so many bytes."""
    commit = exp.column(COMMIT, quoted=True)
    sizes: dict[int, int] = defaultdict(int)
    for table in feed.tables.values():
        asked = exp.select(commit, exp.Count(this=exp.Star())).from_(entries_table(table.number))
        for number, entries in store.rows(asked.group_by(commit)):
            sizes[number] += replace(table, entries=entries).bytes
    total = 0
    for number in sorted(sizes, reverse=True):
        total += sizes[number]
        if total > most:
            return number
    return feed.gone


# --- what is in the feed --------------------------------------------------------------------------


def keep(store: Store, feed: Feed, keeping: Keeping) -> Feed:
    """Let other predicates be in the feed, or for another time. Entries of all others go."""
    before = feed.since.get(None, feed.last)
    since = {name: feed.since.get(name, before) for name in keeping.predicates}
    after = replace(feed, since=since, limits=keeping.limits)
    tables = {layout: table for layout, table in feed.tables.items() if after.has(layout[0])}
    gone = feed.gone if since else feed.last
    narrowed = feed.narrowed if len(tables) == len(feed.tables) else feed.last
    for layout in feed.tables.keys() - tables.keys():
        number = feed.tables[layout].number
        store.run("DELETE FROM zodiac.feed_table WHERE number = $1", [number])
        store.run(exp.Drop(tables=[entries_table(number)], kind="TABLE"))
    limits = keeping.limits
    store.run("DELETE FROM zodiac.feed")
    store.run("DELETE FROM zodiac.feed_state")
    store.run(
        "INSERT INTO zodiac.feed SELECT unnest($1::VARCHAR[]), unnest($2::BIGINT[])",
        [[*since], [*since.values()]],
    )
    store.run(
        "INSERT INTO zodiac.feed_state VALUES ($1, $2, $3, $4, $5)",
        [gone, limits.changes, limits.seconds, limits.bytes, narrowed],
    )
    after = replace(after, gone=gone, narrowed=narrowed, tables={})
    return _measured(store, after, list(tables.values()))
