"""What a change of facts tells, for examples that were worked out by hand."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.change import Change


OpenKb = Callable[..., "KnowledgeBase"]
Start = Callable[[str], "KnowledgeBase"]
Facts = set[tuple[Any, ...]]

LEFT = "r(X, Y) :- e(X, Y). r(X, Z) :- r(X, Y), e(Y, Z)."
SQUARE = "r(X, Y) :- e(X, Y). r(X, Z) :- r(X, Y), r(Y, Z)."


@contextmanager
def opened(open_kb: OpenKb, strategy: str) -> Iterator[Start]:
    with open_kb(strategy=strategy) as kb:

        def begin(program: str) -> KnowledgeBase:
            kb.add_rules(program)
            return kb

        yield begin
        assert kb.verify()


def facts(kb: KnowledgeBase, predicate: str) -> Facts:
    return set(kb.table(predicate).fetchall())


def inserted(change: Change, predicate: str) -> Facts:
    return {tuple(row.values()) for row in change.inserted_facts(predicate).to_pylist()}


def deleted(change: Change, predicate: str) -> Facts:
    return {tuple(row.values()) for row in change.deleted_facts(predicate).to_pylist()}


def hypernodes_deriving(kb: KnowledgeBase, predicate: str) -> set[str]:
    rows = kb.hypernodes().arrow().to_pylist()
    return {row["hypernode"] for row in rows if predicate in row["derives"]}


def evaluated(change: Change) -> Collection[str]:
    return change.stats["hypernodes"].keys()


def pairs(*groups: Collection[int]) -> Facts:
    """All pairs of nodes within each group."""
    return {(a, b) for group in groups for a in group for b in group}
