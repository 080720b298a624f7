"""What a product costs (sql/product.py), and whether it costs less than the join in its place.

Exact numbers of different values decide that. They are counted only where relations are large.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from zodiac_sql.cost.calibration import (
    BIT_LISTED,
    BIT_UNITED,
    CHECKED_ROW,
    COUNTING,
    JOIN_ROW,
    MARGIN,
    ROW_APART,
    ROW_IN_SETS,
)
from zodiac_sql.cost.sizes import is_large, values_in
from zodiac_sql.cost.statistics import values_query
from zodiac_sql.database.store import Store
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.product import (
    CLOSE,
    GREATEST,
    MOST_BITS,
    WHOLE,
    Bits,
    Product,
    bits_of,
    rounded,
    type_of,
    with_all,
)
from zodiac_sql.sql.scans import column_names, quoted, side


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a product needs and costs."""

    bits: Bits
    """How sets are written."""
    inner: int
    """How many values the second scan has that are joined on."""
    values: int
    """How many values the second scan has of the column."""
    height: int
    """How many different `rows` the first scan has."""
    ms: float
    """What it costs, in milliseconds."""

    def apart(self, rows: int) -> float:
        """What it costs to compare it, in one direction, with a table of so many rows."""
        return self.ms + ROW_APART * rows


def is_worth_counting(first: float, second: float) -> bool:
    """Whether a join of so many rows may cost more than to count their different values."""
    return JOIN_ROW * first * second / values_in(max(first, second)) >= MARGIN * COUNTING


def price(first: float, second: float, width: float, height: float) -> float:
    """What a product of relations with so many rows costs, with sets of `width` values, `height`
    of them, in milliseconds.
    """
    return ROW_IN_SETS * (first + second) + BIT_UNITED * first * width + BIT_LISTED * height * width


def pays(
    store: Store, product: Product, context: Context, given: Mapping[str, object]
) -> Bits | None:
    """How sets are written, if the product costs much less than the join; else None."""
    estimate = estimated(store, product, context, given)
    return estimate.bits if estimate else None


def estimated(
    store: Store, product: Product, context: Context, given: Mapping[str, object]
) -> Estimate | None:
    """What a product costs, if that is much less than the join; else None."""
    sizes = _sizes(product, context)
    context = with_all(context)
    if not is_worth_counting(*sizes):
        return None
    # To count many exactly takes longer than the join may (10 million rows: 3 s, and 0.05 s about).
    if is_large(max(sizes)) and not _may_pay(store, product, context, given, sizes):
        return None
    inner, width, span = _counts(store, product, context, given)
    if not inner or not _cheaper(price(*sizes, width, 0), sizes, inner):
        return None
    close = span is not None and span[1] - span[0] < CLOSE * width
    bits = bits_of(*span) if span and close else Bits(rounded(width))
    height = _height(store, product, context, given)
    ms = price(*sizes, width, height)
    if (height + inner) * bits.width > MOST_BITS or not _cheaper(ms, sizes, inner):
        return None
    return Estimate(bits, inner, width, height, ms)


def _cheaper(ms: float, sizes: tuple[int, int], inner: float) -> bool:
    """Whether a product costs much less than the join, with what is counted for it."""
    return MARGIN * (COUNTING + ms) <= JOIN_ROW * sizes[0] * sizes[1] / inner


def _may_pay(
    store: Store,
    product: Product,
    context: Context,
    given: Mapping[str, object],
    sizes: tuple[int, int],
) -> bool:
    """Whether a product may cost much less than the join, whose rows are estimated."""
    query = side(product.second, product.inner, context)
    names = [exp.column(name, quoted=True) for name in column_names(product.inner)]
    joined = names[0] if len(names) == 1 else exp.func("hash", *names)
    counted = values_query([(query, joined)])
    inner = max(store.count(counted, _used(counted, given)), 1)
    return _cheaper(price(*sizes, 0, 0), sizes, inner)


def checks_sooner(store: Store, product: Product, context: Context, candidates: int) -> Bits | None:
    """How sets are written, if a product finds sooner than a join which heads are derived."""
    first, _ = _sizes(product, context)
    if CHECKED_ROW * candidates * values_in(first) < COUNTING:
        return None
    estimate = estimated(store, product, context, {})
    if estimate is None or estimate.ms > checking(product, context, estimate, candidates):
        return None
    return estimate.bits


def checking(product: Product, context: Context, estimate: Estimate, candidates: float) -> float:
    """What a join costs that checks some heads: for each, the rows that the first scan has."""
    first, _ = _sizes(product, context)
    return CHECKED_ROW * candidates * first / max(estimate.height, 1)


def _sizes(product: Product, context: Context) -> tuple[int, int]:
    """How many rows the two relations have."""
    scans = product.first, product.second
    first, second = (context.relation(s.atom.predicate, s.version).rows for s in scans)
    return first, second


def _counts(
    store: Store, product: Product, context: Context, given: Mapping[str, object]
) -> tuple[int, int, tuple[int, int] | None]:
    """How many distinct values the second scan has of the join variables, and of the column, and
    the least and the greatest of the latter if they are whole numbers.
    """
    query = side(product.second, (*product.inner, product.column), context)
    inner = [exp.column(v, quoted=True) for v in column_names(product.inner)]
    joined: exp.Expr = inner[0] if len(inner) == 1 else exp.Tuple(expressions=list(inner))
    column = quoted(*column_names((product.column,)))
    counted = exp.select(_distinct(joined), _distinct(column))
    if type_of(product, context) in WHOLE:
        counted = counted.select(exp.Min(this=column.copy()), exp.Max(this=column.copy()))
    counted = counted.from_(query.subquery("s", copy=False))
    ((joins, width, *ends),) = store.rows(counted, _used(counted, given))
    if not ends or None in ends or max(map(abs, ends)) > GREATEST:
        return int(joins), int(width), None
    return int(joins), int(width), (int(ends[0]), int(ends[1]))


def _height(store: Store, product: Product, context: Context, given: Mapping[str, object]) -> int:
    """How many distinct `rows` the first scan has."""
    query = side(product.first, product.rows, context).distinct()
    counted = exp.select(exp.Count(this=exp.Star())).from_(query.subquery("s", copy=False))
    return store.count(counted, _used(counted, given))


def _used(query: exp.Query, given: Mapping[str, object]) -> dict[str, object] | None:
    """The given parameters that a query uses."""
    names = {parameter.name for parameter in query.find_all(exp.Parameter)}
    return {name: given[name] for name in names} or None


def _distinct(value: exp.Expr) -> exp.Expr:
    return exp.Count(this=exp.Distinct(expressions=[value]))
