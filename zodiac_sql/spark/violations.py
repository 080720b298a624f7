"""Constraints on a cluster: what violates one is derived as by any rule, and then nothing is kept.

So the table of a constraint is always empty, and what a change derives for it, the change brings.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from zodiac_sql.change.constraints import ROWS_TOLD, violation
from zodiac_sql.errors import ConstraintError, Violation
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.syntax import Rule
from zodiac_sql.names import is_constraint

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Found = Callable[[str], "tuple[DataFrame, int] | None"]
"""Returns the facts of a predicate, and their number; None if there are none."""


def require_none(hypernode: Hypernode, found: Found) -> None:
    """Raise ConstraintError if a hypernode has derived violations."""
    rules = {rule.head.predicate: rule for rule in hypernode.rules}
    told = [
        _violation(rule, *facts)
        for predicate, rule in rules.items()
        if is_constraint(predicate) and (facts := found(predicate))
    ]
    if told:
        raise ConstraintError(told, may_pass=False)


def _violation(rule: Rule, facts: DataFrame, count: int) -> Violation:
    first = facts.orderBy(*facts.columns).limit(ROWS_TOLD).collect()
    return violation(rule, str(rule.span), [tuple(row) for row in first], count)
