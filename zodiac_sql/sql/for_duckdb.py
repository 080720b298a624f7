"""Expressions that another engine leaves to DuckDB.

A cluster's SQL is made from the same trees as ours, but what its engine would compute otherwise is
marked in them, with its type. Who writes that SQL makes a call of each mark
(spark/left_to_duckdb.py).
"""

from __future__ import annotations

from sqlglot import exp

from zodiac_sql.database.statements import data_type

VALUE_OF = "zodiac$value_of"
"""The function that makes a struct (terms.py) of a term's text. Only marked expressions call it."""

_MARK = "zodiac$for_duckdb"

AGGREGATES = frozenset(("sum", "median", "arg_min", "arg_max"))
"""Aggregate functions that sqlglot does not know by their names."""


def for_duckdb(expression: exp.Expr, type_: str | exp.DataType) -> exp.Expr:
    """An expression marked as one for DuckDB. Marks inside are taken away: this one says it all."""
    marked = exp.Anonymous(this=_MARK, expressions=[_without_marks(expression.copy())])
    return exp.Cast(this=marked, to=data_type(type_) if isinstance(type_, str) else type_.copy())


def marked(node: exp.Expr) -> exp.Expr | None:
    """The expression for DuckDB that a node marks; None if it marks none."""
    inside = node.this if isinstance(node, exp.Cast) else None
    if isinstance(inside, exp.Anonymous) and inside.name == _MARK:
        expression: exp.Expr = inside.expressions[0]
        return expression
    return None


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node is an aggregate, which the other engine computes."""
    known = isinstance(node, exp.Anonymous) and node.name in AGGREGATES
    return known or isinstance(node, exp.AggFunc)


def _without_marks(tree: exp.Expr) -> exp.Expr:
    """A tree without marks, but for those inside of aggregates."""
    if is_aggregate(tree):
        return tree
    tree = marked(tree) or tree
    for child in list(tree.iter_expressions()):
        other = _without_marks(child)
        if other is not child:
            child.replace(other)
    return tree
