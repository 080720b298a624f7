"""Publishing: one short transaction that makes a computed change permanent, or does nothing.

Everything was computed in temporary tables before. What is written here is the sum of a change:
new symbols, edits of the tables of explicit facts and hypernodes, catalog rows and views.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from zodiac_sql import catalog, dictionary
from zodiac_sql.apply import Kept
from zodiac_sql.catalog import State
from zodiac_sql.errors import StoreError
from zodiac_sql.extension import EXPLICIT, Sources, sources_of, view
from zodiac_sql.maintain.contract import Edit
from zodiac_sql.relations import RANK, Part, Relation, columns_of, relation_query, table
from zodiac_sql.schema import Predicate
from zodiac_sql.store import Store

Edits = Mapping[tuple[str, int], Edit]
"""What becomes of tables, by predicate and owner: a hypernode, or EXPLICIT."""

Rows = dict[tuple[str, str], int]


def publish(store: Store, old: State, new: State, edits: Edits, kept: Kept) -> State:
    """Write a change. Returns `new` with the row counts of its tables."""
    rows = dict(old.rows)
    recursive = {row.id for row in new.hypernodes if row.recursive}
    owners = {row.id for row in new.hypernodes} | {EXPLICIT}
    with store.transaction():
        dictionary.publish(store)
        _drop_tables(store, old, new, rows)
        for (name, owner), edit in edits.items():
            if name in new.schema and owner in owners:  # else its table goes as a whole
                predicate = new.schema[name]
                key = _key(predicate, owner)
                if edit.rewritten or key not in rows:
                    _write(store, predicate, key, edit.added, owner in recursive, rows)
                else:
                    _edit(store, predicate, key, edit, rows, kept)
        state = replace(new, rows=rows, generation=old.generation + 1)
        catalog.save(store, old, state)
        if new.schema != old.schema or rows.keys() != old.rows.keys():
            _refresh_views(store, old, state)
    dictionary.forget_new(store)
    return state


def _key(predicate: Predicate, owner: int) -> tuple[str, str]:
    """Schema and name of a table."""
    if owner == EXPLICIT:
        return "edb", predicate.sql_name
    return "idb", f"h{owner}_{predicate.sql_name}"


def _edit(
    store: Store, predicate: Predicate, key: tuple[str, str], edit: Edit, rows: Rows, kept: Kept
) -> None:
    """Take rows out of a table and put rows in."""
    if edit.removed:
        removed = edit.removed
        text = kept.get(
            ("delete", key, removed.table), lambda: _deletion(store, predicate, key, removed)
        )
        if store.count(text) != removed.rows:
            raise StoreError(
                f"{key[0]}.{key[1]} in {store.path} is not as this connection knows it: it was "
                "changed without zodiac_sql. Nothing was changed by this update. Open the file "
                "anew, and see what `verify` says."
            )
        rows[key] -= removed.rows
    if edit.added:
        added = edit.added
        text = kept.get(
            ("insert", key, added.table, added.ranked, added.minus, added.ranks),
            lambda: _insertion(store, predicate, key, added),
        )
        store.run(text)
        rows[key] += added.rows


def _deletion(store: Store, predicate: Predicate, key: tuple[str, str], part: Part) -> str:
    relation = Relation(predicate.columns, (part,))
    same = [
        a.eq(b) for a, b in zip(columns_of(relation, "t"), columns_of(relation, "m"), strict=True)
    ]
    target = exp.table_(key[1], db=key[0], quoted=True, alias="t")
    gone = exp.alias_(table(part), "m", table=True)
    where = exp.Where(this=exp.and_(*same))
    return store.render(exp.Delete(this=target, using=[gone], where=where))


def _insertion(store: Store, predicate: Predicate, key: tuple[str, str], part: Part) -> str:
    relation = Relation(predicate.columns, (part,), ranked=part.ranked)
    names = [column.name for column in relation.stored] + ([RANK] if part.ranked else [])
    target = exp.table_(key[1], db=key[0], quoted=True)
    columns = [exp.to_identifier(name, quoted=True) for name in names]
    return store.render(exp.insert(relation_query(relation), target, columns=columns))


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
    key: tuple[str, str],
    part: Part | None,
    recursive: bool,
    rows: Rows,
) -> None:
    """Put a table in place of the one that was there, if any."""
    target = exp.table_(key[1], db=key[0], quoted=True)
    if key in rows:
        store.run(exp.Drop(tables=[target.copy()], kind="TABLE"))
        del rows[key]
    if predicate.open:
        return
    query = relation_query(Relation(predicate.columns, (part,) if part else (), ranked=recursive))
    if recursive and part is None:
        assert isinstance(query, exp.Select)
        query = query.select(exp.cast(exp.null(), "BIGINT").as_(RANK, quoted=True))
    store.run(exp.Create(this=target, kind="TABLE", expression=query))
    rows[key] = part.rows if part else 0


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
            parts = tuple(part for parts in after.owners(name).values() for part in parts)
            store.run(view(predicate, Relation(predicate.columns, parts), name in old.schema))


def _tables(sources: Sources, predicate: str) -> set[tuple[str, str]]:
    owners = sources.owners(predicate)
    return {(part.schema, part.table) for parts in owners.values() for part in parts}
