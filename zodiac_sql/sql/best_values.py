"""SQL for predicates that keep the best value of each group (MIN or MAX in heads)."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from zodiac_sql.database.statements import joining
from zodiac_sql.language.syntax import Best
from zodiac_sql.names import RANK
from zodiac_sql.sql.relations import Relation, columns_of, rank_of

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


def beats(relation: Relation, best: Best, one: str, other: str) -> exp.Expr:
    """Whether a fact is at least as good as another one of its group."""
    values = (value_of(relation, best, alias) for alias in (one, other))
    kind = exp.LTE if best.function == "min" else exp.GTE
    first, second = values
    return exp.and_(
        in_group(relation, best, one, other), kind(this=first, expression=second), copy=False
    )


def unbeaten(
    rows: exp.Query,
    relation: Relation,
    best: Best,
    known: Iterable[exp.Expr],
    *,
    ranked: bool = False,
    guarded: bool = False,
) -> exp.Select:
    """The best of some rows in each group, if no known fact is at least as good.

    `known` are items of FROM. With `ranked`, also the highest rank among the rows of a group. If
    `guarded`, minus infinity is an error.
    The rows of a group become one before they are compared: that takes half the time.
    """
    query = exp.select(*columns_of(relation, "c"), copy=False)
    best_rows = _best_rows(rows, relation, best, ranked=ranked, guarded=guarded)
    query = query.from_(best_rows.subquery("c", copy=False), copy=False)
    for number, item in enumerate(known):
        alias = f"k{number}"
        on = beats(relation, best, alias, "c")
        query = query.join(joining(exp.alias_(item, alias, table=True), "ANTI"), on=on, copy=False)
    return query.select(rank_of("c"), copy=False) if ranked else query


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
    if ranked:
        columns.append(exp.Max(this=rank_of("h")).as_(RANK, quoted=True))
    query = exp.select(*columns, copy=False).from_(rows.subquery("h", copy=False), copy=False)
    if group := group_of(relation, best, "h"):
        return query.group_by(*group, copy=False)
    # Without groups SQL returns a row even where there is nothing.
    return query.having(exp.Count(this=exp.Star()) > 0, copy=False)
