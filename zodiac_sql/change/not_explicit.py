"""Remarks on facts that an update wanted to delete, but that are not explicit."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from zodiac_sql.change.net_facts import explicit_table
from zodiac_sql.change.staged_rows import parameters_of, staged_query, without_none
from zodiac_sql.database.statements import anti_join, create_temp, semi_join, temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.language.schema import Predicate, Staged
from zodiac_sql.names import whole
from zodiac_sql.program.build import Planned
from zodiac_sql.program.state import State
from zodiac_sql.sql.relations import Relation, columns_of, relation_query
from zodiac_sql.sql.set_difference import unknown
from zodiac_sql.storage.sources import sources_of


def only_derived(
    store: Store, state: State, planned: Planned, deletes: Mapping[str, list[Staged]]
) -> list[str]:
    """Remarks on facts that were to be deleted, but stay because rules derive them."""
    sources = sources_of(state) if deletes else None
    remarks = []
    for name, staged in without_none(deletes).items():
        assert sources is not None
        predicate = planned.schema[name]
        derived = [p for parts in sources.derived.get(name, {}).values() for p in parts if p.rows]
        if not derived:
            continue
        explicit = Relation(predicate.columns, sources.explicit.get(name, ()))
        asked = f"asked_{whole(predicate.sql_name)}"
        facts = unknown(staged_query(predicate, staged), explicit)
        if not store.count(create_temp(asked, facts), parameters_of(staged)):
            continue
        columns = columns_of(explicit, "c")
        query = exp.select(exp.Count(this=exp.Star())).from_(temp_table(asked).as_("c"))
        there = relation_query(Relation(predicate.columns, tuple(derived)))
        count = store.count(semi_join(query, columns, there.subquery(copy=False)))
        if count:
            kept = "1 fact" if count == 1 else f"{count} facts"
            remarks.append(
                f"{name}: {kept} kept, not explicit but derived by rules. Only without their "
                "sources, or without the rule, do such facts go."
            )
    return remarks


def absent_facts(store: Store, known: Predicate | None, staged: Staged) -> int:
    """How many staged facts are not explicit; all of them if the predicate has no explicit fact."""
    columns = columns_of(Relation(known.columns if known else staged.columns, ()), "c")
    facts = (
        staged_query(known, [staged])
        if known
        else exp.select(exp.Star()).from_(temp_table(staged.table))
    )
    query = exp.select(*columns).distinct().from_(facts.subquery("c", copy=False))
    if known:
        query = anti_join(query, columns, explicit_table(known))
    return store.count(
        exp.select(exp.Count(this=exp.Star())).from_(query.subquery("n", copy=False))
    )
