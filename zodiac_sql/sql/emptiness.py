"""Whether a body can have no solution at all, because something that it needs has no facts.

Then no statement is run: this is known from the numbers of rows alone. Where a part of a body is
empty, but not the whole, its SQL is still made; if it has no types, none can be.
"""

from __future__ import annotations

from collections.abc import Iterable

from zodiac_sql.language.binding import arrange
from zodiac_sql.language.syntax import Literal, Rule
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Plan, Version


def lacks_facts(rule: Rule, context: Context) -> bool:
    """Whether a predicate that a rule needs has no facts."""
    return any(context.relation(name, Version.ALL).rows == 0 for name in rule.positive())


def is_empty(plan: Plan, context: Context) -> bool:
    """Whether the body cannot have a solution, because something it needs has no facts."""
    scanned = any(context.relation(s.atom.predicate, s.version).rows == 0 for s in plan.scans)
    return scanned or any(
        goals_are_empty(a.body, context, plan.state)
        for a in plan.body.aggregates
        if a.otherwise is None
    )


def solvable(plans: Iterable[Plan], context: Context, head: str | None = None) -> list[Plan]:
    """Those of some plans that may find something, for all heads or for one."""
    mine = (plan for plan in plans if head in (None, plan.rule.head.predicate))
    return [plan for plan in mine if not is_empty(plan, context)]


def goals_are_open(
    goals: tuple[Literal, ...], context: Context, state: Version = Version.ALL
) -> bool:
    """Whether goals need a predicate that has no types yet: it has no facts, and SQL no columns."""
    relations = (context.relation(atom.predicate, state) for atom in arrange(goals).atoms)
    return any(column.type is None for relation in relations for column in relation.columns)


def goals_are_empty(
    goals: tuple[Literal, ...], context: Context, state: Version = Version.ALL
) -> bool:
    """Whether goals cannot have a solution, because something they need has no facts."""
    arranged = arrange(goals)
    if any(context.relation(atom.predicate, state).rows == 0 for atom in arranged.atoms):
        return True
    return any(
        goals_are_empty(aggregate.body, context, state)
        for aggregate in arranged.aggregates
        if aggregate.otherwise is None
    )
