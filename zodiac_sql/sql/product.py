"""Joins that are projected onto their ends, as Boolean matrix products.

p(X, Z) :- q(X, Y), r(Y, Z). joins on a variable that the head does not have. Where relations are
dense, the join has many times more rows than there are heads: in RS2, 6 million for 101,100. So the
values of Z are numbered, each Y gets the set of its Z as a bit string, and each X the union of the
sets of its Y: 19 ms instead of 147. (Amossen and Pagh, "Faster join-projects and sparse matrix
multiplications", ICDT 2009, is the same idea in memory.) Whole numbers that lie close together, as
those of symbols often do, are used as they are. What a product
costs: cost/products.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.language.syntax import Column, Type, Variable
from zodiac_sql.language.types import body_types
from zodiac_sql.rewrite.product import ends_of
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Plan, Scan, Version
from zodiac_sql.sql.relations import Relation
from zodiac_sql.sql.scans import column_names, heads, quoted, side
from zodiac_sql.sql.select import Compiled

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
    """A plan of the atoms of a product, and of nothing else."""
    ends = ends_of(plan.rule) if len(plan.scans) == 2 else None
    if ends is None:
        return None
    first, second = plan.scans if len(ends.kept[plan.scans[1].atom]) == 1 else plan.scans[::-1]
    (column,) = ends.kept[second.atom]
    return Product(plan, first, second, ends.kept[first.atom], ends.inner, column)


@dataclass(frozen=True, slots=True)
class Bits:
    """How sets of values are written: as `width` bits, in the order of the numbers that values get,
    or of the values themselves, from `low` on.
    """

    width: int
    low: int | None = None


def bits_of(low: int, high: int) -> Bits:
    """How sets of values from `low` to `high` are written, rounded to one of a few ways."""
    low -= low % _STEP
    return Bits(rounded(high - low + 1), low)


def rounded(width: int) -> int:
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


def type_of(product: Product, context: Context) -> Type | None:
    """The type of the column."""
    scope = body_types(product.plan.rule.body, context.columns, context.functions)
    return scope.types.get(product.column.name)


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
