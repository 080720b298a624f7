"""Reads the change feed: what entered and left predicates, by the numbers of changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from zodiac_sql.database.store import Store
from zodiac_sql.errors import QueryError
from zodiac_sql.language.schema import resolve
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.names import CHANGE_TYPE, COMMIT, INSERTED, TIME, beside
from zodiac_sql.program.feed import Feed, FeedTable
from zodiac_sql.program.state import State
from zodiac_sql.read.describe import table_of
from zodiac_sql.read.query import Answer
from zodiac_sql.sql.relations import Relation
from zodiac_sql.storage.extensions import decoded
from zodiac_sql.storage.feed import entries_table

if TYPE_CHECKING:
    import pyarrow as pa

_OURS = (CHANGE_TYPE, COMMIT, TIME)

MOST_EXACT = 2**53
"""Up to here, each int is a float."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Entries of the feed, of the changes after number `since` up to number `position`.

    `position` is what to ask `since` next time. Iteration gives (predicate, Arrow batch): a batch
    has the columns of the predicate, symbols as text, then `_change_type: string` ("insert" or
    "delete"), `_commit: int64` (the number of the change) and `_time: timestamp[us, UTC]`. If a
    predicate has had other columns once, older entries are in batches with these.
    """

    since: int
    position: int
    _tables: Mapping[str, Sequence[pa.Table]] = field(repr=False)

    @property
    def predicates(self) -> tuple[str, ...]:
        """The predicates that entries are about."""
        return tuple(self._tables)

    def table(self, predicate: str) -> pa.Table:
        """All entries of a predicate in the order of changes, in one Arrow table.

        A column that had several types has numbers as float, unless one of its ints is too large
        for that; anything else is text. One that was not there is null. Without entries, the table
        has no columns of the predicate.
        """
        import pyarrow as pa

        tables = self._tables.get(predicate, ())
        if not tables:
            return _ours()
        if len(tables) == 1:
            return tables[0]
        united = pa.concat_tables(_alike(tables), promote_options="default")
        names = [name for name in united.column_names if name not in _OURS]
        united = united.select([*names, *_OURS])
        return united.sort_by([(COMMIT, "ascending"), (CHANGE_TYPE, "ascending")])

    def __iter__(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        for name, tables in self._tables.items():
            for table in tables:
                yield from ((name, batch) for batch in table.to_batches())

    def __len__(self) -> int:
        """How many entries there are."""
        return sum(table.num_rows for tables in self._tables.values() for table in tables)


def _ours() -> pa.Table:
    """No entries."""
    import pyarrow as pa

    types = (pa.string(), pa.int64(), pa.timestamp("us", "UTC"))
    return pa.schema(list(zip(_OURS, types, strict=True))).empty_table()


def _alike(tables: Sequence[pa.Table]) -> Iterator[pa.Table]:
    """Tables with one type for each column."""
    import pyarrow as pa

    found: dict[str, list[pa.ChunkedArray]] = {}
    for table in tables:
        for name in table.column_names:
            found.setdefault(name, []).append(table[name])
    wanted = {name: _one_type(columns) for name, columns in found.items()}
    for table in tables:
        schema = pa.schema([pa.field(name, wanted[name]) for name in table.column_names])
        yield table.cast(schema, safe=False)


def _one_type(columns: Sequence[pa.ChunkedArray]) -> pa.DataType:
    """The type that can hold the values of some columns."""
    import pyarrow as pa

    types = {column.type for column in columns}
    if len(types) == 1:
        return types.pop()
    is_float = types <= {pa.int64(), pa.float64()} and all(
        column.type != pa.int64() or _are_floats(column) for column in columns
    )
    return pa.float64() if is_float else pa.string()


def _are_floats(ints: pa.ChunkedArray) -> bool:
    """Whether each of some ints is a float, too."""
    import pyarrow.compute as pc

    ends = pc.min_max(ints)
    return bool(ends["min"].as_py() >= -MOST_EXACT and ends["max"].as_py() <= MOST_EXACT)


def changes(
    store: Store,
    state: State,
    predicates: Sequence[str],
    since: int | None,
    until: int | None,
) -> Changes:
    """The entries after change number `since`, up to `until`. Raises QueryError."""
    feed = state.feed
    names = _wanted(state, predicates)
    for what, number in (("since", since), ("until", until)):
        if number is not None and (not isinstance(number, int) or isinstance(number, bool)):
            raise QueryError(f"{what} is the number of a change, and {number!r} is none")
    first = feed.gone if since is None else since
    last = feed.last if until is None else until
    if since is not None:
        _require_kept(feed, names, since)
    if last > feed.last or last < first:
        raise QueryError(f"there are no changes after number {first} up to {last}: {_range(feed)}")
    store.journal.settle()
    found: dict[str, list[pa.Table]] = {}
    for (name, _), table in sorted(feed.tables.items(), key=lambda item: item[1].number):
        if (not predicates or name in names) and first < last:
            entries = _entries(store, table, first, last)
            if entries.num_rows:
                found.setdefault(name, []).append(entries)
    return Changes(first, last, found)


def _wanted(state: State, predicates: Sequence[str]) -> list[str]:
    """The predicates that were asked for; if none was, those that are in the feed by name."""
    feed = state.feed
    if not feed.since:
        raise QueryError(
            "no changes are kept: say which with keep_feed, and they are from the next one on. "
            'In Python kb.keep_feed(["anomaly"]), in a shell: zodiac keep-feed DB anomaly'
        )
    if not predicates:
        return [name for name in feed.since if name is not None]
    if not all(isinstance(name, str) for name in predicates):
        raise QueryError('changes takes names of predicates: kb.changes("anomaly", since=2)')
    names = [resolve(name, state.schema, state.prefixes) for name in predicates]
    for name in names:
        if not feed.has(name):
            kept = ", ".join(str(one) for one in feed.since)
            raise QueryError(f"{name} is not in the feed, which has {kept}: see keep_feed")
    return names


def _require_kept(feed: Feed, names: Sequence[str], since: int) -> None:
    """Refuse a position after which changes are missing."""
    if not 0 <= since <= feed.last:
        raise QueryError(f"there is no change number {since}: {_range(feed)}")
    if since < feed.gone:
        raise QueryError(
            f"changes after number {since} are not all there any more: {_range(feed)}. Read the "
            f"predicates as they are now, and go on from {feed.last}."
        )
    asked: Sequence[str | None] = names or [None]
    for name in asked:
        if since < feed.first_position(name):
            raise QueryError(
                f"{name or 'this feed'} has its changes only after number "
                f"{feed.first_position(name)}: it was not in the feed before. Read it as it is "
                f"now, and go on from {feed.last}."
            )


def _range(feed: Feed) -> str:
    if feed.last == feed.gone:
        return f"the feed has none yet after number {feed.last}"
    return f"the feed has numbers {feed.gone + 1} to {feed.last}"


def _entries(store: Store, table: FeedTable, first: int, last: int) -> pa.Table:
    """The entries of one table, as users see them."""
    import pyarrow.compute as pc

    stored = Relation(table.columns, ()).stored
    columns = tuple(Column(f"c{place}", column.type) for place, column in enumerate(stored))
    ours = (Column(INSERTED, Type.BOOL), Column(COMMIT, Type.INT), Column(TIME, Type.TIMESTAMP))
    relation = Relation((*columns, *ours), ())
    number = exp.column(COMMIT, quoted=True)
    facts = exp.select(*(exp.column(c.name, quoted=True) for c in relation.columns))
    facts = facts.from_(entries_table(table.number)).where(
        number > exp.Literal.number(first), number <= exp.Literal.number(last)
    )
    query = decoded(relation, facts, "zodiac.symbol")
    found = store.arrow(query.order_by(COMMIT, INSERTED))
    kinds = pc.if_else(found[INSERTED], "insert", "delete")
    moments = found[TIME].cast(_ours().schema.field(TIME).type)
    names = [beside(c.name, _OURS) for c in stored]
    values = found.select([column.name for column in columns]).rename_columns(names)
    for name, column in zip(_OURS, (kinds, found[COMMIT], moments), strict=True):
        values = values.append_column(name, column)
    return values


def describe_feed(state: State) -> Answer:
    """What is in the feed: one row for each predicate, or for all.

    predicate: string   null stands for all predicates
    since: int64        changes after this number are there
    position: int64     the number of the last change
    entries: int64      how many facts have entered or left, of the changes that are there
    bytes: int64        what these entries take before they are compressed
    count: int64        how many changes are kept at least; null is no limit
    days: double        for how many days changes are kept at least
    limit: int64        how many bytes are kept at least
    """
    feed, limits = state.feed, state.feed.limits
    names = list(feed.since)
    own = [
        [table for (name, _), table in feed.tables.items() if one is None or name == one]
        for one in names
    ]
    days = None if limits.seconds is None else limits.seconds / (24 * 60 * 60)
    return table_of(
        predicate=("string", names),
        since=("int64", [feed.first_position(name) for name in names]),
        position=("int64", [feed.last] * len(names)),
        entries=("int64", [sum(table.entries for table in tables) for tables in own]),
        bytes=("int64", [sum(table.bytes for table in tables) for tables in own]),
        count=("int64", [limits.changes] * len(names)),
        days=("double", [days] * len(names)),
        limit=("int64", [limits.bytes] * len(names)),
    )
