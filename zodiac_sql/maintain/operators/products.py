"""Changes of a rule that is a product: compare what it derives with what it had derived.

Where so much of its inputs has changed that joins with the changes take longer than the product
itself, nothing is looked for: both are compared as sets (sql/products_apart.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import inf

from zodiac_sql.cost.calibration import JOIN_ROW, STATEMENT
from zodiac_sql.cost.operator import Cost, Declined, Operator
from zodiac_sql.cost.products import Estimate, checking, estimated, is_worth_counting
from zodiac_sql.evaluate.cache_keys import plan_key
from zodiac_sql.evaluate.make_tables import make_part
from zodiac_sql.evaluate.run_plans import product_in
from zodiac_sql.maintain.contract import Maintained, Task, Work
from zodiac_sql.maintain.steps.change_plans import gains, losses, whole_plan
from zodiac_sql.maintain.weighed import Maintains, Weighed
from zodiac_sql.names import CHANGE_FACTS
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.emptiness import solvable
from zodiac_sql.sql.plan import Plan, Version
from zodiac_sql.sql.product import Bits, Product
from zodiac_sql.sql.products_apart import Apart, Held, apart, common_bits, held
from zodiac_sql.sql.relations import Part
from zodiac_sql.storage.edits import Edit


@dataclass(frozen=True, slots=True)
class _Changed:
    """A product, what its rule had derived, and the plans of what it may lose and gain."""

    task: Task
    product: Product
    former: Held
    losses: Sequence[Plan]
    gains: Sequence[Plan]

    @property
    def ways(self) -> int:
        """In how many directions it is compared."""
        return bool(self.losses) + bool(self.gains)


def _product(weighed: Weighed) -> _Changed | None:
    return weighed.once("product", lambda: _changed(weighed.task))


def _changed(task: Task) -> _Changed | None:
    """The product of a hypernode, if its one rule is one and has derived something."""
    runner, context = task.runner, task.context
    if task.inner.forms.product is None or task.hypernode.recursive or task.inner.rows:
        return None
    if task.former.heritage or runner.store.watch.counts:
        return None
    (rule,) = task.hypernode.rules
    predicate = rule.head.predicate
    product = product_in(runner.cache, whole_plan(runner.cache, rule, Version.ALL), context)
    stored = task.former.stored(predicate)
    if stored is None or product is None:
        return None
    former = held(product, stored, task.columns(predicate), context)
    if former is None:
        return None
    lost, gained = (solvable(plans, context) for plans in (losses(task), gains(task)))
    return _Changed(task, product, former, lost, gained)


def _cost(weighed: Weighed) -> Cost:
    """What it costs to compare. If little has changed, nothing is counted to tell."""
    found = _product(weighed)
    assert found is not None
    if not _are_large(found.task.context, [*found.losses, *found.gains]):
        return Cost(weighed.anew, "a product is compared sooner than evaluated")
    estimate = _estimate(found)
    if estimate is None:
        return Cost(inf, "a join costs little")
    ms = found.ways * (STATEMENT + estimate.apart(found.former.part.rows))
    return Cost(ms, "what it derives is found sooner than what has changed of it")


def _run(weighed: Weighed, _: float) -> Maintained | Declined:
    found = _product(weighed)
    assert found is not None
    estimate = _estimate(found)
    if estimate is None:
        return Declined("a join costs little")
    bits = common_bits(
        found.task.runner.store, found.product, estimate.values, found.former, found.task.context
    )
    if bits is None:
        return Declined("its values do not lie close together")
    return _compared(found, bits)


def cost_of_joins(weighed: Weighed) -> float | None:
    """What it takes to look for what has changed of a product by joins, in milliseconds, and to
    check what may be lost, by a join or by a product. None: it is none, or little has changed.
    """
    found = _product(weighed)
    if found is None or not _are_large(found.task.context, [*found.losses, *found.gains]):
        return None
    estimate = _estimate(found)
    if estimate is None:
        return None
    lost, gained = (
        sum(first * second for first, second in _sizes(found.task.context, plans)) / estimate.inner
        for plans in (found.losses, found.gains)
    )
    some = min(lost, found.former.part.rows)
    checked = checking(found.product, found.task.context, estimate, some)
    return JOIN_ROW * (lost + gained) + min(checked, estimate.ms)


def _sizes(context: Context, plans: Sequence[Plan]) -> list[list[int]]:
    return [[context.relation(s.atom.predicate, s.version).rows for s in p.scans] for p in plans]


def _estimate(changed: _Changed) -> Estimate | None:
    """What the product costs. What is counted for that is remembered until sizes are others."""
    product, context, runner = changed.product, changed.task.context, changed.task.runner
    sizes = tuple(
        context.relation(scan.atom.predicate, scan.version).rows.bit_length()
        for scan in (product.first, product.second)
    )
    found = partial(estimated, runner.store, product, context, {})
    return runner.cache.get(("estimate", id(product.plan), sizes), found)


def _are_large(context: Context, plans: Sequence[Plan]) -> bool:
    """Whether much has changed, in a rule of two atoms. If it is little, nothing is counted."""
    sizes = _sizes(context, plans)
    return (
        bool(sizes)
        and all(len(each) == 2 for each in sizes)
        and any(is_worth_counting(*each) for each in sizes)
    )


def _compared(changed: _Changed, bits: Bits) -> Maintained:
    """The edit of the table, by what it may have lost and gained."""
    task, context, product = changed.task, changed.task.context, changed.product
    (predicate,), held = task.hypernode.derives, changed.former
    key = (id(product.plan), plan_key(product.plan, context), held.part.table, bits)

    def found(which: Apart, kind: str) -> Part | None:
        query = partial(apart, product, bits, held, context, which)
        name = f"{CHANGE_FACTS}{kind}_{task.stem(predicate)}"
        return make_part(task.runner, ("apart", which, key), name, query)

    deleted = found("lost", "minus") if changed.losses else None
    inserted = found("gained", "plus") if changed.gains else None
    lost, gained = (part.rows if part else 0 for part in (deleted, inserted))
    if (bounds := task.runner.store.watch.bounds) is not None:
        bounds.found([product.plan.rule.name], gained)
    edit = Edit(inserted, deleted, deleted, inserted)
    work = Work(
        checked=held.part.rows, forward=gained, deletions=lost, insertions=gained, iterations=1
    )
    return Maintained({predicate: edit} if edit else {}, work, "products", task.former.ranked)


PRODUCTS: Maintains = Operator(
    "products",
    lambda weighed: weighed.is_plain and _product(weighed) is not None,
    _cost,
    _run,
)
