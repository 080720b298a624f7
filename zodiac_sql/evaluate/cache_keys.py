"""What the text of a statement depends on: the keys by which the cache finds it."""

from __future__ import annotations

from collections.abc import Hashable

from zodiac_sql.language.syntax import atoms_of
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Plan
from zodiac_sql.sql.relations import AS_IT_IS, Relation


def relations_of(plan: Plan, context: Context) -> list[Relation]:
    """What the body of a plan reads, in its order."""
    read = [(scan.atom.predicate, scan.version) for scan in (*plan.scans, *plan.groups) if scan]
    read += [(negation.atom.predicate, plan.state) for negation in plan.body.negations]
    for aggregate in plan.body.aggregates:
        read += [(atom.predicate, plan.state) for atom in atoms_of(aggregate.body)]
    return [context.relation(name, version) for name, version in read]


def plan_key(plan: Plan, context: Context) -> Hashable:
    """The tables that a plan reads: all that its SQL depends on besides the plan itself."""
    return tuple(map(relation_key, relations_of(plan, context)))


def relation_key(relation: Relation) -> Hashable:
    """The tables of a relation, whatever their sizes: all that the SQL that reads it depends on."""
    return (
        relation.ranked,
        tuple(
            # Most are read as they are, and to hash that takes longer than all the rest.
            (p.schema, p.table, p.ranked, p.read is not AS_IT_IS and p.read, p.enters)
            for p in relation.parts
        ),
    )
