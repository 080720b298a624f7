"""What is looked at when rules come and go."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from support.contents import described
from support.figure_1 import FIGURE_1

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.change import Change


def names(kb: KnowledgeBase) -> list[str]:
    return [row["name"] for row in kb.rules().to_pylist()]


def texts(kb: KnowledgeBase) -> dict[str, str]:
    return {row["name"]: row["rule"] for row in kb.rules().to_pylist()}


def added_at(kb: KnowledgeBase) -> dict[str, str]:
    return {row["name"]: row["added_at"] for row in kb.rules().to_pylist()}


def predicates(kb: KnowledgeBase) -> dict[str, str]:
    """The columns of each predicate."""
    return {row["predicate"]: row["columns"] for row in kb.predicates().to_pylist()}


def views(kb: KnowledgeBase) -> set[str]:
    return {name for (name,) in kb.sql("SELECT view_name FROM duckdb_views() WHERE NOT internal"
                                       " AND NOT temporary").fetchall()}  # fmt: skip


def idb(kb: KnowledgeBase) -> set[str]:
    """The tables of hypernodes, and those that were set aside."""
    found = kb.sql("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'idb'")
    return {name for (name,) in found.fetchall()}


def aside(kb: KnowledgeBase) -> set[str]:
    return {name for name in idb(kb) if name.startswith("zodiac$aside_")}


def on_file(kb: KnowledgeBase) -> tuple[object, ...]:
    """Every table and view, and everything that can be asked."""
    tables = kb.sql(
        "SELECT schema_name, table_name FROM duckdb_tables()"
        " WHERE NOT temporary AND database_name = current_database() ORDER BY ALL"
    ).fetchall()
    shown = kb.sql("SELECT view_name, sql FROM duckdb_views() WHERE NOT internal ORDER BY ALL")
    rows = {
        (schema, name): sorted(kb.sql(f'SELECT * FROM {schema}."{name}"').fetchall(), key=repr)
        for schema, name in tables
    }
    return rows, shown.fetchall(), described(kb)


def moved(change: Change) -> dict[str, object]:
    """What became of hypernodes, but for those that are untouched."""
    told = {one.name: getattr(change.hypernodes, one.name) for one in fields(change.hypernodes)}
    return {name: value for name, value in told.items() if value and name != "untouched"}


def untouched(kb: KnowledgeBase, change: Change) -> bool:
    """Whether nothing happened at all."""
    every = {row["hypernode"] for row in kb.hypernodes().to_pylist()}
    return not change and not moved(change) and set(change.hypernodes.untouched) == every


def gone(change: Change, predicate: str) -> set[tuple[Any, ...]]:
    return {tuple(row.values()) for row in change.deleted_facts(predicate).to_pylist()}


def come(change: Change, predicate: str) -> set[tuple[Any, ...]]:
    return {tuple(row.values()) for row in change.inserted_facts(predicate).to_pylist()}


PATHS = """\
base: path(X, Y) :- edge(X, Y).
step: path(X, Z) :- path(X, Y), edge(Y, Z).
ends(X) :- path(_, X), not edge(X, _).
"""
EDGES = [("a", "b"), ("b", "c"), ("c", "d")]


def set_back(kb: KnowledgeBase) -> None:
    """Let all rules be there for a while."""
    rules = tuple(replace(one, added_at="2020-02-02T02:02:02Z") for one in kb._session.state.rules)
    kb._session.state = replace(kb._session.state, rules=rules)
    kb._session.store.run("UPDATE zodiac.rule SET added_at = '2020-02-02 02:02:02'")


SAFE = FIGURE_1.replace("p6(Y, Z)", "p0(X, Y), p6(Y, Z)")
FACTS = {
    "p0": [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")],
    "p4": [("c", "d"), ("d", "e"), ("a", "b")],
    "p6": [("c", "x"), ("d", "y")],
}


def fill(kb: KnowledgeBase, rules: str) -> None:
    with kb.update() as update:
        update.add_rules(rules)
        for predicate, rows in FACTS.items():
            update.insert(predicate, rows)


def shown(kb: KnowledgeBase) -> tuple[object, ...]:
    """All but the order of rules and the numbers of hypernodes."""
    hypernodes = kb.hypernodes().to_pylist()
    hypernodes = [{**row, "hypernode": "", "rules": sorted(row["rules"]),
                   "derives": sorted(row["derives"])} for row in hypernodes]  # fmt: skip
    return (
        described(kb)[0],
        sorted(map(str, kb.predicates().to_pylist())),
        sorted(map(str, hypernodes)),
    )


CHAIN = "a: p(X, Y) :- e(X, Y). b: q(X, Y) :- p(Y, X). c: r(X, Y) :- q(X, Y). s(X) :- r(X, a)."
