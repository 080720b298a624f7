"""Which tables make up each extension, before or during a change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from zodiac_sql.language.schema import Predicate, Schema
from zodiac_sql.names import (
    DERIVED_SCHEMA,
    EXPLICIT_SCHEMA,
    NODE_SCHEMA,
    classes,
    derived,
    external,
    given,
    is_node,
)
from zodiac_sql.program.state import State
from zodiac_sql.rewrite.hypertree.stored import tables_of_trees
from zodiac_sql.rewrite.rewritten_hypernode import Inner, ModuleRow, tables_of
from zodiac_sql.sql.class_pairs import Pairs
from zodiac_sql.sql.relations import Part, Relation
from zodiac_sql.storage.owners import EXPLICIT, Owner


@dataclass(frozen=True, slots=True)
class Sources:
    """The tables of each predicate: explicit facts, and by their owners what hypernodes derive.

    While a change is computed, a table can be several parts: what stays of it, and what enters.
    """

    schema: Mapping[str, Predicate]
    explicit: dict[str, tuple[Part, ...]] = field(default_factory=dict)
    derived: dict[str, dict[Owner, tuple[Part, ...]]] = field(default_factory=dict)

    def relation(self, predicate: str, without: int | None = None) -> Relation:
        """The extension of a predicate, or what is left of it without one owner's table."""
        parts = [
            part
            for owner, parts in self.owners(predicate).items()
            if owner != without
            for part in parts
            if part.rows
        ]
        if len(parts) > 1:
            parts = [part for part in parts if part.covers] or parts
        return Relation(self.schema[predicate].columns, tuple(parts))

    def owners(self, predicate: str) -> dict[Owner, tuple[Part, ...]]:
        """The parts of each table of a predicate, by its owner."""
        return {
            EXPLICIT: self.explicit.get(predicate, ()),
            **self.derived.get(predicate, {}),
        }


def sources_of(state: State) -> Sources:
    """The tables of a state, as they are in the file."""
    sources = Sources(state.schema)
    for name, predicate in state.schema.items():
        rows = state.rows.get((EXPLICIT_SCHEMA, predicate.sql_name))
        if rows is not None:
            sources.explicit[name] = (Part(EXPLICIT_SCHEMA, predicate.sql_name, rows),)
    ranked = {row.id for row in state.hypernodes if row.ranked}
    parted = {(m.predicate, row.id): m for row in state.hypernodes for m in row.modules if m.parted}
    for name, hypernode, (schema, stored) in derived_tables(state):
        rows = state.rows.get((schema, stored))
        if rows is not None:
            part = Part(schema, stored, rows, ranked=hypernode in ranked)
            if module := parted.get((name, hypernode)):
                part = _parted(module, hypernode, rows, state.schema)
            sources.derived.setdefault(name, {})[hypernode] = (part,)
    return sources


def _parted(module: ModuleRow, hypernode: int, rows: int, schema: Schema) -> Part:
    """The facts that a table of classes in the file stands for."""
    table = tables_of(module, schema)[classes(module.predicate)].sql_name
    pairs = Pairs(unequal=module.unequal)
    return Part(DERIVED_SCHEMA, derived(hypernode, table), rows, pairs=pairs, covers=module.covers)


def inside(sources: Sources, inner: Inner, number: int) -> Sources:
    """All tables, with those inside a hypernode: of modules and trees, and given from outside."""
    if not inner.schema:
        return sources
    explicit = dict(sources.explicit)
    for row in inner.rows:
        if row.predicate in sources.schema:
            outside = sources.relation(row.predicate, without=number)
            explicit[given(row.predicate)] = outside.parts
    return Sources({**sources.schema, **inner.schema}, explicit, sources.derived)


def place(known: Predicate, hypernode: int) -> tuple[str, str]:
    """Schema and name of a hypernode's table."""
    return NODE_SCHEMA if is_node(known.name) else DERIVED_SCHEMA, derived(
        hypernode, known.sql_name
    )


def derived_tables(state: State) -> Iterable[tuple[str, int, tuple[str, str]]]:
    """(predicate, hypernode, table) for each table that a state has or could have in idb and hd.

    They include those of external facts and nodes, under their names inside a hypernode
    (rewrite/rewritten_hypernode.py), but no tables of classes: the relations that these stand for
    are views.
    """
    heads = heads_of(state)
    for row in state.hypernodes:
        for predicate in dict.fromkeys(heads[rule] for rule in row.rules):
            yield predicate, row.id, place(state.schema[predicate], row.id)
        for node in tables_of_trees(row.trees).values():
            yield node.name, row.id, place(node, row.id)
        for module in row.modules:
            tables = tables_of(module, state.schema)
            if known := tables.get(external(module.predicate)):
                yield known.name, row.id, place(known, row.id)


def inner_tables(state: State) -> dict[int, set[tuple[str, str]]]:
    """The tables of modules and of nodes of trees, by hypernode."""
    found: dict[int, set[tuple[str, str]]] = {}
    for row in state.hypernodes:
        tables = [t for m in row.modules for t in tables_of(m, state.schema).values()]
        tables += tables_of_trees(row.trees).values()
        found[row.id] = {place(known, row.id) for known in tables}
    return found


def heads_of(state: State) -> dict[str, str]:
    """The head predicate of each rule, by the rule's name."""
    return {rule.name: rule.head for rule in state.rules}
