"""The façade: rules, predicates, hypernodes and prefixes, and what is kept over reopening."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from support.paths import PATHS, rows

import zodiac_sql
from zodiac_sql import KnowledgeBase, ProgramError, QueryError

OpenKb = Callable[..., KnowledgeBase]


# --- rules ----------------------------------------------------------------------------------------


def test_rules_are_named_and_kept_as_written(kb: KnowledgeBase) -> None:
    kb.add_rules("a: p(X) :- q(X) .\np(X):-s(X), % why\n  X != b.\nr2: t(X) <- p(X).")
    table = kb.rules()
    assert table.column_names == ["name", "rule", "hypernode", "added_at", "sets"]
    assert [row[:3] for row in table] == [
        ("a", "p(X) :- q(X) .", "h1"),
        ("r1", "p(X):-s(X), % why\n  X != b.", "h2"),
        ("r2", "t(X) <- p(X).", "h3"),
    ]
    for stamp in table["added_at"].to_pylist():
        added = dt.datetime.strptime(stamp, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=dt.UTC)
        assert abs((dt.datetime.now(dt.UTC) - added).total_seconds()) < 60


@pytest.mark.parametrize("separator", ["\u2028", "\u0085", "\x0c", "\x0b", "\x1c", "\r"])
def test_what_python_calls_a_line_is_not_one_here(
    open_kb: OpenKb, tmp_path: Path, separator: str
) -> None:
    """A rule is stored as written wherever such characters stand in its text, or before it."""
    first, second = f'p(X) :- q(X), X != "a{separator}b".', "r(X) :- p(X)."
    with open_kb(tmp_path / "lines.duckdb") as kb:
        kb.add_rules(f"% a comment{separator}\na: {first}\nb: {second}")
        assert kb.rules()["rule"].to_pylist() == [first, second]
    with open_kb(tmp_path / "lines.duckdb") as kb:
        assert kb.insert("q", [("c",)]).inserted == {"q": 1, "p": 1, "r": 1}


def test_the_same_name_twice(graph: KnowledgeBase) -> None:
    with pytest.raises(ProgramError, match="already a rule named r1"):
        graph.add_rules("r1: q(X) :- edge(X, _).")
    with pytest.raises(ProgramError, match="already a rule named n"):
        graph.add_rules("n: q(X) :- edge(X, _). n: q(X) :- edge(_, X).")
    assert len(graph.rules()) == 2


def test_the_same_rule_again_changes_nothing(graph: KnowledgeBase) -> None:
    before = graph.rules().fetchall()
    change = graph.add_rules("path(X, Y) :- edge(X, Y).")
    assert not change and not change.hypernodes.created
    graph.add_rules("r2: path(X, Z) :- path(X, Y),   edge(Y, Z) .")
    graph.add_rules(PATHS)
    assert graph.rules().fetchall() == before


def test_the_same_rule_with_anonymous_variables(kb: KnowledgeBase) -> None:
    kb.add_rules("a(X) :- q(X, _). b(X) :- q(_, X).")
    kb.add_rules("b(X) :- q(_, X).")
    assert len(kb.rules()) == 2


def test_a_dropped_name_can_be_used_in_the_same_update(graph: KnowledgeBase) -> None:
    with graph.update() as update:
        update.drop_rules("r2")
        update.add_rules("r2: path(X, Y) :- edge(Y, X).")
    assert update.change.inserted == {"path": 2} and update.change.deleted == {"path": 1}


def test_a_rule_that_changes_the_type_of_its_predicate(kb: KnowledgeBase) -> None:
    """The first symbol has the id 1, and yet is not the number 1."""
    kb.add_rules("a: p(X) :- q(X).  b: r(X) :- p(X).")
    kb.insert("q", [("first",)])
    kb.insert("n", [(1,)])
    with kb.update() as update:
        update.drop_rules("a")
        update.add_rules("p(X) :- n(X).")
    assert kb.table("r").fetchall() == [(1,)]
    assert update.change.inserted == update.change.deleted == {"p": 1, "r": 1}
    assert rows(update.change.deleted_facts("p")) == [("first",)]
    assert rows(update.change.inserted_facts("r")) == [(1,)]


def test_a_deletion_of_what_is_not_there_settles_nothing(kb: KnowledgeBase) -> None:
    kb.add_rules("p(X) :- q(X).")
    assert not kb.delete("q", [("text",)])
    assert kb.insert("q", [(1,)]).inserted == {"q": 1, "p": 1}


def test_dropping_an_unknown_rule(graph: KnowledgeBase) -> None:
    with pytest.raises(QueryError, match=r"no rule named r9.*r2"):
        graph.drop_rules("r1", "r9", strict=True)
    assert len(graph.rules()) == 2
    assert graph.drop_rules("r9").notes == ("there is no rule named r9",)


def test_dropping_all_rules(graph: KnowledgeBase) -> None:
    assert graph.drop_rules("r1", "r2").deleted == {"path": 3}
    assert len(graph.rules()) == len(graph.hypernodes()) == 0
    assert graph.predicates()["predicate"].to_pylist() == ["edge"]
    graph.add_rules(PATHS)
    assert len(graph.table("path")) == 3
    assert graph.rules()["hypernode"].to_pylist() == ["h3", "h4"]  # numbers are not used again


def test_rules_from_files(kb: KnowledgeBase, tmp_path: Path) -> None:
    file = tmp_path / "paths.rules"
    file.write_text(PATHS + " edge(a, b).", encoding="utf-8")
    assert kb.add_rules(file).inserted == {"edge": 1, "path": 1}
    assert not kb.add_rules(str(file))
    for missing in (tmp_path / "none.rules", str(tmp_path / "none.dl"), "a\0b.rules"):
        with pytest.raises(ProgramError, match="cannot read|no path"):
            kb.add_rules(missing)


@pytest.mark.parametrize("verb", ["add_rules", "drop_rules"])
def test_a_list_of_rules_is_refused_with_the_way_out(open_kb: OpenKb, verb: str) -> None:
    with open_kb() as kb, pytest.raises(TypeError, match="not a list: of several texts make one"):
        getattr(kb, verb)(["p(X) :- q(X)."])


def test_a_text_that_ends_like_a_file_name(kb: KnowledgeBase) -> None:
    kb.add_rules("p(X) :- q(X). % see farm.rules")
    assert len(kb.rules()) == 1


# --- predicates and hypernodes --------------------------------------------------------------------


def test_predicates(graph: KnowledgeBase) -> None:
    graph.insert("path", [("a", "b"), ("x", "y")])
    graph.add_rules(".decl level(turbine: symbol, celsius: float)\nhot() :- level(X, T), T > 30.")
    graph.add_rules("new(X) :- old(X).")
    found = graph.predicates()
    assert found.column_names == [
        "predicate", "sql_name", "columns", "explicit", "derived", "extension"
    ]  # fmt: skip
    assert sorted(found) == [
        ("edge", "edge", "s: symbol, o: symbol", 2, 0, 2),
        ("hot", "hot", "", 0, 0, 0),
        ("level", "level", "turbine: symbol, celsius: float", 0, 0, 0),
        ("new", "new", "s: open", 0, 0, 0),
        ("old", "old", "s: open", 0, 0, 0),
        ("path", "path", "s: symbol, o: symbol", 2, 3, 4),
    ]


def test_hypernodes(graph: KnowledgeBase) -> None:
    graph.add_rules("far(X, Y) :- path(X, Y), not edge(X, Y).  n(N) :- AGGREGATE(far(X, Y)) "
                    "WITH COUNT(X) AS N.")  # fmt: skip
    found = graph.hypernodes()
    assert found.column_names == [
        "hypernode", "stratum", "recursive", "modules", "rules", "derives", "reads", "rows", "trees"
    ]  # fmt: skip
    assert found.fetchall() == [
        ("h1", 0, False, [], ["r1"], ["path"], ["edge"], 2, []),
        ("h2", 0, True, [], ["r2"], ["path"], ["edge", "path"], 1, []),
        ("h3", 0, False, [], ["r3"], ["far"], ["edge", "path"], 1, []),
        ("h4", 1, False, [], ["r4"], ["n"], ["far"], 1, []),
    ]


def test_open_types(kb: KnowledgeBase) -> None:
    kb.add_rules("p(X) :- q(X). r(X, Y) :- q(X), s(Y). n(N) :- AGGREGATE(q(X)) WITH COUNT(X) AS N.")
    assert kb.table("p").fetchall() == kb.query("r(X, Y)").fetchall() == []
    assert kb.sql("SELECT * FROM r").fetchall() == []
    assert kb.insert("q", [(1,), (2,)]).inserted == {"q": 2, "p": 2, "n": 1}
    assert kb.insert("s", [("a",)]).inserted == {"s": 1, "r": 2}
    assert rows(kb.query("r(X, Y), X > 1")) == [(2, "a")]
    change = kb.insert("q", [("text",)])
    assert "q: column s was int, and becomes any: there is a text" in change.notes
    assert rows(kb.query("r(X, Y), X > 1")) == [
        ('"2"^^<http://www.w3.org/2001/XMLSchema#integer>', "a")
    ]


def test_declarations(kb: KnowledgeBase) -> None:
    kb.add_rules(".decl level(turbine: symbol, celsius: float)")
    kb.insert("level", [("wt1", 3)])
    assert kb.table("level").to_pylist() == [{"turbine": "wt1", "celsius": 3.0}]
    with pytest.raises(ProgramError, match="has facts already"):
        kb.add_rules(".decl level(turbine: symbol, celsius: int)")
    kb.add_rules(".decl level(turbine: symbol, celsius: float)")  # the same again
    kb.delete("level", [("wt1", 3)])
    assert kb.predicates()["columns"].to_pylist() == ["turbine: symbol, celsius: float"]


# --- prefixes -------------------------------------------------------------------------------------


def test_prefixes_are_kept(open_kb: OpenKb, tmp_path: Path) -> None:
    file = tmp_path / "prefixes.duckdb"
    with open_kb(file) as kb:
        kb.add_rules("@prefix ex: <http://example.org/> .\nex:p(X) :- ex:q(X), X != ex:a.")
    with open_kb(file) as kb:
        kb.insert("ex:q", [("http://example.org/a",), ("http://example.org/b",)])
        assert kb.query("ex:p(X)").fetchall() == [("http://example.org/b",)]
        for name in ("ex:p", "<http://example.org/p>", "http://example.org/p", "p"):
            assert len(kb.table(name)) == 1
        kb.add_rules("ex:r(X) :- ex:p(X).")
        assert len(kb.table("ex:r")) == 1


def test_a_rule_keeps_the_prefix_it_was_written_with(open_kb: OpenKb, tmp_path: Path) -> None:
    file = tmp_path / "prefixes.duckdb"
    with open_kb(file) as kb:
        kb.add_rules("@prefix ex: <http://one/> .\nex:p(X) :- q(X).")
        kb.add_rules("@prefix ex: <http://two/> .\nex:p(X) :- q(X), X != a.")
    with open_kb(file) as kb:
        kb.insert("q", [("a",), ("b",)])
        assert len(kb.table("<http://one/p>")) == 2
        assert kb.table("ex:p").fetchall() == [("b",)]


def test_a_head_that_was_kept_without_its_opening_parenthesis(tmp_path: Path) -> None:
    """Versions until November 2026 kept `(p(X)) :- q(X)` so, and could not read it any more."""
    file = tmp_path / "old.duckdb"
    with zodiac_sql.connect(file) as kb:
        kb.add_rules('r1: (p(X)) :- q(X), X != "((".')
        kb.insert("q", [("a",)])
    with duckdb.connect(str(file)) as connection:
        connection.execute("UPDATE zodiac.rule SET source = 'p(X)) :- q(X), X != \"((\".'")
    with zodiac_sql.connect(file) as kb:
        assert kb.insert("q", [("b",)]).inserted == {"p": 1, "q": 1}
        assert kb.verify()
        assert kb.drop_rules("r1").deleted == {"p": 2}
