"""Which tables make up each extension, before or during a change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from zodiac_sql.language.schema import Predicate, Schema
from zodiac_sql.names import (
    DERIVED_SCHEMA,
    EXPLICIT_SCHEMA,
    NODE_SCHEMA,
    between,
    classes,
    derived,
    external,
    given,
    is_node,
)
from zodiac_sql.program.state import State
from zodiac_sql.rewrite.hypertree.stored import tables_of_trees
from zodiac_sql.rewrite.rewritten_hypernode import Inner, ModuleRow, tables_of
from zodiac_sql.sql.class_pairs import Between, Pairs
from zodiac_sql.sql.relations import Part, Reading, Relation
from zodiac_sql.storage.owners import EXPLICIT, Owner

T = TypeVar("T")

EDGES = "edges"
"""What is remembered of a state under this name are facts, of which the next state has others."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The tables of each predicate: explicit facts, and by their owners what hypernodes derive.

    While a change is computed, a table can be several parts: what stays of it, and what enters.
    """

    schema: Mapping[str, Predicate]
    explicit: dict[str, tuple[Part, ...]] = field(default_factory=dict)
    derived: dict[str, Mapping[Owner, tuple[Part, ...]]] = field(default_factory=dict)

    def relation(self, predicate: str, without: int | None = None) -> Relation:
        """The extension of a predicate, or what is left of it without one owner's table.

        To that owner, the ranks in another one's table say nothing: its facts are from outside.
        """
        parts = [
            part if without is None or not part.ranked else replace(part, ranked=False)
            for owner, parts in self.owners(predicate).items()
            if owner != without
            for part in parts
            if part.rows
        ]
        if len(parts) > 1:
            parts = [part for part in parts if part.covers] or parts
        return Relation(self.schema[predicate].columns, tuple(parts))

    def put(self, predicate: str, owner: Owner, parts: tuple[Part, ...]) -> None:
        """Put parts in place of a table. (What is shared with other sources is not modified.)"""
        self.derived[predicate] = {**self.derived.get(predicate, {}), owner: parts}

    def leave_out(self, predicate: str, owner: Owner) -> None:
        """Treat a table as if it were not there."""
        owned = self.derived.get(predicate, {})
        self.derived[predicate] = {o: parts for o, parts in owned.items() if o != owner}

    def owners(self, predicate: str) -> dict[Owner, tuple[Part, ...]]:
        """The parts of each table of a predicate, by its owner."""
        return {
            EXPLICIT: self.explicit.get(predicate, ()),
            **self.derived.get(predicate, {}),
        }


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of what a hypernode derives of a predicate, whether it is there or not."""

    hypernode: int
    key: tuple[str, str]
    ranked: bool
    module: ModuleRow | None
    """The module that keeps it as classes of nodes."""


def sources_of(state: State) -> Sources:
    """The tables of a state, as they are in the file. Nobody may modify them: see `own`."""

    def find() -> Sources:
        explicit = {name: _explicit(state, name) for name in state.schema}
        derived = {name: _derived(state, name) for name in _tables_of(state)}
        return Sources(
            state.schema,
            {name: parts for name, parts in explicit.items() if parts},
            {name: owned for name, owned in derived.items() if owned},
        )

    return state.once("sources", find)


def own(sources: Sources) -> Sources:
    """A copy for a change, which may put other parts in place of these."""
    return Sources(sources.schema, dict(sources.explicit), dict(sources.derived))


def hand_on(old: State, new: State, names: Iterable[str]) -> None:
    """Let a state know what was found in the one before it, which differs in facts alone.

    `names` are the predicates of which tables have changed.
    """
    if not new.is_same_program(old):
        return
    new.memo.update((what, found) for what, found in old.memo.items() if what != EDGES)
    if "sources" not in old.memo:
        return
    sources = new.memo["sources"] = own(old.memo["sources"])
    for name in names:
        _put_or_drop(sources.explicit, name, _explicit(new, name))
        _put_or_drop(sources.derived, name, _derived(new, name))


def _put_or_drop(found: dict[str, T], name: str, parts: T) -> None:
    if parts:
        found[name] = parts
    else:
        found.pop(name, None)


def _explicit(state: State, name: str) -> tuple[Part, ...]:
    if name not in state.schema:
        return ()
    sql_name = state.schema[name].sql_name
    rows = state.rows.get((EXPLICIT_SCHEMA, sql_name))
    return () if rows is None else (Part(EXPLICIT_SCHEMA, sql_name, rows),)


def _derived(state: State, name: str) -> dict[Owner, tuple[Part, ...]]:
    found: dict[Owner, tuple[Part, ...]] = {}
    for table in _tables_of(state).get(name, ()):
        rows = state.rows.get(table.key)
        if rows is None:
            continue
        part = Part(*table.key, rows, ranked=table.ranked)
        if table.module:
            part = _parted(table.module, table.hypernode, rows, state.schema)
        found[table.hypernode] = (part,)
    return found


def _tables_of(state: State) -> dict[str, list[_Table]]:
    """All that depends on the program alone, and not on how many facts there are."""

    def find() -> dict[str, list[_Table]]:
        ranked = {row.id for row in state.hypernodes if row.ranked}
        modules = [(row.id, m) for row in state.hypernodes for m in row.modules if m.parted]
        parted = {(module.predicate, number): module for number, module in modules}
        found: dict[str, list[_Table]] = {}
        for name, number, key in derived_tables(state):
            table = _Table(number, key, number in ranked, parted.get((name, number)))
            found.setdefault(name, []).append(table)
        return found

    return state.once("tables", find)


def _parted(module: ModuleRow, hypernode: int, rows: int, schema: Schema) -> Part:
    """The facts that a table of classes in the file stands for."""
    tables = tables_of(module, schema)
    table = derived(hypernode, tables[classes(module.predicate)].sql_name)
    pairs = pairs_of(module, hypernode, tables)
    return Part(DERIVED_SCHEMA, table, rows, read=Reading(pairs=pairs), covers=module.covers)


def pairs_of(module: ModuleRow, hypernode: int, tables: Mapping[str, Predicate]) -> Pairs:
    """Which pairs of nodes a table of classes in the file stands for."""
    there = tables.get(between(module.predicate))
    if there is None:
        return Pairs(unequal=module.unequal)
    return Pairs(between=Between(DERIVED_SCHEMA, derived(hypernode, there.sql_name)))


def inside(sources: Sources, inner: Inner, number: int) -> Sources:
    """All tables, with those inside a hypernode: of modules and trees, and given from outside."""
    if not inner.schema:
        return sources
    explicit = dict(sources.explicit)
    for predicate in inner.outside:
        if predicate in sources.schema:
            outside = sources.relation(predicate, without=number)
            explicit[given(predicate)] = outside.parts
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
    """The tables of modules and of nodes of trees, by hypernode, if it has any."""
    found: dict[int, set[tuple[str, str]]] = {}
    for row in state.hypernodes:
        if not row.modules and not row.trees:
            continue
        tables = [t for m in row.modules for t in tables_of(m, state.schema).values()]
        tables += tables_of_trees(row.trees).values()
        found[row.id] = {place(known, row.id) for known in tables}
    return found


def heads_of(state: State) -> dict[str, str]:
    """The head predicate of each rule, by the rule's name."""
    return {rule.name: rule.head for rule in state.rules}
