"""A preview tells what an update would do, and does nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zodiac_sql.errors import DataError, QueryError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

RULES = "path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z)."


@pytest.fixture
def file(tmp_path: Path, open_kb: OpenKb) -> Path:
    path = tmp_path / "paths.duckdb"
    with open_kb(path) as kb:
        kb.insert("edge", [("a", "b"), ("b", "c")])
        kb.add_rules(RULES)
    return path


def _everything(kb: KnowledgeBase) -> list[object]:
    queries = (
        "SELECT * FROM zodiac.rule ORDER BY ALL",
        "SELECT * FROM zodiac.predicate ORDER BY ALL",
        "SELECT * FROM zodiac.symbol ORDER BY ALL",
        "SELECT * FROM zodiac.counter",
        "SELECT * FROM edge ORDER BY ALL",
        "SELECT * FROM path ORDER BY ALL",
    )
    return [kb.sql(query).fetchall() for query in queries]


def test_facts_that_would_come_and_go(file: Path, open_kb: OpenKb) -> None:
    with open_kb(file) as kb:
        before = _everything(kb)
        with kb.preview() as preview:
            preview.delete("edge", [("b", "c")])
            preview.insert("edge", [("b", "d")])
        change = preview.change
        assert change.deleted == {"edge": 1, "path": 2}
        assert change.inserted == {"edge": 1, "path": 2}
        gained = change.inserted_facts("path").to_pylist()
        assert sorted(row["o"] for row in gained) == ["d", "d"]
        assert _everything(kb) == before
        assert kb.verify()


def test_rules_that_would_come(file: Path, open_kb: OpenKb) -> None:
    with open_kb(file) as kb:
        before = _everything(kb)
        with kb.preview() as preview:
            preview.add_rules("back(Y, X) :- path(X, Y). back(new, new2).")
        assert preview.change.inserted == {"back": 4}
        facts = preview.change.inserted_facts("back").to_pylist()
        assert {"s": "new", "o": "new2"} in facts and {"s": "c", "o": "a"} in facts
        assert _everything(kb) == before
        with pytest.raises(QueryError):
            kb.table("back")


def test_what_was_previewed_can_be_done(file: Path, open_kb: OpenKb) -> None:
    with open_kb(file) as kb:
        for verb in (kb.preview, kb.update, kb.preview):
            with verb() as update:
                update.insert("edge", [("c", "a")])
            expected = {} if update.change.inserted == {} else {"edge": 1, "path": 6}
            assert update.change.inserted == expected
        assert kb.table("path").arrow().num_rows == 9
        assert kb.verify()


def test_facts_of_a_preview_are_kept_until_the_next(file: Path, open_kb: OpenKb) -> None:
    with open_kb(file) as kb:
        with kb.preview() as first:
            first.insert("edge", [("c", "d")])
        with kb.preview() as second:
            second.insert("edge", [("x", "y")])
        assert second.change.inserted_facts("path").num_rows == 1
        with pytest.raises(QueryError, match="until the next change"):
            first.change.inserted_facts("path")


def test_a_preview_that_fails_changes_nothing(file: Path, open_kb: OpenKb) -> None:
    with open_kb(file) as kb:
        before = _everything(kb)
        with pytest.raises(DataError), kb.preview() as preview:
            preview.insert("edge", [("only one",)])
        assert _everything(kb) == before
        assert not kb.insert("edge", [("a", "b")])
