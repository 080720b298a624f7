"""The façade: names, verbs, what a change tells, answers, and what is kept over reopening."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import zodiac_sql
from zodiac_sql import DataError, KnowledgeBase, ProgramError, QueryError, StoreError, ZodiacError

OpenKb = Callable[..., KnowledgeBase]

PATHS = "path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z)."


@pytest.fixture
def kb(open_kb: OpenKb) -> Iterator[KnowledgeBase]:
    with open_kb() as opened:
        yield opened


@pytest.fixture
def graph(kb: KnowledgeBase) -> KnowledgeBase:
    kb.add_rules(PATHS)
    kb.insert("edge", [("a", "b"), ("b", "c")])
    return kb


def rows(table: Any) -> list[tuple[Any, ...]]:
    if isinstance(table, pa.Table):
        return sorted(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return sorted(table.fetchall())


# --- names ----------------------------------------------------------------------------------------


def test_exported_names() -> None:
    """Adding a name here is a decision: others will type it."""
    assert zodiac_sql.__all__ == [
        "BusyError", "DataError", "EvaluationError", "Function", "FunctionError", "KnowledgeBase",
        "LockedError", "MissingFunctionError",
        "MissingFunctionWarning", "NewerFileError", "ProgramError", "PublishedError", "QueryError",
        "ResourceError",
        "SparkError", "StoreError", "StreamError", "StreamUpdate", "UpdateQueue", "ZodiacError",
        "connect",
    ]  # fmt: skip
    assert all(hasattr(zodiac_sql, name) for name in zodiac_sql.__all__)


def test_verbs() -> None:
    """The verbs that users type, each with a docstring."""
    public = {name for name in vars(KnowledgeBase) if not name.startswith("_")}
    assert public >= {
        "add_rules", "drop_rules", "rules", "load", "insert", "delete", "update", "sql", "query",
        "table", "hypernodes", "predicates", "graph", "export", "close", "trace",
        "register_function", "register_aggregate", "missing_functions",
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
        graph.insert("edge", [(1, 2)])
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


# --- rules ----------------------------------------------------------------------------------------


def test_rules_are_named_and_kept_as_written(kb: KnowledgeBase) -> None:
    kb.add_rules("a: p(X) :- q(X) .\np(X):-s(X), % why\n  X != b.\nr2: t(X) <- p(X).")
    table = kb.rules()
    assert table.column_names == ["name", "rule", "hypernode", "added_at"]
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
        with pytest.raises(ProgramError, match="cannot read"):
            kb.add_rules(missing)


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
    with pytest.raises(DataError):
        kb.insert("q", [("text",)])


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


# --- answers --------------------------------------------------------------------------------------


def test_an_answer_in_every_form(graph: KnowledgeBase) -> None:
    answer = graph.sql("SELECT s, o FROM path ORDER BY ALL")
    data = [("a", "b"), ("a", "c"), ("b", "c")]
    assert answer.fetchall() == list(answer) == data
    assert answer.fetchone() == ("a", "b")
    assert len(answer) == answer.num_rows == 3
    assert answer.column_names == ["s", "o"] and answer.schema.names == ["s", "o"]
    assert answer["o"].to_pylist() == answer[1].to_pylist() == ["b", "c", "c"]
    assert answer.to_pydict() == {"s": ["a", "a", "b"], "o": ["b", "c", "c"]}
    assert answer.to_pylist()[0] == {"s": "a", "o": "b"}
    assert answer.arrow().equals(pa.table(answer))
    assert list(answer.df().itertuples(index=False, name=None)) == data
    assert answer.pl().rows() == pl.from_arrow(pa.table(answer)).rows() == data  # type: ignore[union-attr]
    assert duckdb.sql("SELECT * FROM answer ORDER BY ALL").fetchall() == data
    graph.insert("copy", answer)
    assert rows(graph.table("copy")) == data


def test_parameters(graph: KnowledgeBase) -> None:
    assert rows(graph.sql("SELECT o FROM path WHERE s = ?", ["a"])) == [("b",), ("c",)]
    assert graph.sql("SELECT $1 || $2", ["'; --", "x"]).fetchone() == ("'; --x",)
    with pytest.raises(QueryError):
        graph.sql("SELECT ?", [])


def test_an_empty_answer(graph: KnowledgeBase) -> None:
    for answer in (graph.query("path(X, a)"), graph.sql("SELECT * FROM path WHERE s = 'z'")):
        assert answer.fetchone() is None
        assert answer.fetchall() == [] and len(answer) == 0
        assert repr(answer).endswith("0 rows")
        assert "0 rows" in answer._repr_html_()


def test_an_answer_in_a_terminal(graph: KnowledgeBase) -> None:
    shown = repr(graph.sql("SELECT s, o AS \"to\" FROM path WHERE s = 'b'"))
    assert all(word in shown for word in ("s", "to", "b", "c", "1 row"))
    graph.insert("many", [(i, True) for i in range(50)])
    shown = repr(graph.sql("SELECT * FROM many ORDER BY s"))
    assert shown.endswith("50 rows, 20 shown")
    assert " 19 " in shown and " 20 " not in shown.replace("20 shown", "")
    assert "true" in shown


def test_markup_is_text(kb: KnowledgeBase) -> None:
    kb.insert("p", [("[bold]x[/bold] <b>&amp;\"</b><script>alert('1')</script>",)])
    answer = kb.sql('SELECT s AS "<i>[red]" FROM p')
    assert "[bold]x[/bold]" in repr(answer) and "[red]" in repr(answer)
    html = answer._repr_html_()
    assert "&lt;i&gt;[red]" in html and "&lt;script&gt;" in html
    for raw in ("<b>", "<i>", "<script>"):
        assert raw not in html


def test_columns_of_the_same_name(graph: KnowledgeBase) -> None:
    answer = graph.sql("SELECT a.s, b.s FROM edge a JOIN edge b ON a.o = b.s")
    assert answer.fetchall() == [("a", "b")]
    shown = repr(answer).splitlines()
    assert any("a" in line and "b" in line for line in shown[3:-2])
    assert "<td>a</td><td>b</td>" in answer._repr_html_()


def test_goals(graph: KnowledgeBase) -> None:
    assert rows(graph.query("path(a, X)")) == [("b",), ("c",)]
    assert graph.query("path(X, Y), not edge(X, Y)").to_pylist() == [{"X": "a", "Y": "c"}]
    assert graph.query("path(_, X)").column_names == ["X"]
    assert rows(graph.query("path(?x, _)")) == [("a",), ("b",)]  # each solution once
    assert graph.query("path(a, c)").to_pylist() == [{"holds": True}]
    assert graph.query("path(c, a).").fetchall() == []
    answer = graph.query("AGGREGATE(path(X, Y)) ON X WITH COUNT(Y) AS N, N > 1, L = length(X)")
    assert answer.to_pylist() == [{"X": "a", "N": 2, "L": 1}]


def test_goals_with_a_symbol_that_nobody_has_seen(graph: KnowledgeBase) -> None:
    assert graph.query("edge(a, X), BIND(unheard AS Y)").fetchall() == [("b", "unheard")]
    assert graph.query("edge(a, X), X != unheard").fetchall() == [("b",)]
    assert graph.query("edge(unheard, X)").fetchall() == []


def test_goals_over_a_predicate_named_query(kb: KnowledgeBase) -> None:
    kb.insert("query", [("a", 1)])
    assert kb.query("query(X, _)").fetchall() == [("a",)]


@pytest.mark.parametrize(("goals", "error", "said"), [
    ("paths(X, Y)", QueryError, "Did you mean path"),
    ("path(X)", ProgramError, "path is used with 1 column"),
    ("path(X, Y), X > Z", ProgramError, "Z has no value"),
    ("not path(X, Y), Z = X", ProgramError, "X has no value"),
    ("path(X, 1)", ProgramError, "type clash"),
    ("path(X,", ProgramError, "syntax error"),
    ("", ProgramError, "syntax error"),
])  # fmt: skip
def test_goals_that_have_no_answer(
    graph: KnowledgeBase, goals: str, error: type[ZodiacError], said: str
) -> None:
    with pytest.raises(error, match=said):
        graph.query(goals)


def test_tables(graph: KnowledgeBase) -> None:
    assert len(graph.table("path")) == 3
    with pytest.raises(QueryError, match="Did you mean path"):
        graph.table("pat")


# --- text that is none ----------------------------------------------------------------------------

HALF = "a\ud800b"


@pytest.mark.parametrize(
    "use",
    [
        lambda kb: kb.add_rules(f'p("{HALF}").'),
        lambda kb: kb.query(f'edge(X, "{HALF}")'),
        lambda kb: kb.sql(f"SELECT '{HALF}'"),
        lambda kb: kb.sql("SELECT $1", [HALF]),
        lambda kb: kb.insert("edge", [("a", HALF)]),
        lambda kb: kb.insert(HALF, [("a",)]),
        lambda kb: kb.delete("edge", [("a", HALF)]),
        lambda kb: kb.load("x.csv", predicate=HALF),
        lambda kb: list(kb.stream([{"insert": {"edge": [("x", "y")]}}], name=HALF)),
    ],
)
def test_half_a_character(graph: KnowledgeBase, use: Callable[[KnowledgeBase], object]) -> None:
    """A Python string may hold one. It is refused wherever text comes in."""
    with pytest.raises(ZodiacError):
        use(graph)
    assert len(graph.table("edge")) == 2 and len(graph.predicates()) == 2


def test_a_text_full_of_problems(kb: KnowledgeBase) -> None:
    """Neither the time nor the message grows with the square of the text."""
    with pytest.raises(ProgramError) as caught:
        kb.add_rules("p(X) : q(X). " * 2_000 + "p(a\n" * 2_000)
    assert len(caught.value.problems) > 2_000
    assert len(str(caught.value)) < 100_000 and "... and 1,9" in str(caught.value)
