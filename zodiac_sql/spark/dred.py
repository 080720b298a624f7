"""Deletions by delete and rederive (paper 3, steps DR1 to DR5) on Spark, insertions semi-naively.

The plans are those of the embedded engine (sql/plan.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from zodiac_sql.spark.ledger import NOTHING, DueHypernode, Ledger, deriving, minus, refuting
from zodiac_sql.spark.semi_naive import Own, close, grow, heads, within
from zodiac_sql.spark.tables import after
from zodiac_sql.spark.versions import Table
from zodiac_sql.sql.plan import Plan, Version, candidate_check
from zodiac_sql.sql.relations import Relation


def overdeleted(ledger: Ledger, task: DueHypernode) -> dict[str, Table] | None:
    """The facts that may have lost a derivation; None if they are half of all."""
    plans = refuting(ledger, task)
    owns = {p: Own(ledger.columns[p]) for p in task.hypernode.derives}
    most = sum(ledger.before.get(p, NOTHING).rows for p in owns) // 2
    context = ledger.context

    def relation(predicate: str, version: Version) -> Relation:
        if predicate in owns and version is Version.DELTA:
            return owns[predicate].relation(version)
        kinds = (Version.INSERTED, Version.DELETED)
        return context.relation(predicate, version if version in kinds else Version.BEFORE)

    inside = replace(context, relation=relation)
    frames = ledger.tables.frames
    for predicate, own in owns.items():
        if query := heads(predicate, own.columns, plans, inside):
            own.advance(frames, frames.computed(query))
    rounds = close(frames, task.kept, owns, inside)
    while sum(part.rows for own in owns.values() for part in own.known) <= most:
        if next(rounds, None) is None:
            return {p: ledger.tables.taken(own.known, own.columns) for p, own in owns.items()}
    return None


def rederive_and_insert(ledger: Ledger, task: DueHypernode, taken: Mapping[str, Table]) -> None:
    """Bring back what can still be derived, and derive what is new."""
    tables = ledger.tables
    plans = deriving(ledger, task)
    plans += [candidate_check(rule) for rule in task.hypernode.rules]
    owns = {}
    for predicate, table in taken.items():
        columns = ledger.columns[predicate]
        left = after(ledger.before.get(predicate, NOTHING), NOTHING, table)
        parts = tables.relation(left, columns).parts
        owns[predicate] = Own(columns, parts[0] if parts else None)
    _grow(ledger, task, owns, plans, taken)
    for predicate, own in owns.items():
        found = tables.taken(own.new, own.columns)
        if taken[predicate].rows:
            more = minus(tables, found, taken[predicate], own.columns)
            ledger.note(predicate, more, minus(tables, taken[predicate], found, own.columns))
        else:
            ledger.note(predicate, found, NOTHING)


def _grow(
    ledger: Ledger,
    task: DueHypernode,
    owns: Mapping[str, Own],
    plans: Sequence[Plan],
    taken: Mapping[str, Table],
) -> None:
    """Add what plans find, and what follows from it. Candidates are the facts that were `taken`."""
    outer = within(ledger.context, owns)

    def relation(predicate: str, version: Version) -> Relation:
        if version is Version.CANDIDATE:
            return ledger.tables.relation(taken[predicate], ledger.columns[predicate])
        return outer.relation(predicate, version)

    inside = replace(outer, relation=relation)
    for _ in grow(ledger.tables.frames, task.hypernode.rules, owns, plans, inside):
        pass
