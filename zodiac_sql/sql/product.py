"""Joins that are projected onto their ends, as Boolean matrix products.

p(X, Z) :- q(X, Y), r(Y, Z). joins on a variable that the head does not have. Where relations are
dense, the join has many times more rows than there are heads: in RS2, 6 million for 101,100. So the
values of Z are numbered, each Y gets the set of its Z as a bit string, and each X the union of the
sets of its Y: 19 ms instead of 147. (Amossen and Pagh, "Faster join-projects and sparse matrix
multiplications", ICDT 2009, is the same idea in memory.) Whole numbers that lie close together, as
those of symbols often do, are used as they are. Exact numbers of distinct values decide whether a
product pays; they are counted only where relations are large enough.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.store import Store
from zodiac_sql.language.binding import variables
from zodiac_sql.language.syntax import Column, Type, Variable
from zodiac_sql.language.types import body_types
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Plan, Scan, Version
from zodiac_sql.sql.relations import Relation
from zodiac_sql.sql.scans import column_names, heads, needed, quoted, side
from zodiac_sql.sql.select import Compiled

FEWEST_SIDE_ROWS = 5_000
"""The fewest rows of a side: with fewer the join is cheap."""

LARGE_SIDE = 1_000_000
"""Where a side has more rows, different values are first counted about: to count them exactly takes
four times as long as the join may (10 million rows: 3 s, and 0.05 s about)."""

FEWEST_JOIN_ROWS = 1_000_000
"""Use a product only if this many rows are expected of the join: a smaller one is fast enough."""

CHEAPER_BY = 2
"""Use a product only if the join is expected to cost this many times as much: estimates may err."""

FEWEST_CANDIDATES = 2_000
"""Checking fewer heads is cheap by a join."""

JOIN_COST = 14
"""Nanoseconds for each row of a join, measured on RS2."""

CHECK_COST = 25
"""Nanoseconds for each row that a join looks at to check a head, measured on RS2."""

MOST_BITS = 400_000_000
"""The most bits that a product may need at once: 50 MB."""

WHOLE = (Type.SYMBOL, Type.INT)
"""The types of whole numbers."""

CLOSE = 2
"""Values are their own numbers if there are at most so many numbers between for each of them."""

GREATEST = 2**62
"""Greater values are not their own numbers: such numbers may be greater than there are any."""

_STEP = 64
"""Where numbers begin is rounded down to a multiple of this, so that statements stay the same."""

_PRODUCT = "product"

NUMBER = "number"
"""The column of the numbers that values get."""

BITS = "bits"
"""The column of sets."""


@dataclass(frozen=True, slots=True)
class Product:
    """A plan of two scans as a product: what is kept of each, and what they are joined on.

    The first gives `rows`, the second `column`.
    """

    plan: Plan
    first: Scan
    second: Scan
    rows: tuple[Variable, ...]
    inner: tuple[Variable, ...]
    column: Variable


def product_of(plan: Plan) -> Product | None:
    """A plan as a product, if it has that form."""
    if len(plan.scans) != 2 or plan.body.aggregates:
        return None
    if any(scan.atom not in plan.body.atoms for scan in plan.scans):
        return None
    wanted = {v.name for v in needed(plan)}
    for first, second in (plan.scans, plan.scans[::-1]):
        left, right = (dict.fromkeys(variables(*s.atom.terms)) for s in (first, second))
        inner = tuple(v for v in left if v in right)
        rows = tuple(v for v in left if v.name in wanted)
        columns = tuple(v for v in right if v.name in wanted)
        if inner and rows and len(columns) == 1 and not wanted & {v.name for v in inner}:
            return Product(plan, first, second, rows, inner, columns[0])
    return None


@dataclass(frozen=True, slots=True)
class Bits:
    """How sets of values are written: as `width` bits, in the order of the numbers that values get,
    or of the values themselves, from `low` on.
    """

    width: int
    low: int | None = None


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
    cost: float
    """What it costs, in nanoseconds."""


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
    sizes = [context.relation(s.atom.predicate, s.version).rows for s in _scans(product)]
    context = with_all(context)
    if not all(size >= FEWEST_SIDE_ROWS for size in sizes):
        return None
    if max(sizes) > LARGE_SIDE and not _may_pay(store, product, context, given, sizes):
        return None
    inner, width, span = _counts(store, product, context, given)
    if not inner:
        return None
    close = span is not None and span[1] - span[0] < CLOSE * width
    bits = bits_of(*span) if span and close else Bits(_rounded(width))
    joined = sizes[0] * sizes[1] / inner
    if (
        joined < FEWEST_JOIN_ROWS
        or CHEAPER_BY * price(sizes[0], sizes[1], width, 0) > JOIN_COST * joined
    ):
        return None
    height = _height(store, product, context, given)
    cost = price(sizes[0], sizes[1], width, height)
    if (height + inner) * bits.width > MOST_BITS or CHEAPER_BY * cost > JOIN_COST * joined:
        return None
    return Estimate(bits, inner, width, height, cost)


def _may_pay(
    store: Store,
    product: Product,
    context: Context,
    given: Mapping[str, object],
    sizes: Sequence[int],
) -> bool:
    """Whether a product may cost much less than the join, whose rows are estimated."""
    query = side(product.second, product.inner, context)
    names = [exp.column(name, quoted=True) for name in column_names(product.inner)]
    joined = names[0] if len(names) == 1 else exp.func("hash", *names)
    counted = exp.select(exp.ApproxDistinct(this=joined)).from_(query.subquery("s", copy=False))
    inner = max(store.count(counted, _used(counted, given)), 1)
    least = price(sizes[0], sizes[1], 0, 0)
    return CHEAPER_BY * least < JOIN_COST * sizes[0] * sizes[1] / inner


def price(first: float, second: float, width: float, height: float) -> float:
    """What a product of relations with so many rows costs, with sets of `width` values, `height`
    of them: nanoseconds for a row of a relation, a byte of a bit string and a bit looked at,
    measured on RS2.
    """
    return 60 * second + first * (60 + width / 80) + 6 * height * width


def checks_sooner(store: Store, product: Product, context: Context, candidates: int) -> Bits | None:
    """How sets are written, if a product finds sooner than a join which heads are derived."""
    if candidates < FEWEST_CANDIDATES:
        return None
    estimate = estimated(store, product, context, {})
    if estimate is None or estimate.cost > CHECK_COST * candidates * rows_of_each(
        product, context, estimate
    ):
        return None
    return estimate.bits


def rows_of_each(product: Product, context: Context, estimate: Estimate) -> float:
    """How many rows the first scan has for each of its `rows`."""
    scan = product.first
    return context.relation(scan.atom.predicate, scan.version).rows / max(estimate.height, 1)


def bits_of(low: int, high: int) -> Bits:
    """How sets of values from `low` to `high` are written, rounded to one of a few ways."""
    low -= low % _STEP
    return Bits(_rounded(high - low + 1), low)


def _rounded(width: int) -> int:
    """Round up to one of a few numbers, so that cached statements can be used again."""
    step = 1 << max(width.bit_length() - 2, 0)
    return -(-width // step) * step


def with_all(context: Context) -> Context:
    """A context for counting, in which what is taken out of a table is still there.

    To leave it out takes twice as long, and there must only not be more values than are counted.
    """

    def relation(name: str, version: Version) -> Relation:
        found = context.relation(name, version)
        return replace(found, parts=tuple(part.without(None) for part in found.parts))

    return replace(context, relation=relation)


def _scans(product: Product) -> tuple[Scan, Scan]:
    return product.first, product.second


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


def type_of(product: Product, context: Context) -> Type | None:
    """The type of the column."""
    scope = body_types(product.plan.rule.body, context.columns, context.functions)
    return scope.types.get(product.column.name)


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


def multiply(
    product: Product,
    bits: Bits,
    columns: Sequence[Column],
    context: Context,
    as_text: Collection[str] = (),
) -> Compiled:
    """The heads of a plan, each once, where sets of the column's values can be written so."""
    compiled = _heads(product, columns, context, as_text)
    query = compiled.query
    for name, part in (*unions(product, bits, context), (_PRODUCT, _elements(product))):
        query = query.with_(name, as_=part, materialized=True, copy=False)
    return replace(compiled, query=exp.select(exp.Star()).from_(query.subquery("p", copy=False)))


def _heads(
    product: Product, columns: Sequence[Column], context: Context, as_text: Collection[str]
) -> Compiled:
    """The rule over what the product found, which stands for its two atoms."""
    kept = (*product.rows, product.column)
    rule = product.plan.rule
    types = body_types(rule.body, context.columns, context.functions).types
    found = [types.get(variable.name) for variable in kept]
    return heads(product.plan, _PRODUCT, kept, found, columns, context, as_text)


def unions(product: Product, bits: Bits, context: Context) -> Iterable[tuple[str, exp.Select]]:
    """Queries by name: the column's values, numbered; the sets of the second scan; their unions."""
    (column,) = column_names((product.column,))
    rows, inner = column_names(product.rows), column_names(product.inner)
    second = side(product.second, (*product.inner, product.column), context)
    first = side(product.first, (*product.rows, *product.inner), context)
    if bits.low is None:
        yield "second_side", second
        values = exp.select(quoted(column)).distinct().from_("second_side")
        counted = exp.cast(exp.Window(this=exp.RowNumber()) - 1, "INTEGER").as_(NUMBER)
        yield "numbered", exp.select(quoted(column), counted).from_(values.subquery("d"))
        members = exp.select().from_("second_side AS s")
        members = members.join("numbered AS z", on=quoted(column, "s").eq(quoted(column, "z")))
        found = set_of(exp.column(NUMBER, table="z"), bits)
    else:
        yield "numbered", _own_numbers(column, type_of(product, context), bits)
        members = exp.select().from_(second.subquery("s"))
        found = set_of(quoted(column, "s"), bits)
    keys = [quoted(name, "s") for name in inner]
    yield "sets", members.select(*keys, found.as_(BITS)).group_by(*(key.copy() for key in keys))
    heads = [quoted(name, "f") for name in rows]
    union = exp.Anonymous(this="bit_or", expressions=[exp.column(BITS, table="s")]).as_(BITS)
    same = exp.and_(*(quoted(name, "f").eq(quoted(name, "s")) for name in inner))
    yield (
        "unions",
        exp.select(*heads, union)
        .from_(first.subquery("f"))
        .join("sets AS s", on=same)
        .group_by(*(head.copy() for head in heads)),
    )


def _own_numbers(column: str, type_: Type | None, bits: Bits) -> exp.Select:
    """All values that sets can have, where these are their own numbers, and their places."""
    assert type_ is not None
    place = exp.column("range", table="r")
    numbers = exp.Anonymous(this="range", expressions=[exp.Literal.number(bits.width)])
    value = exp.cast(place + exp.convert(bits.low), SQL_TYPES[type_]).as_(column, quoted=True)
    query = exp.select(value, exp.cast(place.copy(), "INTEGER").as_(NUMBER))
    return query.from_(exp.Table(this=numbers, alias=exp.TableAlias(this=exp.to_identifier("r"))))


def set_of(value: exp.Expr, bits: Bits) -> exp.Expr:
    """The set of a group's values, or of their numbers."""
    low = bits.low or 0
    ends = [exp.convert(low), exp.convert(low + bits.width - 1)]
    return exp.Anonymous(this="bitstring_agg", expressions=[value, *ends])


def is_in(number: exp.Expr, bits: exp.Expr) -> exp.Expr:
    """Whether the value with a number is in a set."""
    bit = exp.Anonymous(this="get_bit", expressions=[bits, number])
    return bit.eq(exp.Literal.number(1))


def _elements(product: Product) -> exp.Select:
    """The elements of the unions."""
    names, (column,) = column_names(product.rows), column_names((product.column,))
    query = exp.select(*(quoted(name, "u") for name in names), quoted(column, "z"))
    query = query.from_("unions AS u").join("numbered AS z", join_type="CROSS")
    return query.where(is_in(exp.column(NUMBER, table="z"), exp.column(BITS, table="u")))
