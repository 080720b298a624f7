"""Rules that close relations, facts for them, and all that is seen of the result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import zodiac_sql
from zodiac_sql import KnowledgeBase
from zodiac_sql.change.change import Change

Rows = set[tuple[Any, ...]]

TURN, JOIN = "turn: near(X, Y) :- near(Y, X). ", "join: near(X, Z) :- near(X, Y), near(Y, Z). "
UNEQUAL = "join: near(X, Z) :- near(X, Y), near(Y, Z), X != Z. "
NEAR = TURN + JOIN
FED = NEAR + "feed: link(X, Y) :- near(X, Y), strong(X). back: near(X, Y) :- link(X, Y). "
PATH = "copy: path(X, Y) :- edge(X, Y). trans: path(X, Z) :- path(X, Y), path(Y, Z). "
RIGHT = "copy: path(X, Y) :- edge(X, Y). trans: path(X, Z) :- edge(X, Y), path(Y, Z). "
LEFT = "copy: path(X, Y) :- edge(X, Y). trans: path(X, Z) :- path(X, Y), edge(Y, Z). "
PATH_FED = PATH + "hop: trail(X, Y) :- path(X, Y). home: path(X, Z) :- trail(X, Y), leap(Y, Z). "
ABOVE = (
    "far(X, Y) :- pair(X, Y), not near(X, Y). "
    "number(X, N) :- AGGREGATE(near(X, Y)) ON X WITH COUNT(Y) AS N. "
)

FACTS: dict[str, list[tuple[Any, ...]]] = {
    "near": [("a", "b"), ("b", "c"), ("d", "e"), ("f", "f")],
    "link": [("g", "h")],
    "strong": [("a",), ("g",)],
    "pair": [("a", "c"), ("a", "d"), ("f", "f"), ("z", "z")],
    "edge": [("a", "b"), ("b", "c"), ("x", "y")],
    "leap": [("c", "x"), ("y", "a")],
}


def fill(kb: KnowledgeBase, rules: str) -> None:
    with kb.update() as update:
        update.add_rules(rules)
        for predicate, rows in FACTS.items():
            update.insert(predicate, rows)


def open_with(modules: bool, path: str | Path = ":memory:", **more: Any) -> KnowledgeBase:
    """`open_kb` of conftest.py does not choose whether there are modules."""
    return zodiac_sql.connect(path, modules=modules, **more)


def square(text: str) -> Rows:
    return {(a, b) for a in text for b in text}


NEAR_ROWS = square("abc") | square("de") | square("f")


def shown(table: Any) -> Rows:
    rows = [tuple(row.values()) for row in table.to_pylist()]
    assert len(rows) == len(set(rows))
    return set(rows)


def modules_of(kb: KnowledgeBase) -> list[str]:
    return [name for row in kb.hypernodes().to_pylist() for name in row["modules"]]


def in_idb(kb: KnowledgeBase) -> tuple[list[str], list[str]]:
    """The tables, but those set aside, and the views of what is derived."""
    tables = kb.sql(
        "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'idb'"
        " AND NOT starts_with(table_name, 'zodiac$aside_') ORDER BY ALL"
    )
    views = kb.sql("SELECT view_name FROM duckdb_views() WHERE schema_name = 'idb' ORDER BY ALL")
    return [name for (name,) in tables.fetchall()], [name for (name,) in views.fetchall()]


def everything(kb: KnowledgeBase) -> object:
    """All that is in the file."""
    tables = kb.sql(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT temporary UNION ALL"
        " SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal AND NOT temporary"
        " ORDER BY ALL"
    ).fetchall()
    return [
        (name, sorted(map(str, kb.sql(f'FROM "{name[0]}"."{name[1]}"').fetchall())))
        for name in tables
    ]


def extensions(kb: KnowledgeBase) -> dict[str, Rows]:
    names = kb.predicates()["predicate"].to_pylist()
    return {name: set(kb.table(name).fetchall()) for name in names}


def facts_told(change: Change) -> tuple[dict[str, Rows], dict[str, Rows]]:
    inserted = {name: shown(change.inserted_facts(name)) for name in change.inserted}
    deleted = {name: shown(change.deleted_facts(name)) for name in change.deleted}
    for counts, facts in ((change.inserted, inserted), (change.deleted, deleted)):
        assert counts == {name: len(rows) for name, rows in facts.items()}
    return inserted, deleted


def differences(
    before: dict[str, Rows], after: dict[str, Rows]
) -> tuple[dict[str, Rows], dict[str, Rows]]:
    names = before.keys() | after.keys()
    came = {name: after.get(name, set()) - before.get(name, set()) for name in names}
    went = {name: before.get(name, set()) - after.get(name, set()) for name in names}
    return ({n: rows for n, rows in came.items() if rows}, {n: r for n, r in went.items() if r})
