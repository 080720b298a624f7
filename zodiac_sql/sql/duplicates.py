"""Whether a SELECT may return the same row twice. Where it cannot, DISTINCT is left out.

A row comes out once if it determines the values of all variables, and these determine which row of
each table they were read from. An int stored as a float no longer determines which int it was.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from zodiac_sql.language.binding import Arranged, arrange, variables
from zodiac_sql.language.syntax import Aggregate, Atom, Column, Rule, Type, Variable
from zodiac_sql.language.types import body_types, widens
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Plan, Scan, Version


def has_duplicates(plan: Plan, head: Sequence[Column], context: Context) -> bool:
    """Whether the same row may come out twice.

    If the parts that a scan reads do not overlap, a head that determines all variables repeats no
    row.
    """
    types = body_types(plan.rule.body, context.columns, context.functions).types
    told = _told(plan.rule, head, types)
    for scan in plan.scans:
        relation = context.relation(scan.atom.predicate, scan.version)
        if relation.overlaps:
            return True
        if not _tells_row(told, scan.atom, [c.meant for c in relation.columns], types):
            return True
    for aggregate in plan.body.aggregates:
        if any(v.name not in told for v in (*aggregate.group, aggregate.result)):
            return True
        if _widens_groups(aggregate, types, context):
            return True
    return False


def is_injective(rule: Rule, head: Sequence[Column], context: Context) -> bool:
    """Whether the rule derives each fact in one way only: its head determines the body."""
    body = arrange(rule.body)
    types = body_types(rule.body, context.columns, context.functions).types
    told = _told(rule, head, types)
    return not body.aggregates and all(
        _tells_row(told, atom, context.columns[atom.predicate], types) for atom in body.atoms
    )


def repeats_solutions(
    body: Arranged,
    told: Collection[str],
    types: Mapping[str, Type | None],
    context: Context,
    state: Version,
    groups: Scan | None,
) -> bool:
    """Whether the same solution of an aggregate's body may come out twice.

    The variables in `told` tell solutions apart; `types` has the types of all variables of the
    body. If they are those of an atom, and its parts do not overlap, there is one row for each
    solution. (This is worth knowing: removing repetitions costs four times as much as the median
    itself.)
    """
    if groups is not None and groups.version is not Version.TOUCHED:
        return True
    for atom in body.atoms:
        if context.relation(atom.predicate, state).overlaps:
            return True
        if not _tells_row(told, atom, context.columns[atom.predicate], types):
            return True
    return any(
        any(variable.name not in told for variable in (*inner.group, inner.result))
        or _widens_groups(inner, types, context)
        for inner in body.aggregates
    )


def _widens_groups(
    aggregate: Aggregate, types: Mapping[str, Type | None], context: Context
) -> bool:
    """Whether groups that differ in an int may become one, because the int becomes a float."""
    inside = body_types(aggregate.body, context.columns, context.functions).types
    return widens(aggregate.group, [inside.get(v.name) for v in aggregate.group], types)


def _told(rule: Rule, head: Sequence[Column], types: Mapping[str, Type | None]) -> set[str]:
    """The variables whose values a head determines: no number that becomes a float there."""
    return {
        term.name
        for term, column in zip(rule.head.terms, head, strict=True)
        if isinstance(term, Variable)
        and not widens([term], [types.get(term.name)], {term.name: column.type})
    }


def _tells_row(
    told: Collection[str],
    atom: Atom,
    columns: Sequence[Type | None],
    types: Mapping[str, Type | None],
) -> bool:
    """Whether these variables determine which row an atom of a body reads."""
    known = all(variable.name in told for variable in variables(*atom.terms))
    return known and not widens(atom.terms, columns, types)
