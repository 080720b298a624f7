"""SQL for predicates that keep the best value of each group (MIN or MAX in heads)."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from zodiac_sql.database.statements import joining
from zodiac_sql.language.syntax import Best, Type
from zodiac_sql.names import ORDER, RANK
from zodiac_sql.sql.aggregates import order_of_term
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.joins import Joins
from zodiac_sql.sql.relations import Relation, columns_of, rank_of
from zodiac_sql.sql.values import Value, Values

MINUS_INFINITY = (
    "A value of MIN or MAX is minus infinity in a recursion that computes with it. Then a better "
    "value need not be better for what is computed: minus infinity plus infinity is NaN."
)


def value_of(relation: Relation, best: Best, alias: str) -> exp.Column:
    """The column of the values."""
    return columns_of(relation, alias)[best.place]


def group_of(relation: Relation, best: Best, alias: str) -> list[exp.Column]:
    """The columns that tell the group."""
    columns = columns_of(relation, alias)
    return [*columns[: best.place], *columns[best.place + 1 :]]


def in_group(relation: Relation, best: Best, one: str, other: str) -> exp.Expr:
    """Whether two facts are of the same group."""
    pairs = zip(group_of(relation, best, one), group_of(relation, best, other), strict=True)
    same = [a.eq(b) for a, b in pairs]
    return exp.and_(*same, copy=False) if same else exp.true()


def unbeaten(
    rows: exp.Query,
    relation: Relation,
    best: Best,
    known: Iterable[exp.Expr],
    context: Context,
    *,
    ranked: bool = False,
    guarded: bool = False,
) -> exp.Select:
    """The best of some rows in each group, if no known fact is at least as good.

    `known` are items of FROM, each with at most one fact of a group. With `ranked`, also the
    highest rank among the rows of a group. If `guarded`, minus infinity is an error.
    The rows of a group become one before they are compared: that takes half the time.
    """
    if relation.columns[best.place].mixed:
        query = _unbeaten_terms(rows, relation, best, known, context, ranked=ranked)
    else:
        best_rows = _best_rows(rows, relation, best, ranked=ranked, guarded=guarded)
        query = exp.select().from_(best_rows.subquery("c", copy=False), copy=False)
        for number, item in enumerate(known):
            alias = f"k{number}"
            on = _beats(relation, best, alias, "c")
            item = joining(exp.alias_(item, alias, table=True), "ANTI")
            query = query.join(item, on=on, copy=False)
    query = query.select(*columns_of(relation, "c"), copy=False)
    return query.select(rank_of("c"), copy=False) if ranked else query


def _beats(relation: Relation, best: Best, one: str, other: str) -> exp.Expr:
    """Whether a fact is at least as good as another one of its group."""
    values = (value_of(relation, best, alias) for alias in (one, other))
    kind = exp.LTE if best.function == "min" else exp.GTE
    first, second = values
    return exp.and_(
        in_group(relation, best, one, other), kind(this=first, expression=second), copy=False
    )


def _guarded(value: exp.Expr) -> exp.Expr:
    """A value, unless it is minus infinity."""
    lowest = exp.cast(exp.Literal.string("-Infinity"), "DOUBLE")
    error = exp.Anonymous(this="error", expressions=[exp.Literal.string(MINUS_INFINITY)])
    return exp.Case(
        ifs=[exp.If(this=value.copy().eq(lowest), true=exp.cast(error, "DOUBLE"))], default=value
    )


def _best_rows(
    rows: exp.Query, relation: Relation, best: Best, *, ranked: bool, guarded: bool
) -> exp.Select:
    """The best of some rows in each group."""
    columns: list[exp.Expr] = [*columns_of(relation, "h")]
    chosen = exp.Min if best.function == "min" else exp.Max
    name = relation.stored[best.place].name
    value = _guarded(columns[best.place]) if guarded else columns[best.place]
    columns[best.place] = chosen(this=value).as_(name, quoted=True)
    return _grouped(columns, rows, relation, best, ranked)


def _grouped(
    columns: list[exp.Expr], rows: exp.Query, relation: Relation, best: Best, ranked: bool
) -> exp.Select:
    """SELECT one row for each group, with the highest rank if it is `ranked`."""
    if ranked:
        columns = [*columns, exp.Max(this=rank_of("h")).as_(RANK, quoted=True)]
    query = exp.select(*columns, copy=False).from_(rows.subquery("h", copy=False), copy=False)
    if group := group_of(relation, best, "h"):
        return query.group_by(*group, copy=False)
    # Without groups SQL returns a row even where there is nothing.
    return query.having(exp.Count(this=exp.Star()) > 0, copy=False)


# --- terms of all kinds ---------------------------------------------------------------------------


def _unbeaten_terms(
    rows: exp.Query,
    relation: Relation,
    best: Best,
    known: Iterable[exp.Expr],
    context: Context,
    *,
    ranked: bool,
) -> exp.Select:
    """The same without its columns, where the values are terms of a mixed column.

    What puts terms in order is in the dictionary. So a known fact is joined by its group first:
    then few terms are looked up.
    """
    joins = Joins()
    values = Values(context, {}, joins)
    joins.join(_best_terms(rows, relation, best, context, ranked).subquery("c", copy=False), [])
    kind = exp.LT if best.function == "min" else exp.GT
    for number, item in enumerate(known):
        alias = f"k{number}"
        item = exp.alias_(item, alias, table=True)
        joins.join(item, [in_group(relation, best, alias, "c")], kind="LEFT")
        there, new = value_of(relation, best, alias), value_of(relation, best, "c")
        other = Value(exp.func("coalesce", there.copy(), new), Type.ANY)
        order = order_of_term(other, values)
        joins.where(exp.or_(there.is_(exp.null()), kind(this=_order("c"), expression=order)))
    joins.restrict()
    return joins.query


def _best_terms(
    rows: exp.Query, relation: Relation, best: Best, context: Context, ranked: bool
) -> exp.Select:
    """The best of some rows in each group, whose values are terms, with what puts it in order."""
    joins = Joins()
    joins.join(rows.subquery("u", copy=False), [])
    term = Value(value_of(relation, best, "u"), Type.ANY)
    order = order_of_term(term, Values(context, {}, joins)).as_(ORDER, quoted=True)
    ordered = joins.query.select(*columns_of(relation, "u"), order, copy=False)
    ordered = ordered.select(rank_of("u"), copy=False) if ranked else ordered
    columns: list[exp.Expr] = [*columns_of(relation, "h")]
    value = columns[best.place]
    chosen = exp.Anonymous(this=f"arg_{best.function}", expressions=[value, _order("h")])
    columns[best.place] = chosen.as_(value.name, quoted=True)
    first = exp.Min if best.function == "min" else exp.Max
    columns.append(first(this=_order("h")).as_(ORDER, quoted=True))
    return _grouped(columns, ordered, relation, best, ranked)


def _order(alias: str) -> exp.Column:
    return exp.column(ORDER, table=alias, quoted=True)
