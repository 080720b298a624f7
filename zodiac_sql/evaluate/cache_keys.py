"""What the text of a statement depends on: the keys by which the cache finds it."""

from __future__ import annotations

from collections.abc import Hashable

from zodiac_sql.language.syntax import atoms_of
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Plan
from zodiac_sql.sql.relations import Relation


def plan_key(plan: Plan, context: Context) -> Hashable:
    """The tables that a plan reads: all that its SQL depends on besides the plan itself."""
    read = [(scan.atom.predicate, scan.version) for scan in (*plan.scans, *plan.groups) if scan]
    read += [(negation.atom.predicate, plan.state) for negation in plan.body.negations]
    for aggregate in plan.body.aggregates:
        read += [(atom.predicate, plan.state) for atom in atoms_of(aggregate.body)]
    return tuple(relation_key(context.relation(name, version)) for name, version in read)


def relation_key(relation: Relation) -> Hashable:
    """The tables of a relation, whatever their sizes: all that the SQL that reads it depends on."""
    return (
        relation.ranked,
        relation.marked,
        tuple(
            (
                part.schema, part.table, part.minus, part.ranks, part.ranked, part.pairs,
                part.marks, part.picked, part.rank, part.enters,
            )
            for part in relation.parts
        ),
    )  # fmt: skip
