"""Relations that are kept as partitions, and a loop of the rules beside them."""

from __future__ import annotations

from zodiac_sql.cost.operator import certain
from zodiac_sql.evaluate.evaluation import Evaluates, Evaluation
from zodiac_sql.evaluate.partition.closure import Closure, begin_closure
from zodiac_sql.evaluate.semi_naive import Fixpoint, semi_naive, table_name
from zodiac_sql.names import given
from zodiac_sql.sql.plan import Version


def closures_at_work(work: Evaluation) -> dict[str, Closure]:
    """The relations that are kept as partitions, closed over what is known from outside."""
    hypernode, schema = work.hypernode, work.schema
    closures = {}
    for row in work.modules:
        if row.parted and not row.directed:
            name = row.predicate
            outside = work.context.relation(given(name), Version.ALL)
            closures[name] = begin_closure(
                work.store,
                row,
                columns=schema[name].columns,
                stem=table_name(hypernode, name, schema),
                given=outside,
                alone=not hypernode.rules,
            )
            closures[name].add(outside, None)
    return closures


def _looped(work: Evaluation) -> Fixpoint:
    closures = closures_at_work(work)
    return semi_naive(work.runner, work.hypernode, work.schema, work.context, closures)


CLASSES: Evaluates = certain(
    "classes",
    "a relation is kept as a partition",
    lambda work: any(row.parted and not row.directed for row in work.modules),
    _looped,
)
