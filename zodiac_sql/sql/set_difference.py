"""Queries that keep only those facts that are, or are not, in given tables."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from zodiac_sql.database.statements import anti_join, distinct, semi_join, temp_table, union_all
from zodiac_sql.names import RANK
from zodiac_sql.sql.class_pairs import joined
from zodiac_sql.sql.relations import Part, Relation, columns_of, part_query, rank_of, table

SEMI_JOIN_ROWS = 500_000
"""Reduce a table of at least this many rows to those among the heads before it is used: DuckDB does
not see by itself that the others are useless. With 22 million rows, 25 ms against 88."""

MOST_PARTS = 4
"""With more parts of a relation, use one anti join with their union instead of one with each: the
cost of DuckDB's plans grows faster than the square of their number. 100 parts take 600 ms, one
union 20."""

_HEADS = "heads"


def unknown(
    heads: exp.Query | None,
    known: Relation,
    *,
    ranked: bool = False,
    first: int | None = None,
    once: bool = False,
) -> exp.Select:
    """The rows of a query, each once, that stand in no part of a relation.

    With `ranked` the query has ranks, and each row gets the least of its own, but at least `first`.
    If the query has each row `once`, it needs neither to be grouped nor, beside small tables, to be
    held.
    """
    assert heads is not None
    names = columns_of(known, "c")
    query = exp.select(*names, *[rank_of("c")] * ranked)
    if once:
        rows = heads
    else:
        rows = _with_least_ranks(heads, known, first) if ranked else distinct(heads)
        if not known.parts:
            return rows
    if once and not any(_is_narrowed(part) for part in known.parts):
        query = query.from_(rows.subquery("c", copy=False), copy=False)
    else:
        query = query.from_(exp.to_table(_HEADS).as_("c", copy=False), copy=False)
        query = query.with_(_HEADS, as_=rows, materialized=True, copy=False)
    others: list[exp.Query] = []
    for number, part in enumerate(known.parts):
        if part.read.pairs and not part.read.pairs.lacks and not part.read.minus:
            query = joined(query, part.read.pairs, table(part), names, f"y{number}", holds=False)
        else:
            others.append(_narrow(part, known))
    if len(others) > MOST_PARTS:
        others = [union_all(others)]
    for number, other in enumerate(others):
        query = absent(query, known, other, f"x{number}")
    return query


def _with_least_ranks(heads: exp.Query, known: Relation, first: int | None) -> exp.Select:
    names = columns_of(known, "u")
    least: exp.Expr = exp.Min(this=rank_of("u"))
    if first is not None:
        least = exp.func("greatest", least, exp.Literal.number(first))
    query = exp.select(*names, least.as_(RANK, quoted=True))
    query = query.from_(heads.subquery("u", copy=False))
    return query.group_by(*(name.copy() for name in names), copy=False)


def _is_narrowed(part: Part) -> bool:
    return part.rows >= SEMI_JOIN_ROWS and not part.read.pairs


def _narrow(part: Part, known: Relation) -> exp.Query:
    """A part, or where it is large, only those of its rows that stand among the heads."""
    if not _is_narrowed(part):
        return part_query(part, replace(known, ranked=False))
    columns = columns_of(known, "t")
    query = exp.select(*columns).from_(table(part).as_("t"))
    query = semi_join(query, columns, exp.to_table(_HEADS), "f")
    return anti_join(query, columns, temp_table(part.read.minus), "m") if part.read.minus else query


def absent(
    query: exp.Select, relation: Relation, other: exp.Query | None, alias: str = "x"
) -> exp.Select:
    """Only those rows of `c` in a query that do not stand in another query."""
    if other is None:
        return query
    return anti_join(query, columns_of(relation, "c"), other.subquery(copy=False), alias)
