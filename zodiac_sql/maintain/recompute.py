"""Strategy `recompute`: evaluate a hypernode from scratch and compare with what was there.

The oracle of the other strategies: its cost follows the data, not the change.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from zodiac_sql.extension import Sources, comparable
from zodiac_sql.fixpoint import evaluate
from zodiac_sql.hypernodes import Hypernode
from zodiac_sql.relations import Part, Relation, relation_query
from zodiac_sql.schema import Schema
from zodiac_sql.sql import Context
from zodiac_sql.store import Store
from zodiac_sql.trees import minus


@dataclass(frozen=True, slots=True)
class Recomputed:
    """A hypernode evaluated anew. `changed` holds the tables that must be written.

    A table is also written when only its columns have changed; `differs` says for each table in
    `changed` whether its facts have.
    """

    changed: dict[str, Part | None]
    differs: dict[str, bool]
    rows: int
    iterations: int
    method: str


def recompute(
    store: Store, hypernode: Hypernode, schema: Schema, context: Context, old: Sources
) -> Recomputed:
    """Evaluate a hypernode; leave out tables that are as they were."""
    fixpoint = evaluate(store, hypernode, schema, context)
    changed: dict[str, Part | None] = {}
    differs = {}
    for predicate in hypernode.derives:
        after = fixpoint.parts.get(predicate)
        before = old.derived.get(predicate, {}).get(hypernode.id)
        columns = schema[predicate].columns
        if before is None:
            changed[predicate], differs[predicate] = after, after is not None
            continue
        same_columns = old.schema[predicate].columns == columns
        same_facts = _same(
            store,
            Relation(columns, _parts(after)),
            Relation(old.schema[predicate].columns, (before,)),
        )
        if not (same_columns and same_facts):
            changed[predicate], differs[predicate] = after, not same_facts
    return Recomputed(changed, differs, fixpoint.rows, fixpoint.iterations, fixpoint.method)


def _parts(part: Part | None) -> tuple[Part, ...]:
    return () if part is None else (part,)


def _same(store: Store, after: Relation, before: Relation) -> bool:
    """Whether two tables without repetitions hold the same rows."""
    if not after.rows or not before.rows:
        return after.rows == before.rows
    if not comparable(after, before):
        return False
    counts = exp.select(exp.Count(this=exp.Star()))
    if store.count(counts.from_(relation_query(before).subquery("x"))) != after.rows:
        return False
    missing = minus(relation_query(after), relation_query(before))
    return store.count(counts.copy().from_(missing.subquery("x"))) == 0
