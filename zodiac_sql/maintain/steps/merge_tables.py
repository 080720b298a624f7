"""The tables that a recursive hypernode begins with when rules have changed what belongs to it.

Hypernodes that merge bring their tables along. Those of the largest hypernode stay where they are;
the rows of the others are added to them, once each. Ranks are shifted: a hypernode's facts must
come after those of the hypernodes before it in topological order, because these were its inputs.
The ranks of the largest stay, so those of the others move below and above them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from zodiac_sql.database.statements import (
    create_temp,
    create_temp_view,
    joining,
    temp_table,
    union_all,
)
from zodiac_sql.database.store import Store
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.graph.restructuring import Heritage
from zodiac_sql.maintain.contract import Former, Task
from zodiac_sql.maintain.steps.recursion import Recursion
from zodiac_sql.maintain.steps.working_table import WorkingTable, working_table
from zodiac_sql.names import RANK, RANKED
from zodiac_sql.sql.relations import Part, columns_of, rank_of, table


def begun(task: Task, *, ranked: bool) -> Recursion:
    """A recursive hypernode before anything is done; `ranked` tells whether it has ranks."""
    forms, edges = task.inner.forms, task.inputs.edges
    owns = {p: working_table(task, p, ranked) for p in task.hypernode.derives}
    if task.former.heritage:
        _unite(task.runner.store, task.former, task.former.heritage, owns)
    return Recursion(task.runner, forms, task.context, owns, task.instead, edges)


def _unite(
    store: Store, former: Former, heritage: Heritage, owns: Mapping[str, WorkingTable]
) -> None:
    """Let each table begin as that of the largest hypernode, and take over those of the others."""
    (base,) = (h for h in heritage.origins if h.id == heritage.base)
    for own in owns.values():
        if own.stored is not None and not base.recursive:
            own.begins_as(_with_ranks(store, own, own.stored))
    others = {p: _others(former, heritage, p) for p in owns}
    if any(others.values()):
        ranked = any(own.ranked for own in owns.values())
        shifts = _shifts(store, former, heritage, base) if ranked else {}
        for own in owns.values():
            _add_others(store, own, others[own.predicate], shifts)


def _with_ranks(store: Store, own: WorkingTable, stored: Part) -> Part:
    """A view of a table that has had no ranks so far: all of its facts have rank 0."""
    name = f"{RANKED}{own.stem}"
    rank = exp.cast(exp.Literal.number(0), "BIGINT").as_(RANK, quoted=True)
    query = exp.select(*columns_of(own.outside, "t"), rank).from_(table(stored).as_("t"))
    store.run(create_temp_view(name, query))
    return Part("temp", name, stored.rows, ranked=True)


# --- ranks ----------------------------------------------------------------------------------------


def _shifts(store: Store, former: Former, heritage: Heritage, base: Hypernode) -> dict[int, int]:
    """What to add to the ranks of each hypernode so that they follow each other."""
    ranges = {h.id: _range(store, former, h) for h in heritage.origins}
    place = heritage.origins.index(base)
    low, high = ranges[base.id]
    shifts = {base.id: 0}
    for earlier in reversed(heritage.origins[:place]):
        least, most = ranges[earlier.id]
        shifts[earlier.id] = low - 1 - most
        low = least + shifts[earlier.id]
    for later in heritage.origins[place + 1 :]:
        least, most = ranges[later.id]
        shifts[later.id] = high + 1 - least
        high = most + shifts[later.id]
    return shifts


def _range(store: Store, former: Former, origin: Hypernode) -> tuple[int, int]:
    """The lowest and the highest rank in the tables of a hypernode."""
    parts = [part for p in former.tables if (part := former.brought(p, origin.id))]
    if not origin.recursive or not parts:
        return 0, 0
    rank = exp.column(RANK, quoted=True)
    ranks = union_all([exp.select(rank).from_(table(part)) for part in parts])
    query = exp.select(exp.Min(this=rank), exp.Max(this=rank.copy())).from_(
        ranks.subquery("r", copy=False)
    )
    ((low, high),) = store.rows(query)
    return int(low), int(high)


# --- rows -----------------------------------------------------------------------------------------


def _others(former: Former, heritage: Heritage, predicate: str) -> list[tuple[Part, Hypernode]]:
    """The tables of a predicate that all but the largest hypernode bring along."""
    return [
        (part, origin)
        for origin in heritage.origins
        if origin.id != heritage.base and (part := former.brought(predicate, origin.id)) is not None
    ]


def _add_others(
    store: Store,
    own: WorkingTable,
    others: Sequence[tuple[Part, Hypernode]],
    shifts: Mapping[int, int],
) -> None:
    """Create `united_*`: the rows of all but the largest hypernode, as far as they are needed.

    A fact that the largest has, too, keeps the lower of its ranks. If that is the rank of the other
    hypernode, the fact is taken out of the largest's table; if not, it is left out of `united_*`.
    """
    if not others:
        return
    every = f"every_{own.stem}"
    found = Part("temp", every, 0, ranked=own.ranked)
    found_rows = store.count(create_temp(every, _least(own, others, shifts)))
    if own.stored is None:
        own.takes_over(Part("temp", every, found_rows, ranked=own.ranked))
        return
    if own.ranked:
        own.loses(store.count(create_temp(own.gone_table, _lowered(own, found, own.stored))))
    name = f"united_{own.stem}"
    rows = store.count(create_temp(name, _lacking(own, found, own.stored)))
    own.takes_over(Part("temp", name, rows, ranked=own.ranked) if rows else None)


def _least(
    own: WorkingTable, others: Sequence[tuple[Part, Hypernode]], shifts: Mapping[int, int]
) -> exp.Select:
    """The rows of some tables, each once, with the least of its ranks."""
    queries = [_shifted(own, part, origin, shifts) for part, origin in others]
    query = exp.select(*columns_of(own.outside, "u")).from_(
        union_all(queries).subquery("u", copy=False)
    )
    if not own.ranked:
        return query.distinct()
    least = exp.Min(this=rank_of("u")).as_(RANK, quoted=True)
    return query.select(least).group_by(*columns_of(own.outside, "u"))


def _shifted(
    own: WorkingTable, part: Part, origin: Hypernode, shifts: Mapping[int, int]
) -> exp.Select:
    query = exp.select(*columns_of(own.outside, "t")).from_(table(part).as_("t"))
    if not own.ranked:
        return query
    shift = exp.Literal.number(shifts[origin.id])
    rank: exp.Expr = exp.cast(shift, "BIGINT")
    if origin.recursive:
        rank = rank_of("t") + rank
    return query.select(rank.as_(RANK, quoted=True))


def _lowered(own: WorkingTable, found: Part, stored: Part) -> exp.Select:
    """The rows of the largest hypernode's table that get a lower rank."""
    query = exp.select(*own.names("t")).from_(table(stored).as_("t"))
    return query.join(temp_table(found.table).as_("u"), on=_same(own, rank_of("u") < rank_of("t")))


def _lacking(own: WorkingTable, found: Part, stored: Part) -> exp.Select:
    """The rows that the largest hypernode's table lacks, or has with a higher rank."""
    as_low = [rank_of("t") <= rank_of("u")] if own.ranked else []
    query = exp.select(*own.names("u")).from_(temp_table(found.table).as_("u"))
    return query.join(joining(table(stored).as_("t"), "ANTI"), on=_same(own, *as_low))


def _same(own: WorkingTable, *more: exp.Expr) -> exp.Expr:
    pairs = zip(columns_of(own.outside, "t"), columns_of(own.outside, "u"), strict=True)
    return exp.and_(*(a.eq(b) for a, b in pairs), *more)
