"""The façade: names, verbs, and what a change tells."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.paths import PATHS, rows

import zodiac_sql
from zodiac_sql import DataError, KnowledgeBase, QueryError, StoreError, ZodiacError

# --- names ----------------------------------------------------------------------------------------


def test_exported_names() -> None:
    """Adding a name here is a decision: others will type it."""
    assert zodiac_sql.__all__ == [
        "BusyError", "ConstraintError", "DataError", "EvaluationError", "Function", "FunctionError",
        "KnowledgeBase", "LimitError", "LockedError", "MissingFunctionError",
        "MissingFunctionWarning", "MissingLogWarning", "NewerFileError",
        "OtherMeaningWarning", "OtherTableWarning", "ProgramError", "PublishedError", "QueryError",
        "Reader", "ResourceError", "Server", "SparkError", "StoreError", "StreamError",
        "StreamUpdate", "UnsettledError", "UpdateQueue", "ZodiacError", "connect", "read_ontology",
    ]  # fmt: skip
    assert all(hasattr(zodiac_sql, name) for name in zodiac_sql.__all__)


def test_verbs() -> None:
    """The verbs that users type, each with a docstring."""
    public = {name for name in dir(KnowledgeBase) if not name.startswith("_")}
    assert public >= {
        "add_rules", "drop_rules", "rules", "load", "insert", "delete", "update", "sql", "query",
        "keep_feed", "changes", "feed", "alter", "compact",
        "replace_rules", "load_ontology", "inconsistencies", "rule_sets", "explain", "profile",
        "table", "hypernodes", "predicates", "graph", "export", "close", "trace",
        "register_function", "register_aggregate", "missing_functions", "prefixes",
    }  # fmt: skip
    assert all(getattr(KnowledgeBase, name).__doc__ for name in public)


def test_one_root_for_all_errors() -> None:
    errors = [getattr(zodiac_sql, name) for name in zodiac_sql.__all__ if name.endswith("Error")]
    assert all(issubclass(error, ZodiacError) for error in errors)


def test_repr(graph: KnowledgeBase) -> None:
    assert repr(graph) == "<zodiac_sql :memory:: 2 rules, 2 predicates>"


# --- changes --------------------------------------------------------------------------------------


def test_what_a_change_tells(graph: KnowledgeBase) -> None:
    change = graph.insert("edge", [("c", "d")])
    assert change.inserted == {"edge": 1, "path": 3} and change.deleted == {}
    assert rows(change.inserted_facts("path")) == [("a", "d"), ("b", "d"), ("c", "d")]
    assert rows(change.inserted_facts("edge")) == [("c", "d")]
    assert change.inserted_facts("edge").column_names == ["s", "o"]
    assert rows(change.deleted_facts("path")) == []
    assert change.hypernodes.created == change.hypernodes.dropped == ()
    assert change.hypernodes.updated == ("h1", "h2")
    assert set(change.stats["seconds"]) == {"stage", "check", "reason", "compare", "publish"}
    assert set(change.stats["hypernodes"]) == {"h1", "h2"}
    assert 0 < change.seconds < 60
    assert change


def test_what_a_deletion_tells(graph: KnowledgeBase) -> None:
    change = graph.delete("edge", [("b", "c"), ("x", "y")])
    assert change.inserted == {} and change.deleted == {"edge": 1, "path": 2}
    assert rows(change.deleted_facts("path")) == [("a", "c"), ("b", "c")]
    assert rows(change.inserted_facts("path")) == []


def test_facts_that_leave_and_enter_at_once(graph: KnowledgeBase) -> None:
    with graph.update() as update:
        update.delete("edge", [("b", "c"), ("a", "b")])
        update.insert("edge", [("a", "b"), ("c", "b")])
    change = update.change
    assert change.inserted == {"edge": 1, "path": 1}
    assert change.deleted == {"edge": 1, "path": 2}
    assert rows(change.inserted_facts("path")) == [("c", "b")]


def test_rules_that_come_and_go(graph: KnowledgeBase) -> None:
    change = graph.add_rules("back(X, Y) :- path(Y, X). loop() :- path(X, X).")
    assert change.inserted == {"back": 3}
    assert change.hypernodes.created == ("h3", "h4")
    assert change.hypernodes.untouched == ("h1", "h2")
    change = graph.drop_rules("r2", "r4")
    assert change.deleted == {"path": 1, "back": 1}
    assert change.hypernodes.dropped == ("h2", "h4")
    assert rows(change.deleted_facts("back")) == [("c", "a")]


def test_facts_of_a_change_are_kept_until_the_next(graph: KnowledgeBase) -> None:
    first = graph.insert("edge", [("c", "d")])
    graph.query("path(X, Y)")
    assert first.inserted_facts("path").num_rows == 3
    graph.insert("edge", [("d", "e")])
    for facts in (first.inserted_facts, first.deleted_facts):
        with pytest.raises(QueryError, match="until the next change"):
            facts("path")


def test_facts_of_a_change_after_a_refused_one(graph: KnowledgeBase) -> None:
    """Either still there, or refused in the same words."""
    change = graph.insert("edge", [("c", "d")])
    with pytest.raises(DataError):
        graph.insert("edge", [("a",)])
    try:
        assert change.inserted_facts("path").num_rows == 3
    except QueryError as error:
        assert "until the next change" in str(error)


def test_facts_of_an_unknown_predicate(graph: KnowledgeBase) -> None:
    change = graph.insert("edge", [("c", "d")])
    with pytest.raises(QueryError, match="no predicate nothing"):
        change.inserted_facts("nothing")


def test_facts_of_a_predicate_that_is_gone(graph: KnowledgeBase) -> None:
    graph.insert("alone", [(1,)])
    change = graph.delete("alone", [(1,)])
    assert change.deleted == {"alone": 1}
    assert rows(change.deleted_facts("alone")) == [(1,)]
    with pytest.raises(QueryError):
        graph.table("alone")


def test_inserting_what_is_there(graph: KnowledgeBase) -> None:
    change = graph.insert("edge", [("a", "b"), ("a", "b")])
    assert not change
    assert (change.inserted, change.deleted) == ({}, {})
    assert change.hypernodes.untouched == ("h1", "h2") and not change.hypernodes.updated


def test_deleting_what_is_only_derived(graph: KnowledgeBase) -> None:
    assert not graph.delete("path", [("a", "c")])
    assert not graph.delete("nothing", [("a", "c")])
    assert ("a", "c") in graph.table("path").fetchall()


def test_explicit_and_derived(graph: KnowledgeBase) -> None:
    assert not graph.insert("path", [("a", "c")])  # the extension holds it already
    assert graph.delete("edge", [("b", "c")]).deleted == {"edge": 1, "path": 1}
    assert graph.delete("path", [("a", "c")]).deleted == {"path": 1}


def test_several_verbs_are_one_change(kb: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "more.csv").write_text("from,to\nc,d\n", encoding="utf-8")
    with kb.update() as update:
        update.insert("edge", [("a", "b")])
        update.add_rules(PATHS)
        update.load(tmp_path / "more.csv", "edge")
        update.insert("edge", pa.table({"s": ["b"], "o": ["c"]}))
        update.delete("edge", [("x", "y")])
        with pytest.raises(QueryError, match="when its with block has ended"):
            update.change  # noqa: B018
        assert len(kb.rules()) == 0
    assert update.change.inserted == {"edge": 3, "path": 6}


def test_no_update_inside_another(kb: KnowledgeBase) -> None:
    with kb.update() as update:
        update.insert("p", [(1,)])
        with pytest.raises(StoreError, match="under way"):
            kb.insert("p", [(2,)])
        with pytest.raises(StoreError, match="under way"), kb.update():
            pass
    assert kb.table("p").fetchall() == [(1,)]
    assert kb.insert("p", [(2,)])


def test_an_empty_update(kb: KnowledgeBase) -> None:
    with kb.update() as update:
        pass
    assert not update.change


def test_progress_names_the_hypernodes(graph: KnowledgeBase) -> None:
    seen: list[tuple[str, int, int]] = []
    graph.add_rules("p(X) :- path(X, _). q(X) :- p(X).", progress=lambda *step: seen.append(step))
    assert seen == [("h3", 0, 2), ("h4", 1, 2)]  # of those affected


@pytest.mark.parametrize("make", [
    lambda data: list(data),
    lambda data: pa.table({"s": [a for a, _ in data], "o": [b for _, b in data]}),
    lambda data: pa.table({"o": [b for _, b in data], "s": [a for a, _ in data]}),
    lambda data: pd.DataFrame(data, columns=["s", "o"]),
    lambda data: pl.DataFrame({"s": [a for a, _ in data], "o": [b for _, b in data]}),
    lambda data: pa.table({"s": [a for a, _ in data], "o": [b for _, b in data]}).to_reader(),
    lambda data: duckdb.sql("SELECT 'a' AS s, 'b' AS o UNION ALL SELECT 'b', 'c'"),
], ids=["tuples", "arrow", "by name", "pandas", "polars", "stream", "relation"])  # fmt: skip
def test_rows_in_every_form(kb: KnowledgeBase, make: Callable[[Any], Any]) -> None:
    kb.add_rules(PATHS)
    data = [("a", "b"), ("b", "c")]
    assert kb.insert("edge", make(data)).inserted == {"edge": 2, "path": 3}
    assert kb.delete("edge", make(data)).deleted == {"edge": 2, "path": 3}
