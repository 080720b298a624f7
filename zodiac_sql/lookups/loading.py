"""The facts of a predicate, from the file into SQLite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from sqlglot import exp

from zodiac_sql.database.render import render as render_for_duckdb
from zodiac_sql.database.store import Store
from zodiac_sql.language.schema import Predicate
from zodiac_sql.lookups.side_database import SideDatabase
from zodiac_sql.lookups.tables import FACT, OWNERS, SMALL, Copy, creations, render
from zodiac_sql.lookups.values import is_unknown, read_by_duckdb
from zodiac_sql.names import RANK
from zodiac_sql.program.state import HypernodeRow, State
from zodiac_sql.sql.relations import Relation, columns_of, part_query, relation_query
from zodiac_sql.storage.owners import EXPLICIT
from zodiac_sql.storage.sources import heads_of, sources_of

_MOST_OWNERS = 60
"""An int of SQLite has 63 bits that can be set."""

_MOST_COMBINED = 4
"""Of predicates with more columns, values are only counted in each column."""

_ROWS = 10_000

_VALUES = 200
"""One statement for some rows takes half of the time of one for each. It has so many parameters."""


def size_of(state: State, predicate: str) -> int:
    """How many rows are read to copy a predicate."""
    owners = sources_of(state).owners(predicate).values()
    return sum(part.rows for parts in owners for part in parts)


def derivers(state: State, predicate: str) -> list[HypernodeRow]:
    """The hypernodes that can have tables of a predicate."""

    def find() -> dict[str, list[HypernodeRow]]:
        heads = heads_of(state)
        found: dict[str, list[HypernodeRow]] = {}
        for row in state.hypernodes:
            for name in dict.fromkeys(heads[rule] for rule in row.rules):
                found.setdefault(name, []).append(row)
        return found

    return state.once("derivers", find).get(predicate, [])


def have_same_tables(predicate: str, before: State, after: State) -> bool:
    """Whether a predicate has tables of the same hypernodes in two states, with the same columns.

    Then facts that have moved between these states have moved in those tables.
    """
    known, now = before.schema.get(predicate), after.schema.get(predicate)
    if known is None or now is None or known.columns != now.columns:
        return False
    old, new = (
        [(row.id, row.recursive, row.ranked, row.modules) for row in derivers(state, predicate)]
        for state in (before, after)
    )
    return old == new


@dataclass(slots=True)
class Copying:
    """A predicate that is copied part by part, of which some are there.

    Meanwhile changes of its facts may be brought to those of all parts: a part that comes later has
    the facts as they are then, whatever is there of them.
    """

    copy: Copy
    parts: int
    done: int = 0

    @property
    def is_complete(self) -> bool:
        return self.done == self.parts


def begin_loading(
    store: Store, state: State, database: SideDatabase, known: Predicate, number: int, parts: int
) -> Copying | None:
    """Make the tables of a copy. None: the facts of the predicate cannot be copied."""
    copy = _copy(store, state, known, number)
    if copy is None or _has_unknown(store, state, known):
        return None
    with database.transaction():
        for creation in creations(copy):
            database.run(creation)
    return Copying(copy, parts)


def load_part(
    store: Store, state: State, database: SideDatabase, known: Predicate, loading: Copying
) -> None:
    """Copy the facts of the next part."""
    share = (loading.done, loading.parts) if loading.parts > 1 else None
    beside = _beside(state, known, loading.copy)
    with database.transaction():
        for columns in _facts_of(store, state, known, loading.copy.bits, beside, share):
            _put(database, loading.copy, columns, beside)
    loading.done += 1


@dataclass(frozen=True, slots=True)
class _Beside:
    """What facts have beside their values, where that is the same for all of them: what a statement
    says itself takes SQLite half of the time of a parameter.
    """

    owners: int | None
    """None: each fact has its own."""
    ranked: bool
    """Whether they have ranks that anybody reads."""


def _beside(state: State, known: Predicate, copy: Copy) -> _Beside:
    tables = [
        copy.bits[owner]
        for owner, parts in sources_of(state).owners(known.name).items()
        if isinstance(owner, int)
        for _ in parts
    ]
    same = tables[0] if len(tables) == 1 else None
    return _Beside(same, ranked=copy.recursive is not None)


def _put(database: SideDatabase, copy: Copy, columns: Sequence[list[Any]], beside: _Beside) -> None:
    """Put facts, given by columns, after which owners and ranks come that are not the same for all,
    into a copy's table.
    """
    width = len(columns)
    values = [None] * (width * len(columns[0]))
    for place, column in enumerate(columns):
        values[place::width] = column
    cells: list[exp.Expr] = [exp.Placeholder() for _ in columns]
    if beside.owners is not None:
        cells.insert(copy.arity, exp.Literal.number(beside.owners))
    if not beside.ranked:
        cells.append(exp.null())
    row = exp.Tuple(expressions=cells)
    into = exp.table_(copy.name(FACT))
    one = render(exp.Insert(this=into, expression=exp.values([row]), alternative="REPLACE"))
    together = max(1, _VALUES // width)
    # Only placeholders are repeated as text: sqlglot would take longer for them than SQLite.
    several = ", ".join([one, *[render(row)] * (together - 1)])
    rest = len(values) - len(values) % (width * together)
    database.put(several, _pieces(values, 0, rest, width * together))
    database.put(one, _pieces(values, rest, len(values), width))


def _pieces(values: list[Any], start: int, end: int, size: int) -> Iterator[list[Any]]:
    return (values[place : place + size] for place in range(start, end, size))


def unload(database: SideDatabase, copy: Copy) -> None:
    """Drop the tables of a copy."""
    for kind in (FACT, *SMALL):
        database.run(render(exp.Drop(tables=[exp.table_(copy.name(kind))], kind="TABLE")))


def _copy(store: Store, state: State, known: Predicate, number: int) -> Copy | None:
    """A predicate with the bits of those that can have tables of it, if these are not too many."""
    rows = derivers(state, known.name)
    recursive = [row.id for row in rows if row.recursive]
    owners = [EXPLICIT, *(row.id for row in rows)]
    if len(owners) > _MOST_OWNERS or len(recursive) > 1:
        return None
    bits = {owner: 1 << place for place, owner in enumerate(owners)}
    together = _combinations(known.arity)
    facts, *values = _statistics(store, state, known, together)
    distinct, several = tuple(values[: known.arity]), values[known.arity :]
    return Copy(
        number,
        known.arity,
        bits,
        recursive[0] if recursive else None,
        facts,
        distinct,
        dict(zip(together, several, strict=True)),
    )


def _combinations(arity: int) -> list[tuple[int, ...]]:
    """Several columns, but not all, of which values are counted together.

    What those in each column say of them is often wrong: of a tree, each node with its place among
    its siblings is one fact, and each parent has many.
    """
    if arity > _MOST_COMBINED:
        return []
    return [places for size in range(2, arity) for places in combinations(range(arity), size)]


def _statistics(
    store: Store, state: State, known: Predicate, together: Sequence[tuple[int, ...]]
) -> tuple[int, ...]:
    """How many facts a predicate has at most, and about how many values in each column, and in
    several together.
    """
    relation = sources_of(state).relation(known.name)
    columns = [exp.column(column.name, table="x", quoted=True) for column in known.columns]
    counts = [exp.ApproxDistinct(this=column.copy()) for column in columns]
    counts += [
        exp.ApproxDistinct(this=_hash([columns[place] for place in places])) for places in together
    ]
    facts = relation_query(relation).subquery("x", copy=False)
    (found,) = store.rows(exp.select(exp.Count(this=exp.Star()), *counts).from_(facts))
    return found


def _has_unknown(store: Store, state: State, known: Predicate) -> bool:
    """Whether a fact has a value that SQLite does not know."""
    tests = [test for column in known.columns if (test := is_unknown(column, "x")) is not None]
    if not tests:
        return False
    relation = sources_of(state).relation(known.name)
    for part in relation.parts:
        facts = part_query(part, relation).subquery("x", copy=False)
        if store.rows(exp.select("1").from_(facts).where(exp.or_(*tests)).limit(1)):
            return True
    return False


def _facts_of(
    store: Store,
    state: State,
    known: Predicate,
    bits: Mapping[int, int],
    beside: _Beside,
    share: tuple[int, int] | None,
) -> Iterator[list[list[Any]]]:
    """The columns of a predicate's facts in order, with the bits of owners, and ranks, as far as
    these are not the same for all.

    Of one part, a `share` is given: its number, and how many there are.
    """
    queries = []
    for owner, parts in sources_of(state).owners(known.name).items():
        assert isinstance(owner, int)
        for part in parts:
            relation = Relation(known.columns, (part,), ranked=True)
            inner = part_query(part, relation).subquery("y", copy=False)
            values = [
                read_by_duckdb(column, "y").as_(column.name, quoted=True)
                for column in known.columns
            ]
            bit = exp.cast(exp.Literal.number(bits[owner]), "BIGINT").as_(OWNERS)
            rank = exp.column(RANK, table="y", quoted=True)
            queries.append(exp.select(*values, bit, rank).from_(inner))
    if not queries:
        return
    columns = columns_of(Relation(known.columns, ()), "x")
    owners: exp.Expr = exp.column(OWNERS, table="x")
    rank_: exp.Expr = exp.column(RANK, table="x", quoted=True)
    several = len(queries) > 1
    if several:
        owners, rank_ = exp.cast(exp.Sum(this=owners), "BIGINT"), exp.Max(this=rank_)
    union = exp.union(*queries, distinct=False) if several else queries[0]
    more = [owners] if beside.owners is None else []
    more += [rank_] if beside.ranked else []
    query = exp.select(*columns, *more).from_(union.subquery("x", copy=False))
    if share is not None:
        query = query.where(_is_in(share, columns))
    if several:
        query = query.group_by(*(column.copy() for column in columns))
    query = query.order_by(*(column.copy() for column in columns))
    for batch in store.batches(render_for_duckdb(query), _ROWS):
        yield [column.to_pylist() for column in batch.columns]


def _is_in(share: tuple[int, int], columns: Sequence[exp.Expr]) -> exp.Expr:
    """Whether a fact is in one part of all facts."""
    number, parts = map(exp.Literal.number, share)
    return exp.EQ(this=exp.Mod(this=_hash(columns), expression=parts), expression=number)


def _hash(columns: Sequence[exp.Expr]) -> exp.Expr:
    return exp.Anonymous(this="hash", expressions=[column.copy() for column in columns])
