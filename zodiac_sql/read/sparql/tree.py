"""What rdflib's parse tree of a query has: its nodes, and the variables of its expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

EXISTS = ("Builtin_EXISTS", "Builtin_NOTEXISTS")


def name_of(part: Any) -> str:
    """The name of a node; that of anything else is empty."""
    return str(getattr(part, "name")) if isinstance(part, dict) else ""  # noqa: B009


def is_aggregate(part: Any) -> bool:
    return name_of(part).startswith("Aggregate_")


def nodes(part: Any) -> Iterator[Any]:
    """All nodes of a tree, from the root down."""
    if isinstance(part, dict):
        yield part
        for value in part.values():
            yield from nodes(value)
    elif _is_list(part):
        for each in part:
            yield from nodes(each)


def loose(part: Any) -> Iterator[Any]:
    """The variables, the aggregates and the EXISTS of an expression, but not what is in these."""
    from rdflib import Variable

    if isinstance(part, Variable) or is_aggregate(part) or name_of(part) in EXISTS:
        yield part
    elif isinstance(part, dict):
        for value in part.values():
            yield from loose(value)
    elif _is_list(part):
        for each in part:
            yield from loose(each)


def variables(part: Any) -> Iterator[Any]:
    """All variables anywhere in a tree."""
    from rdflib import Variable

    if isinstance(part, Variable):
        yield part
    elif isinstance(part, dict):
        for value in part.values():
            yield from variables(value)
    elif _is_list(part):
        for each in part:
            yield from variables(each)


def is_grouped(query: Any) -> bool:
    """Whether a query has groups: by GROUP BY, or because something is aggregated."""
    parts = [each.expr for each in query.projection or ()]
    outside = (each for part in (*parts, query.having, query.orderby) for each in loose(part))
    return query.groupby is not None or any(map(is_aggregate, outside))


def bare_variable(expression: Any) -> Any:
    """The variable that an expression consists of; None if it is more than that."""
    from rdflib import Variable

    while name_of(expression) in _LAYERS and [*expression] == ["expr"]:
        expression = expression.expr
    return expression if isinstance(expression, Variable) else None


_LAYERS = (
    "ConditionalOrExpression", "ConditionalAndExpression", "RelationalExpression",
    "AdditiveExpression", "MultiplicativeExpression",
)  # fmt: skip
"""The grammar puts each expression into all of these."""


def rows_of(values: Any) -> list[Any]:
    """The rows of VALUES; each is a list, or one term if VALUES has one variable without ()."""
    return list(values.value or ())


def _is_list(part: Any) -> bool:
    return isinstance(part, Iterable) and not isinstance(part, str)
