"""The state of a knowledge base, read from the catalog in the file.

`State` is what a program is between two changes; it is never modified, only replaced. Rules are
parsed again from their text only when something needs them, so that opening a file stays cheap.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zodiac_sql.database.store import Store
from zodiac_sql.errors import LockedError, StoreError
from zodiac_sql.language.functions import Function
from zodiac_sql.language.kept_texts import as_today
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Column, Origin, Type
from zodiac_sql.names import DERIVED_SCHEMA, VARIES
from zodiac_sql.program.feed import NO_FEED
from zodiac_sql.program.rule_sets import RuleSet
from zodiac_sql.program.state import HypernodeRow, State, StoredRule
from zodiac_sql.rewrite.hypertree.stored import StoredNode, StoredTree
from zodiac_sql.rewrite.rewritten_hypernode import ModuleRow
from zodiac_sql.storage.check_catalog import what_is_wrong
from zodiac_sql.storage.feed import load_feed
from zodiac_sql.storage.journal import settle_what_is_left
from zodiac_sql.storage.kept_windows import load_windows
from zodiac_sql.storage.row_counts import is_aside, list_tables, load_row_counts


def load_anew(store: Store, is_empty: bool = False) -> State:
    """The state of the file, of which the store is sure from then on."""
    store.symbols.last = None
    alone = store.presence.alone() if store.presence else None
    if is_empty:
        state = State()
    else:
        settle_what_is_left(store)
        store.journal.settle()  # entries of the feed wait, which are not to be settled inside
        with store.transaction(read_only=True):
            published = store.connection.instance.published
            known = published.of(generation(store)) if published.has_any else None
            state = known or load(store)
    if store.presence:
        store.presence.is_sure(alone)
    return state


def is_current(store: Store, state: State) -> bool:
    """Whether a store's latest state is that of the file. It asks only if it cannot know."""
    if store.presence and store.presence.knows():
        return True
    alone = store.presence.alone() if store.presence else None
    published = store.connection.instance.published
    current = published.is_at(state.generation) or generation(store) == state.generation
    if store.presence:
        store.presence.is_sure(alone if current else None)
    return current


def load(store: Store) -> State:
    """Read the catalog. Raises StoreError if it cannot be one that we wrote."""
    try:
        state = _load(store)
        wrong = next(what_is_wrong(state), None)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        wrong = f"it has {error!r} where something else belongs"
    if wrong is not None:
        raise StoreError(
            f"the catalog of {store.file.path} was edited: {wrong}. Nothing was changed. Take its "
            "facts and rules from where they came from."
        )
    return state


def _load(store: Store) -> State:
    rule_rows = store.rows(
        "SELECT name, source, prefixes, head, hypernode, strftime(added_at, '%Y-%m-%dT%H:%M:%SZ'),"
        " position, template, predicates FROM zodiac.rule ORDER BY position"
    )
    edges = store.rows("SELECT source, target, negative FROM zodiac.hyperedge")
    members: dict[int, list[str]] = {}
    for name, _, _, _, hypernode, *_ in rule_rows:
        members.setdefault(hypernode, []).append(name)
    hypernodes = store.rows(
        "SELECT id, stratum, recursive, ranked, modules FROM zodiac.hypernode ORDER BY position"
    )
    schema = _load_schema(store)
    trees = _load_trees(store)
    tables = list_tables(store)
    rows = tuple(
        HypernodeRow(
            id=id_, stratum=stratum, recursive=recursive, rules=tuple(members[id_]), ranked=ranked,
            modules=tuple(ModuleRow(**module) for module in modules),
            trees=tuple(trees[name] for name in members[id_] if name in trees),
        )
        for id_, stratum, recursive, ranked, modules in hypernodes
    )  # fmt: skip
    ((next_hypernode, gone, former, windows),) = store.rows(
        "SELECT next_hypernode, (SELECT max(gone) FROM zodiac.feed_state),"
        " (SELECT list(name) FROM zodiac.former_rule), (SELECT count(*) FROM zodiac.fact_window)"
        " FROM zodiac.counter"
    )
    return State(
        sets=_load_sets(store),
        windows=load_windows(store) if windows else (),
        rules=tuple(_rule(row) for row in rule_rows),
        templates=_load_templates(store),
        hypernodes=rows,
        positive=frozenset((a, b) for a, b, negative in edges if not negative),
        negative=frozenset((a, b) for a, b, negative in edges if negative),
        schema=schema,
        prefixes=dict(store.rows("SELECT prefix, iri FROM zodiac.prefix")),
        functions=_load_functions(store),
        rows=load_row_counts(store, tables, rows, schema),
        aside=tuple(table for schema_, table, _ in tables if is_aside(schema_, table)),
        former=tuple(former or ()),
        positions=dict(store.rows("SELECT name, position FROM zodiac.stream")),
        feed=NO_FEED if gone is None else load_feed(store, gone),
        next_hypernode=next_hypernode,
        generation=generation(store),
    )


def _rule(row: tuple[Any, ...]) -> StoredRule:
    name, text, prefixes, head, _, added_at, position, template, predicates = row
    return StoredRule(
        name=name,
        text=as_today(text, prefixes),
        prefixes=tuple(sorted(prefixes.items())),
        head=head,
        added_at=added_at,
        position=position,
        origin=None if template is None else Origin(template, tuple(predicates)),
    )


def _load_templates(store: Store) -> tuple[StoredRule, ...]:
    rows = store.rows(
        "SELECT name, source, prefixes, strftime(added_at, '%Y-%m-%dT%H:%M:%SZ'), position"
        " FROM zodiac.template ORDER BY position"
    )
    return tuple(
        StoredRule(
            name,
            as_today(text, prefixes),
            tuple(sorted(prefixes.items())),
            VARIES,
            added_at,
            position,
        )
        for name, text, prefixes, added_at, position in rows
    )


def _load_sets(store: Store) -> tuple[RuleSet, ...]:
    """The rule sets, with their members in the order in which they came."""
    members: dict[str, list[tuple[str, str]]] = {}
    rows = store.rows("SELECT set_name, label, rule FROM zodiac.rule_member ORDER BY rowid")
    for name, label, rule in rows:
        members.setdefault(name, []).append((label, rule))
    sets = store.rows(
        "SELECT name, source, digest, strftime(changed_at, '%Y-%m-%dT%H:%M:%SZ'), prefixes"
        " FROM zodiac.rule_set ORDER BY rowid"
    )
    return tuple(
        RuleSet(
            name,
            source,
            digest,
            changed_at,
            tuple(sorted(prefixes.items())),
            tuple(members.get(name, ())),
        )
        for name, source, digest, changed_at, prefixes in sets
    )


def generation(store: Store) -> int:
    """How many changes were published to the file, of those that count (save_catalog.py)."""
    return store.count("SELECT generation FROM zodiac.counter")


def _load_schema(store: Store) -> dict[str, Predicate]:
    rows = store.rows(
        "SELECT name, sql_name, columns, types, settled, datatypes, declared"
        " FROM zodiac.predicate ORDER BY name"
    )
    return {
        name: Predicate(
            name,
            sql_name,
            tuple(Column(c, Type(t) if t else None) for c, t in zip(columns, types, strict=True)),
            tuple(Type(t) if t else None for t in settled),
            tuple(datatypes),
            declared,
        )
        for name, sql_name, columns, types, settled, datatypes, declared in rows
    }


def _load_trees(store: Store) -> dict[str, StoredTree]:
    """What was decided for cyclic rules, by their names."""
    rows = store.rows("SELECT rule, why, facts, nodes FROM zodiac.hypertree ORDER BY rule")
    return {
        rule: StoredTree(rule, why, facts, tuple(_node(node) for node in nodes))
        for rule, why, facts, nodes in rows
    }


def _node(node: Mapping[str, object]) -> StoredNode:
    values = {k: tuple(v) if isinstance(v, list) else v for k, v in node.items()}
    return StoredNode(**values)  # type: ignore[arg-type]


def _load_functions(store: Store) -> dict[str, Function]:
    rows = store.rows("SELECT name, aggregate, parameters, returns FROM zodiac.function")
    return {
        name: Function(name, tuple(map(Type, parameters)), Type(returns), aggregate)
        for name, aggregate, parameters, returns in rows
    }


def drop_aside(store: Store, state: State) -> None:
    """Drop the tables that were set aside, inside a transaction.

    Another connection of this process may have done that already.
    """
    from sqlglot import exp

    for name in state.aside:
        table = exp.table_(name, db=DERIVED_SCHEMA, quoted=True)
        store.run(exp.Drop(tables=[table], kind="TABLE", exists=True))


def others_names(store: Store, schema: Mapping[str, Predicate]) -> frozenset[str]:
    """Tables and views of somebody else in schema main, in lower case: their names are taken.

    The view of triples is among them, which makes way for a predicate of its name (triples.py). To
    ask whose it is takes longer than all this, because DuckDB then writes the SQL of all views.
    """
    rows = store.rows(
        "SELECT lower(table_name) FROM duckdb_tables() WHERE schema_name = 'main'"
        " AND database_name = $1 UNION ALL"
        " SELECT lower(view_name) FROM duckdb_views() WHERE schema_name = 'main' AND NOT internal"
        " AND database_name = $1",
        [store.file.name],
    )
    ours = {predicate.sql_name.lower() for predicate in schema.values()}
    return frozenset(name for (name,) in rows if name not in ours)


def changed_meanwhile(store: Store, what: str) -> LockedError:
    """The error for what was computed while another connection has changed the file."""
    return LockedError(
        f"{store.file.path} was changed through another connection while {what}. "
        "Nothing was changed by this one: do it again."
    )
