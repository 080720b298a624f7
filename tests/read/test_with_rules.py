"""Goals with rules of their own: what a knowledge base has to do with them, and what it has not."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from zodiac_sql import KnowledgeBase, LimitError, ProgramError, QueryError, StoreError

OpenKb = Callable[..., KnowledgeBase]

PATH = "path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), path(Y, Z)."
SAME = "same(X, X) :- up(X, _). same(X, Y) :- up(X, U), same(U, V), up(Y, V)."


@pytest.fixture
def kb(open_kb: OpenKb) -> KnowledgeBase:
    kb = open_kb()
    kb.insert("edge", [("a", "b"), ("b", "c"), ("c", "d"), ("x", "y")])
    return kb


def test_nothing_is_left(kb: KnowledgeBase) -> None:
    change = kb.insert("edge", [("d", "e")])
    symbols = kb.sql("SELECT count(*) FROM zodiac.symbol").fetchall()
    rules = PATH + 'seen(Y, "a new text", concat("to ", Y)) :- path(a, Y).'
    assert kb.query("seen(X, Y, Z), edge(c, X)", rules=rules).fetchall() == [
        ("d", "a new text", "to d")
    ]
    assert kb.sql("SELECT count(*) FROM zodiac.symbol").fetchall() == symbols
    assert change.inserted_facts("edge").to_pylist() == [{"s": "d", "o": "e"}]
    with pytest.raises(QueryError, match="there is no predicate path"):
        kb.query("path(a, X)")
    assert kb.verify()


def test_types_are_those_of_the_whole_answer(kb: KnowledgeBase) -> None:
    kb.add_rules(".decl size(x: symbol, v: float) .decl day(x: symbol, d: date)")
    kb.insert("size", [("a", 2)])
    kb.insert("day", [("a", "2026-01-31")])
    rules = "big(X, V, D) :- size(X, V), day(X, D). when(D, X) :- day(X, D)."
    answer = kb.query("big(a, V, D)", rules=rules)
    assert answer.schema.types == [pa.float64(), pa.date32()]
    # A text in a column of dates is one, in goals, too.
    assert kb.query('when("2026-01-31", X)', rules=rules).fetchall() == [("a",)]
    assert kb.query("big(X, 2, D)", rules=rules).num_rows == 1  # an int in a column of floats


def test_files_and_readers(tmp_path: Path, open_kb: OpenKb) -> None:
    rules = tmp_path / "path.rules"
    rules.write_text(PATH)
    with open_kb(tmp_path / "a.duckdb") as kb:
        kb.insert("edge", [("a", "b"), ("b", "c")])
        with kb.reader() as reader:
            for _ in range(2):  # its connection is made anew
                assert sorted(reader.query("path(a, Y)", rules=rules)) == [("b",), ("c",)]
            kb.insert("edge", [("c", "d")])
            assert reader.query("path(b, d)", rules=str(rules))
            assert reader.query("edge(c, X)").fetchall() == [("d",)]
    with open_kb(tmp_path / "a.duckdb", read_only=True) as kb:
        assert kb.query("path(a, d)", rules=rules)
        with pytest.raises(StoreError):
            kb.add_rules(rules)


def test_functions(kb: KnowledgeBase) -> None:
    kb.register_function("twice", lambda text: text * 2, ["symbol"], "symbol")
    found = kb.query("two(a, Y)", rules="two(X, Z) :- edge(X, Y), Z = twice(Y).")
    assert found.fetchall() == [("bb",)]


def test_variables_for_predicates(kb: KnowledgeBase) -> None:
    rules = "closed(way). way(X, Y) :- edge(X, Y). ?P(X, Z) :- closed(P), ?P(X, Y), ?P(Y, Z)."
    assert sorted(kb.query("way(b, Y)", rules=rules)) == [("c",), ("d",)]


def test_labels_that_are_there(kb: KnowledgeBase) -> None:
    kb.add_rules("one: first(X) :- edge(X, _).")
    assert kb.query("first(a)", rules="one: first(X) :- edge(X, _).")  # it is there already
    with pytest.raises(ProgramError, match="there is already a rule named one"):
        kb.query("first(a)", rules="one: first(X) :- edge(_, X).")


@pytest.mark.parametrize(
    ("rules", "error", "said"),
    [
        ("p(X) :- edge(Y, _).", ProgramError, "X in the head of r1 has no value"),
        ("p(X) :- edge(X, _), not p(X).", ProgramError, "negation or aggregation inside a cycle"),
        ("edge(1, 2).", QueryError, "column s of edge would be any and not symbol"),
        ("!- edge(a, b).", QueryError, "a constraint"),
        ("absent.rules", ProgramError, "cannot read absent.rules"),
    ],
)
def test_what_is_refused(kb: KnowledgeBase, rules: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        kb.query("edge(X, Y)", rules=rules)
    assert kb.query("edge(a, X)", rules=PATH).fetchall() == [("b",)]


def test_limits(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.insert("edge", [(number, number + 1) for number in range(2000)])
        with pytest.raises(LimitError, match="max_rows"):
            kb.query("path(0, Y)", rules=PATH, max_rows=100)
        with pytest.raises(LimitError, match="max_iterations"):
            kb.query("path(0, Y)", rules=PATH, max_iterations=3)
        assert kb.query("path(1990, Y)", rules=PATH, max_rows=100).num_rows == 10


def test_a_large_tree(open_kb: OpenKb) -> None:
    """All pairs of one generation are hundreds of millions: there are 2 ** 15 leaves."""
    with open_kb() as kb:
        nodes = range(2, 2**16)
        kb.insert("up", pa.table({"c": nodes, "p": [node // 2 for node in nodes]}))
        started = time.process_time()
        answer = kb.query("same(16384, Y)", rules=SAME)
        assert answer.num_rows == 2**13  # half of them: nothing is above the root
        assert time.process_time() - started < 5  # it takes a tenth of a second
        assert kb.query("same(16384, 20000)", rules=SAME, max_rows=1000)
        assert not kb.query("same(16384, 40000)", rules=SAME, max_rows=1000)
