"""A knowledge base described in tables: its rules, predicates and hypernodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from zodiac_sql.change.change import Change
from zodiac_sql.change.report import modules_at_work
from zodiac_sql.database.store import Store
from zodiac_sql.language.schema import Predicate
from zodiac_sql.names import is_external, is_node
from zodiac_sql.program.state import State, hypergraph_of
from zodiac_sql.read.drawing.draw import Before, Drawing
from zodiac_sql.read.query import Answer
from zodiac_sql.sql.relations import Relation
from zodiac_sql.storage.extensions import Sources, count, derived_tables, sources_of


def rules(state: State) -> Answer:
    """name, rule, hypernode, added_at (UTC, ISO)."""
    owner = {name: f"h{row.id}" for row in state.hypernodes for name in row.rules}
    return _answer(
        {
            "name": [rule.name for rule in state.rules],
            "rule": [rule.text for rule in state.rules],
            "hypernode": [owner[rule.name] for rule in state.rules],
            "added_at": [rule.added_at for rule in state.rules],
        }
    )


def predicates(store: Store, state: State) -> Answer:
    """predicate, sql_name, columns, explicit, derived, extension: exact counts of facts."""
    sources = sources_of(state)
    counts = [_counts(store, sources, predicate) for predicate in state.schema.values()]
    known = list(state.schema.values())
    return _answer(
        {
            "predicate": [predicate.name for predicate in known],
            "sql_name": [predicate.sql_name for predicate in known],
            "columns": [
                ", ".join(f"{c.name}: {c.type or 'open'}" for c in predicate.columns)
                for predicate in known
            ],
            "explicit": [explicit for explicit, _, _ in counts],
            "derived": [derived for _, derived, _ in counts],
            "extension": [extension for _, _, extension in counts],
        }
    )


def _counts(store: Store, sources: Sources, predicate: Predicate) -> tuple[int, int, int]:
    name, columns = predicate.name, predicate.columns
    explicit = sum(part.rows for part in sources.explicit.get(name, ()))
    tables = sources.derived.get(name, {}).values()
    parts = tuple(part for table_ in tables for part in table_ if part.rows)
    derived = parts[0].rows if len(parts) == 1 else count(store, Relation(columns, parts))
    if not parts or not explicit:
        return explicit, derived, explicit or derived
    return explicit, derived, count(store, sources.relation(name))


def hypernodes(state: State) -> Answer:
    """hypernode, stratum, recursive, modules, rules, derives, reads, rows, trees, in order of
    evaluation.

    `modules` tells which were at work when the hypernode was last evaluated: "stc(near)"; `trees`
    what was decided for its cyclic rules, and why: "r1: A B C [A C D] (as chosen)".
    """
    graph = hypergraph_of(state)
    rows = {f"h{h}": 0 for h in (row.id for row in state.hypernodes)}
    for predicate, id_, place in derived_tables(state):
        if not is_external(predicate) and not is_node(predicate):
            rows[f"h{id_}"] += state.rows.get(place, 0)
    modules = {row.id: [str(module) for module in row.modules] for row in state.hypernodes}
    trees = {row.id: [tree.told for tree in row.trees] for row in state.hypernodes}
    return _answer(
        {
            "hypernode": [h.name for h in graph.hypernodes],
            "stratum": [h.stratum for h in graph.hypernodes],
            "recursive": [h.recursive for h in graph.hypernodes],
            "modules": [modules[h.id] for h in graph.hypernodes],
            "rules": [[rule.name for rule in h.rules] for h in graph.hypernodes],
            "derives": [list(h.derives) for h in graph.hypernodes],
            "reads": [sorted(h.reads) for h in graph.hypernodes],
            "rows": [rows[h.name] for h in graph.hypernodes],
            "trees": [trees[h.id] for h in graph.hypernodes],
        }
    )


def drawing(state: State, change: Change | None) -> Drawing:
    """The HRDG; of a change, before and after it."""
    if change is None:
        return Drawing(hypergraph_of(state), modules=modules_at_work(state))
    told, rules = change.hypernodes, {h.id: h.rules for h in change.before.hypernodes}
    after = dict.fromkeys(_numbers(told.updated), "updated")
    after |= {n: "changed" for n in after if rules[n] != change.after[n].rules}
    before = {**after, **dict.fromkeys(_numbers(told.dropped), "dropped")}
    after |= dict.fromkeys(_numbers(told.created), "created")
    for old, parts in told.split.items():
        before |= dict.fromkeys(_numbers([old]), "split")
        after |= dict.fromkeys(_numbers(parts), "split")
    for new, olds in told.merged.items():
        before |= dict.fromkeys(_numbers(olds), "merged")
        after |= dict.fromkeys(_numbers([new]), "merged")
    modules, others = change.modules
    return Drawing(change.after, Before(change.before, before, modules), after, others)


def _numbers(names: Iterable[str]) -> list[int]:
    """The numbers of hypernodes by their names."""
    return [int(name.removeprefix("h")) for name in names]


def _answer(columns: dict[str, list[Any]]) -> Answer:
    import pyarrow as pa

    return Answer(pa.table(columns))
