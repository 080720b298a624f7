"""Paths along edges, and updates of the edges."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

from zodiac_sql import KnowledgeBase
from zodiac_sql.change.change import Change

Given = dict[str, Any]

PATHS = "path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z)."


def start(kb: KnowledgeBase) -> None:
    with kb.update() as update:
        update.add_rules(PATHS)
        update.insert("edge", [("a", "b"), ("b", "c")])


def facts(kb: KnowledgeBase, predicate: str) -> set[tuple[Any, ...]]:
    return set(kb.table(predicate))


def edge(*ends: str) -> Given:
    """An update that inserts edges: edge("ab", "bc")."""
    return {"insert": {"edge": [tuple(pair) for pair in ends]}}


def gone(*ends: str) -> Given:
    return {"delete": {"edge": [tuple(pair) for pair in ends]}}


def numbers(changes: Iterable[Change]) -> list[tuple[int, int]]:
    """The first and last update of each change."""
    return [(change.updates[0], change.updates[-1]) for change in changes]


def waiting(change: Change) -> object:
    return change.stats["stream"]["waiting"]


def readers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "zodiac-stream"]
