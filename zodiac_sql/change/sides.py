"""The extensions before and after a change, long after it was computed: for who asks why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from zodiac_sql.database.statements import create_temp
from zodiac_sql.database.store import Store
from zodiac_sql.errors import QueryError
from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.language.schema import Schema
from zodiac_sql.names import CHANGE_FACTS, whole
from zodiac_sql.sql.relations import Part, Relation
from zodiac_sql.storage.extensions import comparable, distinct_query
from zodiac_sql.storage.sources import Sources


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a change: all extensions, and the facts that only this side has.

    `alone` are the facts that left, or those that entered; `explicit` are those of them that were
    deleted, or inserted. In `facts` and `alone`, all facts of a predicate are as if explicit.
    """

    graph: Hypergraph
    facts: Sources
    alone: Sources
    explicit: Sources


@dataclass(frozen=True, slots=True)
class Sides:
    """Both sides of a change."""

    before: Side
    after: Side


Moved = Mapping[str, tuple[Relation, Relation]]
"""What left each extension, and what entered it."""


def sides_of(
    store: Store,
    known: Sources,
    *,
    is_after: bool,
    schemas: tuple[Schema, Schema],
    graphs: tuple[Hypergraph, Hypergraph],
    moved: Moved,
    explicit: Mapping[str, tuple[Part | None, Part | None]],
) -> Sides:
    """Both sides of a change, of which one, `known`, is in the file.

    Raises QueryError if a predicate has other columns on the other side.
    """
    tables = {name: _tables(store, schemas, name, pair) for name, pair in moved.items()}
    here, there = (1, 0) if is_after else (0, 1)
    both: list[Sources] = [Sources(schema) for schema in schemas]
    for name in known.schema:
        parts = known.relation(name).parts
        both[here].explicit[name] = parts
        if name in schemas[there] and not schemas[there][name].open:
            _require_same_columns(schemas, name, parts)
            pair = tables.get(name, (None, None))
            both[there].explicit[name] = _without(parts, pair[here], pair[there])
    for name in moved.keys() & schemas[there].keys() - both[there].explicit.keys():
        gained = tables[name][there]
        both[there].explicit[name] = (gained,) if gained else ()
    return Sides(*(
        Side(graphs[k], both[k], _only(schemas[k], tables, k), _only(schemas[k], explicit, k))
        for k in (0, 1)
    ))  # fmt: skip


def _require_same_columns(schemas: tuple[Schema, Schema], name: str, parts: Sequence[Part]) -> None:
    """Refuse what a change has given other columns: its facts cannot be compared."""
    before, after = (Relation(schema[name].columns, ()) for schema in schemas)
    if any(part.rows for part in parts) and not comparable(before, after):
        raise QueryError(f"the change gave {name} other columns: it cannot tell why facts moved")


def _tables(
    store: Store, schemas: tuple[Schema, Schema], name: str, pair: tuple[Relation, Relation]
) -> tuple[Part | None, Part | None]:
    left, entered = pair
    sql_name = (schemas[1].get(name) or schemas[0][name]).sql_name
    return (
        _as_table(store, left, f"{CHANGE_FACTS}why_left_{whole(sql_name)}"),
        _as_table(store, entered, f"{CHANGE_FACTS}why_entered_{whole(sql_name)}"),
    )


def _as_table(store: Store, relation: Relation, name: str) -> Part | None:
    """The facts of a relation in one temporary table."""
    if len(relation.parts) == 1:
        (part,) = relation.parts
        if part.is_temporary:
            return part
    if not relation.parts:
        return None
    rows = store.count(create_temp(name, distinct_query(relation)))
    return Part("temp", name, rows) if rows else None


def _without(parts: tuple[Part, ...], gone: Part | None, gained: Part | None) -> tuple[Part, ...]:
    """Tables without some facts and with others."""
    if gone is not None:
        parts = tuple(part.without(gone.table) for part in parts)
    if gone is not None or gained is not None:
        parts = tuple(replace(part, covers=False) for part in parts)
    return (*parts, gained) if gained else parts


def _only(
    schema: Schema, tables: Mapping[str, tuple[Part | None, Part | None]], side: int
) -> Sources:
    found = Sources(schema)
    for name, pair in tables.items():
        part = pair[side]
        if part is not None and name in schema:
            found.explicit[name] = (part,)
    return found
