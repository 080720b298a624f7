"""Constraints on a cluster: what violates one is derived as by any rule, and then nothing is kept.

So the table of a constraint is always empty, and what a change derives for it, the change brings.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from zodiac_sql.errors import ConstraintError, Violation
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.syntax import Rule, Variable
from zodiac_sql.names import is_constraint

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ROWS_TOLD = 3
"""So many violations of a constraint are told; the others are counted."""


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
    terms = rule.head.terms
    shown = [n for n, t in enumerate(terms) if isinstance(t, Variable) and t.written]
    rows = [tuple(row) for row in facts.orderBy(*facts.columns).limit(_ROWS_TOLD).collect()]
    return Violation(
        rule.name,
        " ".join(rule.text.split()),
        str(rule.span),
        tuple(str(terms[n]) for n in shown),
        tuple(tuple(row[n] for n in shown) for row in rows) if shown else (),
        count,
        rule.head.predicate,
        rows[0] if terms else (),
    )
