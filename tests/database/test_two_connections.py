"""Two knowledge bases of one process on one file: each sees what the other has published."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zodiac_sql import connect
from zodiac_sql.errors import LockedError, QueryError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]
Two = tuple["KnowledgeBase", "KnowledgeBase"]


@pytest.fixture
def two(open_kb: OpenKb, tmp_path: Path) -> Iterator[Two]:
    with ExitStack() as stack:
        first, second = (stack.enter_context(open_kb(tmp_path / "two.duckdb")) for _ in "ab")
        yield first, second


def test_a_rule_that_the_other_replaced(two: Two) -> None:
    first, second = two
    first.add_rules("r1: p(X, Y) :- p(X, Z), e(Z, Y). r2: p(Y, X) :- p(X, Y), g(X).")
    for predicate, row in (("e", "uv"), ("g", "b"), ("p", "ab"), ("p", "cd")):
        first.insert(predicate, [tuple(row)])
    second.add_rules("r2: p(X, X) :- p(X, Y), g(X).", replace=True)
    first.insert("p", [("b", "z")])
    assert set(first.table("p")) >= {("b", "z"), ("b", "b")} and ("z", "b") not in first.table("p")
    assert first.verify()


def test_closing_leaves_what_the_other_set_aside(two: Two) -> None:
    first, second = two
    first.add_rules("r1: q(X) :- p(X). r2: q(X) :- s(X).")
    first.insert("p", [("a",), ("b",)])
    first.insert("s", [("a",)])
    second.drop_rules("r2")
    change = first.drop_rules("r1")
    second.close()
    assert change.deleted == {"q": 2}
    first.insert("p", [("zz",)])


def test_what_cannot_be_counted_any_more_stands_in_nobodys_way(two: Two) -> None:
    first, second = two
    first.add_rules("r1: q(X) :- p(X). r2: q(X) :- s(X).")
    first.insert("p", [("a",), ("b",)])
    first.insert("s", [("a",)])
    change = first.drop_rules("r1")
    second.insert("s", [("c",)])
    first.insert("s", [("d",)])
    assert "inserted" in repr(change)
    with pytest.raises(QueryError, match="until the next change"):
        _ = change.deleted
    assert first.verify()


def test_a_hard_link_to_an_open_file(tmp_path: Path) -> None:
    """DuckDB would open the file a second time, with a log beside each name, and lose changes."""
    file, link = tmp_path / "a.duckdb", tmp_path / "b.duckdb"
    with connect(file) as kb:
        kb.insert("p", [("a",)])
    os.link(file, link)
    with connect(file) as kb:
        with pytest.raises(LockedError, match=r"which is the same file by a hard link"):
            connect(link)
        kb.insert("p", [("b",)])
    with connect(link) as kb:
        assert sorted(kb.table("p").fetchall()) == [("a",), ("b",)]
