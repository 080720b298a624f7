"""Replays the change feed, as a reader of it would."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from support.contents import extensions

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

Row = tuple[Any, ...]
Facts = dict[str, set[Row]]

OURS = ("_change_type", "_commit", "_time")


def entries(kb: KnowledgeBase, *predicates: str, since: int | None = None) -> list[Row]:
    """All entries: (number, predicate, kind, row), in the order of changes, what left first."""
    found = []
    for name, batch in kb.changes(*predicates, since=since):
        for row in batch.to_pylist():
            kind, number, _ = (row.pop(key) for key in OURS)
            found.append((number, name, kind, tuple(row.values())))
    return sorted(found, key=lambda one: (one[0], one[2], one[1], repr(one[3])))


def facts(kb: KnowledgeBase) -> Facts:
    """The extensions that are not empty."""
    return {name: set(rows) for name, rows in extensions(kb).items() if rows}


def replayed(before: Facts, entries: list[Row]) -> Facts:
    """Facts after the entries of a feed. Each must do something: none is told twice."""
    now = {name: set(rows) for name, rows in before.items()}
    for _, name, kind, row in entries:
        rows = now.setdefault(name, set())
        assert (row in rows) == (kind == "delete"), (name, kind, row)
        rows.symmetric_difference_update({row})
    return {name: rows for name, rows in now.items() if rows}
