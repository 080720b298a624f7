"""Queries that keep only those facts that are, or are not, in given tables."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from zodiac_sql.database.statements import anti_join, distinct, semi_join, temp_table, union_all
from zodiac_sql.names import MARK, RANK
from zodiac_sql.sql.class_pairs import joined
from zodiac_sql.sql.relations import Part, Relation, columns_of, mark_of, part_query, rank_of, table

SEMI_JOIN_ROWS = 500_000
"""Reduce a table of at least this many rows to those among the heads before it is used: DuckDB does
not see by itself that the others are useless. With 22 million rows, 25 ms against 88."""

MOST_ANTI_JOINS = 4
"""With more parts, use one anti join with their union instead of one with each: the cost of
DuckDB's plans grows faster than the square of their number. 100 parts take 600 ms, one union 20."""

_HEADS = "heads"


def unknown(
    heads: exp.Query | None,
    known: Relation,
    ranked: bool = False,
    first: int | None = None,
    marked: bool = False,
    once: bool = False,
) -> exp.Select:
    """The rows of a query, each once, that stand in no part of a relation.

    With `ranked` the query has ranks, and each row gets the least of its own, but at least `first`.
    With `marked` it has marks, and a row is marked if one of its own is. If the query has each row
    `once`, it needs neither to be grouped nor, beside small tables, to be held.
    """
    assert heads is not None
    names = columns_of(known, "c")
    more = [rank_of("c")] * ranked + [mark_of("c")] * marked
    query = exp.select(*names, *more)
    if once:
        rows = heads
    else:
        grouped = ranked or marked
        rows = _each_once(heads, known, ranked, first, marked) if grouped else distinct(heads)
        if not known.parts:
            return rows
    if once and not any(_is_narrowed(part) for part in known.parts):
        query = query.from_(rows.subquery("c", copy=False), copy=False)
    else:
        query = query.from_(exp.to_table(_HEADS).as_("c", copy=False), copy=False)
        query = query.with_(_HEADS, as_=rows, materialized=True, copy=False)
    others: list[exp.Query] = []
    for number, part in enumerate(known.parts):
        if part.pairs and not part.pairs.lacks and not part.minus:
            query = joined(query, part.pairs, table(part), names, f"y{number}", holds=False)
        else:
            others.append(_narrow(part, known))
    if len(others) > MOST_ANTI_JOINS:
        others = [union_all(others)]
    for number, other in enumerate(others):
        query = absent(query, known, other, f"x{number}")
    return query


def _each_once(
    heads: exp.Query, known: Relation, ranked: bool, first: int | None, marked: bool
) -> exp.Select:
    names = columns_of(known, "u")
    query = exp.select(*names).from_(heads.subquery("u", copy=False))
    if ranked:
        least: exp.Expr = exp.Min(this=rank_of("u"))
        if first is not None:
            least = exp.func("greatest", least, exp.Literal.number(first))
        query = query.select(least.as_(RANK, quoted=True), copy=False)
    if marked:
        query = query.select(some_marked("u").as_(MARK, quoted=True), copy=False)
    return query.group_by(*(name.copy() for name in names), copy=False)


def some_marked(alias: str) -> exp.Expr:
    """Whether one of a group's rows is marked."""
    return exp.LogicalOr(this=mark_of(alias))


def _is_narrowed(part: Part) -> bool:
    return part.rows >= SEMI_JOIN_ROWS and not part.pairs


def _narrow(part: Part, known: Relation) -> exp.Query:
    """A part, or where it is large, only those of its rows that stand among the heads."""
    if not _is_narrowed(part):
        return part_query(part, replace(known, ranked=False, marked=False))
    columns = columns_of(known, "t")
    query = exp.select(*columns).from_(table(part).as_("t"))
    query = semi_join(query, columns, exp.to_table(_HEADS), "f")
    return anti_join(query, columns, temp_table(part.minus), "m") if part.minus else query


def absent(
    query: exp.Select, relation: Relation, other: exp.Query | None, alias: str = "x"
) -> exp.Select:
    """Only those rows of `c` in a query that do not stand in another query."""
    if other is None:
        return query
    return anti_join(query, columns_of(relation, "c"), other.subquery(copy=False), alias)
