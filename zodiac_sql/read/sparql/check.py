"""What the grammar lets pass, and SPARQL forbids: names that are taken, values out of place."""

from __future__ import annotations

from typing import Any

from zodiac_sql.errors import QueryError
from zodiac_sql.read.sparql.context import refused
from zodiac_sql.read.sparql.grammar import SERVICE
from zodiac_sql.read.sparql.tree import (
    EXISTS,
    bare_variable,
    is_aggregate,
    is_grouped,
    loose,
    name_of,
    nodes,
    rows_of,
    variables,
)


def check(query: Any) -> None:
    """Raise QueryError if a query, given as its parse tree, is wrong."""
    for node in nodes(query):
        found = _CHECKS.get(node.name)
        if found is not None:
            found(node)
        elif is_aggregate(node) and any(map(is_aggregate, nodes(node.vars))):
            raise _wrong("an aggregate stands inside of another: use a subquery for the inner one")
    _check_blank_nodes(query)


def _wrong(what: str) -> QueryError:
    return QueryError(f"SPARQL: {what}.")


def _shown(variable: Any) -> str:
    return f"?{variable}"


# SELECT


def _check_select(query: Any) -> None:
    _check_names(query)
    if is_grouped(query):
        _check_groups(query)


def _check_names(query: Any) -> None:
    """Whether each name that SELECT or GROUP BY gives is a new one."""
    taken = _bound(query.where) | _bound(query.valuesClause)
    keys = query.groupby.condition if query.groupby else ()
    for named in (each.var for each in keys if name_of(each) == "GroupAs" and each.var):
        if named in taken:
            raise _wrong(f"GROUP BY names a value {_shown(named)}, which is the name of another")
        taken.add(named)
    for each in query.projection or ():
        if each.evar is not None and each.evar in taken:
            raise _wrong(f"SELECT names a value {_shown(each.evar)}, which is the name of another")
        taken.add(each.evar or each.var)


def _check_groups(query: Any) -> None:
    """Whether what SELECT shows of groups is grouped or aggregated."""
    if not query.projection:
        raise _wrong("SELECT * shows all variables, and groups do not have all: name them")
    parts = (*(each.expr for each in query.projection), query.having, query.orderby)
    if any(name_of(each) in EXISTS for part in parts for each in loose(part)):
        raise refused("EXISTS about groups (a subquery has no groups any more)")
    known = {_key(each) for each in query.groupby.condition} if query.groupby else set()
    for each in query.projection:
        shown = {each.var} if each.expr is None else {*_outside(each.expr)}
        if missing := sorted(map(_shown, shown - known)):
            raise _wrong(
                f"{missing[0]} is neither grouped nor aggregated: add it to GROUP BY, "
                f"or take SAMPLE({missing[0]})"
            )
        known.add(each.evar or each.var)
    named = {each.evar for each in query.projection if each.evar is not None}
    if late := sorted(map(_shown, named.intersection(_outside(query.having)))):
        raise _wrong(f"HAVING is before SELECT, which names {late[0]}: repeat what it stands for")


def _key(condition: Any) -> Any:
    """The variable that stands for a condition of GROUP BY; None if no variable does."""
    if name_of(condition) == "GroupAs":
        return condition.var or bare_variable(condition.expr)
    return bare_variable(condition)


def _outside(expression: Any) -> list[Any]:
    """The variables of an expression that are not aggregated."""
    return [each for each in loose(expression) if not name_of(each)]


# Patterns


def _check_group(group: Any) -> None:
    """Whether each BIND of a group gives a value to a new variable."""
    known: set[Any] = set()
    for part in group.part or ():
        if part.name == "Bind" and part.var in known:
            raise _wrong(
                f"BIND gives a value to {_shown(part.var)}, which what stands before it has, too"
            )
        known |= _bound(part)


def _bound(part: Any) -> set[Any]:
    """The variables that a pattern, or VALUES, may give a value to."""
    name = name_of(part)
    if name == "TriplesBlock":
        return set(variables(part))
    if name in ("GroupOrUnionGraphPattern", "GroupGraphPatternSub"):
        parts = (part.graph if name == "GroupOrUnionGraphPattern" else part.part) or ()
        return set().union(*map(_bound, parts))
    if name == "OptionalGraphPattern":
        return _bound(part.graph)
    if name == "GraphGraphPattern":
        return _bound(part.graph) | set(variables(part.term))
    if name == "Bind":
        return {part.var}
    if name in ("InlineData", "ValuesClause"):
        return set(part.var or ())
    if name == "SubSelect":
        if part.projection:
            return {each.evar or each.var for each in part.projection}
        return _bound(part.where) | _bound(part.valuesClause)
    return set()


def _check_unaggregated(part: Any) -> None:
    if any(map(is_aggregate, loose(part.expr))):
        where = part.name.upper()
        raise _wrong(f"{where} cannot aggregate: use HAVING, or a subquery with the aggregate")


def _check_values(values: Any) -> None:
    """Whether each row of VALUES has a value for each variable."""
    width = len(values.var or ())
    for number, row in enumerate(rows_of(values), 1):
        found = 1 if isinstance(row, str | dict) else len(row)
        if found != width:
            raise _wrong(
                f"row {number} of VALUES has {found} values for {width} variables "
                "(UNDEF stands for no value)"
            )


def _check_blank_nodes(query: Any) -> None:
    """Whether each label of a blank node stands in one basic graph pattern only."""
    from rdflib import BNode

    homes: dict[Any, int] = {}
    number = 0
    for group in nodes(query):
        if group.name != "GroupGraphPatternSub":
            continue
        number += 1
        for part in group.part or ():
            if part.name == "TriplesBlock":
                for term in (term for triples in part.triples for term in triples):
                    if isinstance(term, BNode) and homes.setdefault(term, number) != number:
                        raise _wrong(
                            f"the blank node _:{term} stands in two patterns: use a variable"
                        )
            elif part.name != "Filter":
                number += 1


def _check_service(_part: Any) -> None:
    raise refused("SERVICE")


_CHECKS = {
    "SelectQuery": _check_select, "SubSelect": _check_select, SERVICE: _check_service,
    "GroupGraphPatternSub": _check_group, "InlineData": _check_values,
    "ValuesClause": _check_values,
    "Filter": _check_unaggregated, "Bind": _check_unaggregated,
}  # fmt: skip
