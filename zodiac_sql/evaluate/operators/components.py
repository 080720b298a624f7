"""A relation that is kept as strongly connected components: the only one of its hypernode."""

from __future__ import annotations

from zodiac_sql.cost.operator import certain
from zodiac_sql.evaluate.evaluation import Evaluates, Evaluation
from zodiac_sql.evaluate.partition.condensation import condense
from zodiac_sql.evaluate.semi_naive import Fixpoint, table_name
from zodiac_sql.names import given
from zodiac_sql.sql.plan import Version


def _condensed(work: Evaluation) -> Fixpoint:
    (row,) = work.modules
    name = row.predicate
    found = condense(
        work.store,
        row,
        columns=work.schema[name].columns,
        stem=table_name(work.hypernode, name, work.schema),
        given=work.context.relation(given(name), Version.ALL),
    )
    return Fixpoint(
        {name: found.now} if found.rows else {}, 1, "components", condensed={name: found}
    )


COMPONENTS: Evaluates = certain(
    "components",
    "a relation is kept as components",
    lambda work: any(row.directed for row in work.modules),
    _condensed,
)
