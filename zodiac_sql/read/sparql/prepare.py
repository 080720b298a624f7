"""A parse tree made such that rdflib's algebra of it is right.

rdflib forgets names that SELECT gives to aggregates as soon as another expression uses them, sorts
groups by what they have lost, leaves EXISTS as it is outside of filters, and stumbles over keys and
VALUES without a variable.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

from zodiac_sql.read.sparql.tree import (
    bare_variable,
    is_aggregate,
    is_grouped,
    name_of,
    nodes,
    rows_of,
    variables,
)

HIDDEN = "\0"
"""What the name of a variable begins with that the user has not written."""


def prepare(query: Any) -> None:
    """Change a parse tree in place."""
    fresh = (f"{HIDDEN}k{number}" for number in itertools.count()).__next__
    for node in reversed([*nodes(query)]):  # what is inside comes first
        if node.name == "SubSelect" or node.name.endswith("Query"):
            if node.name == "DescribeQuery" and not node.var:
                node["var"] = [*dict.fromkeys(variables(node.where))]  # DESCRIBE *
            _prepare_groups(node, fresh)
            _prepare_exists(node)
        elif node.name in ("InlineData", "ValuesClause"):
            _prepare_values(node, fresh)


def _prepare_values(values: Any, fresh: Callable[[], str]) -> None:
    """Give VALUES a variable, which stays unbound, if it has rows without any."""
    from rdflib import Variable

    if not values.var:
        values["var"] = [Variable(fresh())]
        values["value"] = [["UNDEF"] for _ in rows_of(values)]


def _prepare_groups(query: Any, fresh: Callable[[], str]) -> None:
    from rdflib import Variable

    if query.groupby:
        for place, key in enumerate(query.groupby.condition):
            if name_of(key) == "GroupAs" and key.var is None:
                query.groupby.condition[place] = bare_variable(key.expr) or key
                key["var"] = Variable(fresh())
    if not is_grouped(query):
        return
    named: dict[Any, Any] = {}
    for each in query.projection or ():
        if each.evar is not None:
            each["expr"] = _replaced(each.expr, lambda variable: named.get(variable, variable))
            named[each.evar] = each.expr
    for each in query.orderby.condition if query.orderby else ():
        each["expr"] = _replaced(each.expr, lambda variable: named.get(variable) or _any(variable))


def _prepare_exists(query: Any) -> None:
    from rdflib.plugins.sparql.algebra import translateExists, translatePath, traverse

    for place in ("projection", "groupby", "orderby"):
        if place in query:
            query[place] = translateExists(traverse(query[place], visitPost=translatePath))


def _made(kind: Any, name: str, items: dict[str, Any]) -> Any:
    return kind(name, **items)


def _any(variable: Any) -> Any:
    """One of the values that a variable has in a group."""
    from rdflib.plugins.sparql.parserutils import CompValue

    return CompValue("Aggregate_Sample", vars=variable)


def _replaced(part: Any, by: Callable[[Any], Any]) -> Any:
    """A copy of an expression with other things for its variables; not inside of aggregates."""
    from rdflib import Variable

    if isinstance(part, Variable):
        found = by(part)
        return found if found is part else _replaced(found, lambda variable: variable)
    if isinstance(part, dict):
        inner = (lambda variable: variable) if is_aggregate(part) else by
        items = {key: _replaced(value, inner) for key, value in part.items()}
        return _made(type(part), name_of(part), items)
    if isinstance(part, Iterable) and not isinstance(part, str):
        return [_replaced(each, by) for each in part]
    return part
