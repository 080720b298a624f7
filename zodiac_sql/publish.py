"""Publishing: one short transaction that makes a computed change permanent, or does nothing.

Everything was computed in temporary tables before. What is written here is the sum of a change:
new symbols, explicit facts, tables of hypernodes, catalog rows and views.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from zodiac_sql import catalog, dictionary
from zodiac_sql.catalog import State
from zodiac_sql.extension import Sources, sources_of, view
from zodiac_sql.relations import Part, Relation, columns_of, part_query, relation_query, table
from zodiac_sql.schema import Predicate
from zodiac_sql.store import Store


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a change computed, by predicate or by table of idb (None: the table has no rows)."""

    inserts: Mapping[str, Part] = field(default_factory=dict)
    deletes: Mapping[str, Part] = field(default_factory=dict)
    tables: Mapping[tuple[str, int], Part | None] = field(default_factory=dict)
    """Tables to write anew, by predicate and hypernode."""


def publish(store: Store, old: State, new: State, outcome: Outcome) -> State:
    """Write a change. Returns `new` with the row counts of its tables."""
    rows = dict(old.rows)
    with store.transaction():
        dictionary.publish(store)
        for predicate, part in outcome.deletes.items():
            if predicate in new.schema:  # else its table goes as a whole
                _delete(store, new.schema[predicate], part, rows)
        for predicate, part in outcome.inserts.items():
            _insert(store, new.schema[predicate], part, rows)
        _drop_tables(store, old, new, rows)
        for (predicate, hypernode), written in outcome.tables.items():
            _write(store, new.schema[predicate], f"h{hypernode}", written, rows)
        state = replace(new, rows=rows, generation=old.generation + 1)
        catalog.save(store, old, state)
        _refresh_views(store, old, state)
    dictionary.forget_new(store)
    return state


def _delete(
    store: Store, predicate: Predicate, part: Part, rows: dict[tuple[str, str], int]
) -> None:
    """Take the facts of a temporary table out of edb."""
    relation = Relation(predicate.columns, (part,))
    same = [
        a.eq(b) for a, b in zip(columns_of(relation, "t"), columns_of(relation, "m"), strict=True)
    ]
    target = exp.table_(predicate.sql_name, db="edb", quoted=True, alias="t")
    gone = exp.alias_(table(part), "m", table=True)
    where = exp.Where(this=exp.and_(*same))
    store.run(exp.Delete(this=target, using=[gone], where=where))
    rows["edb", predicate.sql_name] -= part.rows


def _insert(
    store: Store, predicate: Predicate, part: Part, rows: dict[tuple[str, str], int]
) -> None:
    """Add the facts of a temporary table to edb; the first ones make the table."""
    key = ("edb", predicate.sql_name)
    query = part_query(part, Relation(predicate.columns, (part,)))
    target = exp.table_(predicate.sql_name, db="edb", quoted=True)
    if key in rows:
        store.run(exp.insert(query, target))
    else:
        store.run(exp.Create(this=target, kind="TABLE", expression=query))
    rows[key] = rows.get(key, 0) + part.rows


def _drop_tables(store: Store, old: State, new: State, rows: dict[tuple[str, str], int]) -> None:
    """Drop tables of hypernodes and predicates that are no more, without looking into them."""
    kept = {f"h{row.id}_" for row in new.hypernodes}
    names = {predicate.sql_name for predicate in new.schema.values()}
    for schema, name in list(rows):
        hypernode = name[: name.index("_") + 1] if schema == "idb" else ""
        if (schema == "idb" and hypernode not in kept) or (schema == "edb" and name not in names):
            store.run(exp.Drop(tables=[exp.table_(name, db=schema, quoted=True)], kind="TABLE"))
            del rows[schema, name]


def _write(
    store: Store,
    predicate: Predicate,
    hypernode: str,
    part: Part | None,
    rows: dict[tuple[str, str], int],
) -> None:
    """Put a hypernode's table in place of the one that was there."""
    name = f"{hypernode}_{predicate.sql_name}"
    target = exp.table_(name, db="idb", quoted=True)
    if ("idb", name) in rows:
        store.run(exp.Drop(tables=[target.copy()], kind="TABLE"))
        del rows["idb", name]
    if predicate.open:
        return
    query = relation_query(Relation(predicate.columns, (part,) if part else ()))
    store.run(exp.Create(this=target, kind="TABLE", expression=query))
    rows["idb", name] = part.rows if part else 0


def _refresh_views(store: Store, old: State, new: State) -> None:
    """Create, replace and drop views where tables or columns have changed."""
    before, after = sources_of(old), sources_of(new)
    for name, predicate in old.schema.items():
        if name not in new.schema:
            target = exp.table_(predicate.sql_name, db="main", quoted=True)
            store.run(exp.Drop(tables=[target], kind="VIEW"))
    for name, predicate in new.schema.items():
        same = name in old.schema and old.schema[name].columns == predicate.columns
        if not same or _tables(before, name) != _tables(after, name):
            parts = (*after.explicit.get(name, ()), *after.derived.get(name, {}).values())
            store.run(view(predicate, Relation(predicate.columns, parts), name in old.schema))


def _tables(sources: Sources, predicate: str) -> set[tuple[str, str]]:
    parts = (
        *sources.explicit.get(predicate, ()),
        *sources.derived.get(predicate, {}).values(),
    )
    return {(part.schema, part.table) for part in parts}
