"""The façade: answers in every form, and text that is none."""

from __future__ import annotations

from collections.abc import Callable

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from support.paths import rows

from zodiac_sql import KnowledgeBase, ProgramError, QueryError, ZodiacError

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


def test_a_problem_with_a_long_fact(kb: KnowledgeBase) -> None:
    """It was quoted as a whole, in every problem: a message of 200,000 characters."""
    with pytest.raises(ProgramError) as caught:
        kb.add_rules(f'p("{"a" * 20_000}", X).')
    assert len(str(caught.value)) < 3_000 and "X" in caught.value.problems[0].message
