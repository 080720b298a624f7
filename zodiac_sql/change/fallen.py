"""The facts that fall out of a window, found by one statement each."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sqlglot import exp

from zodiac_sql.change.baseline import Baseline
from zodiac_sql.change.border import Border, latest_in
from zodiac_sql.change.kinds import MOST_GIVEN
from zodiac_sql.change.net_facts import explicit_table
from zodiac_sql.change.staged_rows import parameters_of, shape, staged_facts, staged_query
from zodiac_sql.database.render import render
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.database.statements import anti_join, create_temp, semi_join, union_all
from zodiac_sql.database.store import Store
from zodiac_sql.errors import QueryError
from zodiac_sql.language.schema import Predicate, Staged
from zodiac_sql.language.syntax import Type
from zodiac_sql.names import NUMBER
from zodiac_sql.program.windows import TIMES, Placed
from zodiac_sql.sql.relations import Relation, columns_of

Given = dict[str, object] | None


@dataclass(frozen=True, slots=True)
class Fallen:
    """Facts that have fallen out of a window: a few in memory, else in a temporary table."""

    staged: Staged


def latest_there(store: Store, known: Predicate, place: int) -> int | None:
    """The latest time of the explicit facts of a predicate."""
    rows = exp.alias_(explicit_table(known), "c", table=True, copy=False)
    return latest_in(store, known, place, rows, None)


def out_of_time(before: Baseline, known: Predicate, border: Border) -> Fallen | None:
    """The explicit facts that are over."""
    if known.columns[border.place].type not in TIMES or not border.is_reached:
        return None  # its column has become one of times just now
    query = partial(_over, known, border)
    key = ("over", known.columns, border.place)
    return _found(before, known, query, key, border.parameters(known))


def _over(known: Predicate, border: Border) -> exp.Select:
    query = exp.select(*_columns(known, "t"))
    query = query.from_(exp.alias_(explicit_table(known), "t", table=True, copy=False), copy=False)
    return query.where(border.is_over(known, "t"), copy=False)


def out_of_count(
    before: Baseline,
    known: Predicate,
    there: Predicate | None,
    window: Placed,
    inserts: Sequence[Staged],
    deletes: Sequence[Staged],
    whole: bool,
) -> Fallen | None:
    """The facts of which as many others of their group are later as the window keeps.

    They are looked for among those `there` without `deletes`, and `inserts`: in the groups of
    these, or if the `whole` predicate is meant, in all.
    """
    if there is not None and there.columns != known.columns:
        raise QueryError(
            f"{known.name} gets other types: its facts change in an update of their own"
        )
    if there is None and not inserts:
        return None
    deletes = deletes if there is not None else ()
    query = partial(_outnumbered, known, there, window, inserts, deletes, whole)
    which = shape(known, inserts), shape(known, deletes)
    key = ("outnumbered", window.window, there is None, whole, which)
    return _found(before, known, query, key, parameters_of([*inserts, *deletes]) or {})


def _outnumbered(
    known: Predicate,
    there: Predicate | None,
    window: Placed,
    inserts: Sequence[Staged],
    deletes: Sequence[Staged],
    whole: bool,
) -> exp.Select:
    parts: list[exp.Query] = []
    columns = _columns(known, "t")
    if there is not None:
        kept = exp.select(*columns).from_(explicit_table(known).as_("t"))
        if not whole and window.groups:
            groups = [columns[place] for place in window.groups]
            coming = staged_query(known, inserts).subquery(copy=False)
            kept = semi_join(kept, groups, coming, "g")
        if deletes:
            kept = anti_join(kept, columns, staged_query(known, deletes).subquery(copy=False), "d")
        parts.append(kept)
    if inserts:
        parts.append(staged_query(known, inserts))
    each = exp.select(exp.Star()).distinct().from_(union_all(parts).subquery("u", copy=False))
    named = _columns(known, "f")
    rank = exp.Window(
        this=exp.Anonymous(this="rank"),
        partition_by=[named[place].copy() for place in window.groups],
        order=exp.Order(expressions=[exp.Ordered(this=named[window.place].copy(), desc=True)]),
    )
    ranked = exp.select(*named, rank.as_(NUMBER, quoted=True))
    ranked = ranked.from_(each.subquery("f", copy=False), copy=False)
    query = exp.select(*_columns(known, "r")).from_(ranked.subquery("r", copy=False))
    most = exp.Literal.number(window.window.count)
    place = exp.column(NUMBER, table="r", quoted=True)
    return query.where(exp.GT(this=place, expression=most), copy=False)


def without_late(
    store: Store, known: Predicate, inserts: Sequence[Staged], out: Border | Fallen
) -> tuple[list[Staged], int]:
    """What is to be inserted, without what has fallen out already, and how many facts that were."""
    kept, late = [], 0
    for staged in inserts:
        one, count = _without(store, known, staged, out)
        kept.append(one)
        late += count
    return kept, late


def _without(
    store: Store, known: Predicate, staged: Staged, out: Border | Fallen
) -> tuple[Staged, int]:
    if staged.given is not None and (left := _left(staged, out)) is not None:
        return replace(staged, given=left, rows=len(left)), len(staged.given) - len(left)
    columns = _columns(known, "c")
    query = exp.select(*columns).from_(staged_query(known, [staged]).subquery("c", copy=False))
    given: dict[str, object] = parameters_of([staged]) or {}
    if isinstance(out, Border):
        query = query.where(exp.not_(exp.paren(out.is_over(known, "c"))), copy=False)
        given |= out.parameters(known)
    else:
        gone = staged_query(known, [out.staged]).subquery(copy=False)
        query = anti_join(query, columns, gone, "o")
        given |= parameters_of([out.staged]) or {}
    all_ = exp.select(exp.Count(this=exp.Star()))
    all_ = all_.from_(staged_query(known, [staged]).subquery("c", copy=False))
    before = store.count(all_, parameters_of([staged]))
    table = store.temporary.fresh("in_time")
    rows = store.count(create_temp(table, query), given or None)
    if rows == before:
        return staged, 0
    nothing = (None,) * known.arity
    return Staged(staged.predicate, known.columns, nothing, table, False, rows), before - rows


def _left(staged: Staged, out: Border | Fallen) -> tuple[tuple[object, ...], ...] | None:
    """What is left of facts in memory; None if only DuckDB can tell."""
    assert staged.given is not None
    if isinstance(out, Fallen):
        if out.staged.given is None or not _are_plain(staged.given):
            return None
        gone = set(out.staged.given)
        return tuple(row for row in staged.given if row not in gone)
    type_ = staged.columns[out.place].type
    if type_ not in TIMES:
        return None
    if type_ in (Type.DATE, Type.TIMESTAMP) and not out.is_reached:
        return staged.given
    last: Any = out.value(type_)
    return tuple(row for row in staged.given if not row[out.place] <= last)


def _columns(known: Predicate, alias: str) -> list[exp.Column]:
    return columns_of(Relation(known.columns, ()), alias)


def _found(
    before: Baseline,
    known: Predicate,
    query: partial[exp.Select],
    key: tuple[object, ...],
    given: dict[str, object],
) -> Fallen | None:
    """The facts that a query finds, if any."""
    store, prepared = before.store, before.prepared
    cache = prepared.cache.of(known.name) if prepared else StatementCache()
    text = cache.get((*key, known.sql_name), lambda: render(query().limit(MOST_GIVEN + 1)))
    rows = store.rows(text, given or None)
    if not rows:
        return None
    if len(rows) <= MOST_GIVEN and _are_plain(rows):
        found = tuple(dict.fromkeys(map(tuple, rows)))
        return Fallen(staged_facts(known, found, store.temporary.fresh("fallen")))
    table = store.temporary.fresh("fallen")
    count = store.count(create_temp(table, query()), given or None)
    nothing = (None,) * known.arity
    return Fallen(Staged(known.name, known.columns, nothing, table, False, count))


def _are_plain(rows: Iterable[Sequence[object]]) -> bool:
    """Whether Python tells the values of rows apart as DuckDB does: no NaN, no infinite moment."""
    return not any(map(_is_odd, (value for row in rows for value in row)))


def _is_odd(value: object) -> bool:
    if isinstance(value, datetime.date):
        return value.year in (datetime.MINYEAR, datetime.MAXYEAR)
    return isinstance(value, float) and math.isnan(value)
