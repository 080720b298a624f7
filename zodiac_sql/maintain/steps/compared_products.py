"""Changes of a rule that is a product: compare what it derives with what it had derived.

Where so much of its inputs has changed that joins with the changes take longer than the product
itself, nothing is looked for: both are compared as sets (sql/products_apart.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from zodiac_sql.evaluate.cache_keys import plan_key
from zodiac_sql.evaluate.make_tables import make_part
from zodiac_sql.evaluate.run_plans import product_in
from zodiac_sql.maintain.contract import Maintained, Task, Work
from zodiac_sql.names import CHANGE_FACTS
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.emptiness import is_empty
from zodiac_sql.sql.plan import Plan, Version
from zodiac_sql.sql.product import (
    CHECK_COST,
    JOIN_COST,
    Bits,
    Estimate,
    Product,
    estimated,
    rows_of_each,
)
from zodiac_sql.sql.products_apart import Apart, Held, apart, common_bits, cost, held
from zodiac_sql.sql.relations import Part
from zodiac_sql.storage.edits import Edit

FEWEST_CHANGED = 500
"""Joins are not weighed against a product if fewer facts have changed."""


def compare_products(task: Task, starts_over: bool = False) -> Maintained | None:
    """Compare; None if the rule is no product, or if joins are expected to be cheaper.

    With `starts_over`, joins are not weighed: else the hypernode would be evaluated anew.
    """
    if task.hypernode.recursive or task.heritage or task.modules:
        return None
    if task.marking.next or task.marking.given or task.store.watch.counts:
        return None
    (rule,) = task.hypernode.rules
    predicate, everything = rule.head.predicate, task.whole(rule, Version.ALL)
    context, stored = task.context(task.inputs), task.stored(rule.head.predicate)
    product = product_in(task.cache, everything, context)
    if stored is None or product is None:
        return None
    losses, gains = (
        [plan for plan in plans if not is_empty(plan, context)]
        for plans in (task.losses(), task.gains())
    )
    if not starts_over and not _are_large(context, [*losses, *gains]):
        return None
    former = held(product, stored, task.schema[predicate].columns, context)
    if former is None:
        return None
    estimate = _estimate(task, context, product)
    if estimate is None:
        return None
    if not starts_over and not _is_sooner(context, product, (losses, gains), estimate, former):
        return None
    bits = common_bits(task.store, product, estimate, former, context)
    if bits is None:
        return None
    return _compared(task, context, product, bits, former, (bool(losses), bool(gains)))


def _sizes(context: Context, plans: Sequence[Plan]) -> list[list[int]]:
    return [[context.relation(s.atom.predicate, s.version).rows for s in p.scans] for p in plans]


def _estimate(task: Task, context: Context, product: Product) -> Estimate | None:
    """What the product costs. What is counted for that is remembered until sizes are others."""
    sizes = tuple(
        context.relation(scan.atom.predicate, scan.version).rows.bit_length()
        for scan in (product.first, product.second)
    )
    found = partial(estimated, task.store, product, context, {})
    return task.cache.get(("estimate", id(product.plan), sizes), found)


def _are_large(context: Context, plans: Sequence[Plan]) -> bool:
    """Whether much has changed, in a rule of two atoms. If it is little, nothing is counted."""
    sizes = _sizes(context, plans)
    return (
        bool(sizes)
        and all(len(each) == 2 for each in sizes)
        and max(map(min, sizes)) >= FEWEST_CHANGED
    )


def _is_sooner(
    context: Context,
    product: Product,
    plans: tuple[Sequence[Plan], Sequence[Plan]],
    estimate: Estimate,
    held: Held,
) -> bool:
    """Whether to compare is expected to take less time than to look for candidates by joins, and to
    check those that may be lost, by a join or by a product.
    """
    lost, gained = (
        sum(first * second for first, second in _sizes(context, some)) / estimate.inner
        for some in plans
    )
    checked = CHECK_COST * min(lost, held.part.rows) * rows_of_each(product, context, estimate)
    joins = JOIN_COST * (lost + gained) + min(checked, estimate.cost)
    return sum(map(bool, plans)) * cost(estimate, held) < joins


def _compared(
    task: Task,
    context: Context,
    product: Product,
    bits: Bits,
    held: Held,
    ways: tuple[bool, bool],
) -> Maintained:
    """The edit of the table, by what it may have lost and gained."""
    (predicate,) = task.hypernode.derives
    key = (id(product.plan), plan_key(product.plan, context), held.part.table, bits)

    def found(which: Apart, kind: str) -> Part | None:
        query = partial(apart, product, bits, held, context, which)
        name = f"{CHANGE_FACTS}{kind}_{task.stem(predicate)}"
        return make_part(task.store, task.cache, ("apart", which, key), name, query)

    deleted = found("lost", "minus") if ways[0] else None
    inserted = found("gained", "plus") if ways[1] else None
    lost, gained = (part.rows if part else 0 for part in (deleted, inserted))
    if task.store.watch.bounds is not None:
        task.store.watch.bounds.found([product.plan.rule.name], gained)
    edit = Edit(inserted, deleted, deleted, inserted)
    work = Work(
        checked=held.part.rows, forward=gained, deletions=lost, insertions=gained, iterations=1
    )
    return Maintained({predicate: edit} if edit else {}, work, "products", task.ranked)
