"""Joins that are projected onto their ends, as Boolean matrix products.

p(X, Z) :- q(X, Y), r(Y, Z). joins on a variable that the head does not have. Where relations are
dense, the join has many times more rows than there are heads: in RS2, 6 million for 101,100. So the
values of Z are numbered, each Y gets the set of its Z as a bit string, and each X the union of the
sets of its Y: 19 ms instead of 147. (Amossen and Pagh, "Faster join-projects and sparse matrix
multiplications", ICDT 2009, is the same thought for memory.) Whether that pays is decided from exact
numbers of distinct values, and only asked for where relations are of some size.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from zodiac_sql.infer import body_types
from zodiac_sql.plan import Plan, Scan, Version
from zodiac_sql.relations import Part, Relation
from zodiac_sql.rules import Atom, Column, Rule, Variable
from zodiac_sql.safety import arrange, expressions_of, variables
from zodiac_sql.sql import Context, compile_rule
from zodiac_sql.store import Store

FEWEST, MOST = 5_000, 1_000_000
"""The rows that each side must have: with fewer the join is cheap, with more counting is not."""

ROWS = 1_000_000
"""So many rows must the join be expected to have."""

GAIN = 2
"""So many times must the product be cheaper than the join."""

BITS = 400_000_000
"""At most so many bits are needed at once: 50 MB."""

_PRODUCT, _NUMBER, _BITS = "product", "number", "bits"


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
    needed = {v.name for v in _needed(plan)}
    for first, second in (plan.scans, plan.scans[::-1]):
        left, right = (dict.fromkeys(variables(*s.atom.terms)) for s in (first, second))
        inner = tuple(v for v in left if v in right)
        rows = tuple(v for v in left if v.name in needed)
        columns = tuple(v for v in right if v.name in needed)
        if inner and rows and len(columns) == 1 and not needed & {v.name for v in inner}:
            return Product(plan, first, second, rows, inner, columns[0])
    return None


def _needed(plan: Plan) -> Iterable[Variable]:
    """The variables that the head and all but the two atoms need."""
    yield from variables(*plan.rule.head.terms)
    for step in plan.body.steps:
        yield from variables(*expressions_of(step))
    for test in plan.body.filters:
        yield from variables(*expressions_of(test))
    for negation in plan.body.negations:
        yield from variables(*negation.atom.terms)


def pays(
    store: Store, product: Product, context: Context, given: Mapping[str, object]
) -> int | None:
    """How many bits a set needs, if the product costs less than the join by far.

    The weights are nanoseconds for a row of the join, a row of a relation, a byte of a bit string
    and a bit looked at, measured on RS2.
    """
    sizes = [context.relation(s.atom.predicate, s.version).rows for s in _scans(product)]
    if not all(FEWEST <= size <= MOST for size in sizes):
        return None
    inner, width = _counts(store, product, context, given)
    if not inner:
        return None
    joined = sizes[0] * sizes[1] / inner
    cost = 60 * sizes[1] + sizes[0] * (60 + width / 80)
    if joined < ROWS or GAIN * cost > 14 * joined:
        return None
    height = _height(store, product, context, given)
    if (height + inner) * width > BITS or GAIN * (cost + 6 * height * width) > 14 * joined:
        return None
    return _rounded(width)


def _rounded(width: int) -> int:
    """A few numbers stand for all, so that statements can be kept."""
    step = 1 << max(width.bit_length() - 2, 0)
    return -(-width // step) * step


def _scans(product: Product) -> tuple[Scan, Scan]:
    return product.first, product.second


def _counts(
    store: Store, product: Product, context: Context, given: Mapping[str, object]
) -> tuple[int, int]:
    """How many distinct values the second scan has to be joined on, and in the column."""
    query = _side(product.second, (*product.inner, product.column), context)
    inner = [exp.column(v, quoted=True) for v in _names(product.inner)]
    joined: exp.Expr = inner[0] if len(inner) == 1 else exp.Tuple(expressions=list(inner))
    (column,) = _names((product.column,))
    counted = exp.select(_distinct(joined), _distinct(exp.column(column, quoted=True)))
    counted = counted.from_(query.subquery("s", copy=False))
    ((joins, width),) = store.rows(counted, _used(counted, given))
    return int(joins), int(width)


def _height(store: Store, product: Product, context: Context, given: Mapping[str, object]) -> int:
    """How many distinct rows there can be."""
    query = _side(product.first, product.rows, context).distinct()
    counted = exp.select(exp.Count(this=exp.Star())).from_(query.subquery("s", copy=False))
    return store.count(counted, _used(counted, given))


def _used(query: exp.Query, given: Mapping[str, object]) -> dict[str, object] | None:
    """Those of some parameters that a query has."""
    names = {parameter.name for parameter in query.find_all(exp.Parameter)}
    return {name: given[name] for name in names} or None


def _distinct(value: exp.Expr) -> exp.Expr:
    return exp.Count(this=exp.Distinct(expressions=[value]))


def _names(kept: Iterable[Variable]) -> list[str]:
    return [f"v{variable.name}" for variable in kept]


def _side(scan: Scan, kept: Sequence[Variable], context: Context) -> exp.Select:
    """One scan, as far as some variables go: a column for each."""
    rule = Rule("", Atom("", tuple(kept)), (scan.atom,))
    types = body_types(rule.body, context.columns, context.functions).types
    columns = [Column(f"v{v.name}", types.get(v.name)) for v in kept]
    return compile_rule(Plan(rule, (scan,), arrange(rule.body)), columns, context).query


# --- the statement --------------------------------------------------------------------------------


def multiply(
    product: Product, width: int, columns: Sequence[Column], context: Context
) -> exp.Select:
    """The heads of a plan, each once, where the column has at most `width` values."""
    query = _heads(product, columns, context)
    for name, part in _parts(product, width, context):
        query = query.with_(name, as_=part, materialized=True, copy=False)
    return exp.select("*").from_(query.subquery("p", copy=False))


def _heads(product: Product, columns: Sequence[Column], context: Context) -> exp.Select:
    """The rule over what the product found, which stands for its two atoms."""
    kept = (*product.rows, product.column)
    rule = product.plan.rule
    types = body_types(rule.body, context.columns, context.functions).types
    found = Relation(
        tuple(Column(f"v{v.name}", types.get(v.name)) for v in kept), (Part("", _PRODUCT, 1),)
    )
    atom = Atom(_PRODUCT, kept)
    others = tuple(x for x in rule.body if not isinstance(x, Atom))
    inside = replace(
        context,
        relation=lambda p, v: found if p == _PRODUCT else context.relation(p, v),
        columns={**context.columns, _PRODUCT: [c.type for c in found.columns]},
    )
    body = replace(product.plan.body, atoms=(atom,))
    scans = (Scan(atom, Version.ALL),)
    plan = Plan(Rule(rule.name, rule.head, (atom, *others)), scans, body, product.plan.state)
    return compile_rule(plan, columns, inside).query


def _parts(product: Product, width: int, context: Context) -> Iterable[tuple[str, exp.Select]]:
    """The column's values numbered; the sets of the second scan; their unions; what is in them."""
    (column,) = _names((product.column,))
    rows, inner = _names(product.rows), _names(product.inner)
    second = _side(product.second, (*product.inner, product.column), context)
    first = _side(product.first, (*product.rows, *product.inner), context)
    number = exp.column(_NUMBER, table="z")
    yield "second_side", second
    values = exp.select(_quoted(column)).distinct().from_("second_side")
    counted = exp.cast(exp.Window(this=exp.RowNumber()) - 1, "INTEGER").as_(_NUMBER)
    yield "numbered", exp.select(_quoted(column), counted).from_(values.subquery("d"))
    last = exp.Literal.number(width - 1)
    bits = exp.Anonymous(
        this="bitstring_agg", expressions=[number, exp.Literal.number(0), last]
    ).as_(_BITS)
    keys = [_quoted(name, "s") for name in inner]
    yield (
        "sets",
        exp.select(*keys, bits)
        .from_("second_side AS s")
        .join("numbered AS z", on=_quoted(column, "s").eq(_quoted(column, "z")))
        .group_by(*(key.copy() for key in keys)),
    )
    heads = [_quoted(name, "f") for name in rows]
    union = exp.Anonymous(this="bit_or", expressions=[exp.column(_BITS, table="s")]).as_(_BITS)
    same = exp.and_(*(_quoted(name, "f").eq(_quoted(name, "s")) for name in inner))
    yield (
        "unions",
        exp.select(*heads, union)
        .from_(first.subquery("f"))
        .join("sets AS s", on=same)
        .group_by(*(head.copy() for head in heads)),
    )
    bit = exp.Anonymous(this="get_bit", expressions=[exp.column(_BITS, table="u"), number.copy()])
    yield (
        _PRODUCT,
        exp.select(*(_quoted(name, "u") for name in rows), _quoted(column, "z"))
        .from_("unions AS u")
        .join("numbered AS z", join_type="CROSS")
        .where(bit.eq(exp.Literal.number(1))),
    )


def _quoted(name: str, table: str | None = None) -> exp.Column:
    return exp.column(name, table=table, quoted=True)
