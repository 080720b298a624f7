"""Atoms that name their columns: they are stored, and shown, with a term for each column."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import zodiac_sql
from zodiac_sql import KnowledgeBase, ProgramError

READINGS = {"turbine": ["a", "b", "c"], "day": [1, 2, 3], "celsius": [31.5, 2.0, 40.0]}


@pytest.fixture
def kb() -> KnowledgeBase:
    kb = zodiac_sql.connect()
    kb.insert("reading", pa.table(READINGS))
    kb.add_rules(".decl broken(part: symbol, why: symbol) broken(a, rust).")
    return kb


def stored(kb: KnowledgeBase) -> list[str]:
    rules: list[str] = kb.rules()["rule"].to_pylist()
    return rules


@pytest.mark.parametrize(("rule", "positional"), [
    ("hot(X) :- reading(turbine: X, celsius: T), T > 30.",
     "hot(X) :- reading(X, _, T), T > 30."),
    ("hot(X) :- reading(celsius: T, turbine: X), T > 30, not broken(part: X).",
     "hot(X) :- reading(X, _, T), T > 30, not broken(X, _)."),
    ("broken(why: hot, part: X) :- reading(turbine:\n X, celsius: 39.0 + 1).",
     "broken(X, hot) :- reading(X, _, 39.0 + 1)."),
    ("n(N) :- AGGREGATE(reading(celsius: T)) WITH COUNT(T) AS N.",
     "n(N) :- AGGREGATE(reading(_, _, T)) WITH COUNT(T) AS N."),
    ('hot(X) :- reading(TURBINE: X), <broken>(`why`: a, part: X), `reading`(day: (D - 1)), D = 2.',
     'hot(X) :- reading(X, _, _), <broken>(X, a), `reading`(_, D - 1, _), D = 2.'),
])  # fmt: skip
def test_a_rule_is_stored_with_all_columns(kb: KnowledgeBase, rule: str, positional: str) -> None:
    kb.add_rules(rule)
    assert stored(kb) == [positional]
    assert kb.add_rules(positional).notes == (f"{positional} is there already, as r1",)
    assert kb.add_rules(rule).notes == (f"{positional} is there already, as r1",)
    assert kb.verify()
    kb.drop_rules(rule)
    assert stored(kb) == []


def test_best_values(kb: KnowledgeBase) -> None:
    kb.add_rules(".decl worst(celsius: float, turbine: symbol)")
    kb.add_rules("worst(turbine: X, celsius: MAX(T + 1)) :- reading(turbine: X, celsius: T).")
    assert stored(kb) == ["worst(MAX(T + 1), X) :- reading(X, _, T)."]
    assert sorted(kb.table("worst").fetchall()) == [(3.0, "b"), (32.5, "a"), (41.0, "c")]


def test_facts_in_texts(kb: KnowledgeBase) -> None:
    kb.add_rules("broken(why: age, part: b).")
    kb.add_rules("broken(why: age, part: c).", set="more")
    assert sorted(kb.table("broken").fetchall()) == [("a", "rust"), ("b", "age"), ("c", "age")]


def test_columns_that_come_with_the_same_change() -> None:
    kb = zodiac_sql.connect()
    with kb.update() as update:
        update.add_rules("hot(X) :- reading(turbine: X, celsius: T), T > 30.")
        update.insert("reading", pa.table(READINGS))
        update.add_rules("ill(X) :- broken(part: X). .decl broken(why: symbol, part: symbol)")
    assert stored(kb) == ["hot(X) :- reading(X, _, T), T > 30.", "ill(X) :- broken(_, X)."]
    assert sorted(kb.table("hot").fetchall()) == [("a",), ("c",)]


def test_a_file_is_read_again_whatever_became_of_the_names(tmp_path: Path) -> None:
    path = tmp_path / "names.duckdb"
    with zodiac_sql.connect(path) as kb:
        kb.insert("reading", pa.table(READINGS))
        kb.add_rules("hot(X) :- reading(turbine: X, celsius: T), T > 30.")
        kb.delete("reading", pa.table(READINGS))
    with zodiac_sql.connect(path) as kb:
        kb.insert("reading", [("d", 1, 50.0)])
        assert kb.table("hot").fetchall() == [("d",)] and kb.verify()


def test_queries_and_goals(kb: KnowledgeBase) -> None:
    assert kb.query("reading(celsius: T, turbine: a)").fetchall() == [(31.5,)]
    assert kb.query("reading(turbine: X), not broken(part: X), X < c").fetchall() == [("b",)]
    assert str(kb.why("reading(celsius: 31.5, turbine: a, day: 1)")).startswith(
        "reading(a, 1, 31.5)"
    )
    change = kb.insert("broken", [("b", "age")])
    assert "inserted" in str(change.why("broken(why: age, part: b)"))


@pytest.mark.parametrize(("text", "message"), [
    ("x(X) :- reading(cellsius: X).",
     "reading has no column cellsius*The columns are turbine, day, celsius. Did you mean celsius?"),
    ("x(X) :- reading(day: X, DAY: X).", "the column DAY of reading is given twice"),
    ("x(X) :- reading(day: X, Y).", "this argument has a name"),
    ("x(X) :- unseen(day: X).", "the names of the columns of unseen are not known*.decl unseen"),
    ("?P(s: X) :- kind(P), reading(turbine: X).", "columns of ?P cannot be named"),
    ("broken(part: X) :- reading(turbine: X).", "broken gets no value for why"),
    ("broken(part: a).", "broken gets no value for why"),
    ("unseen(part: a).", "the names of the columns of unseen are not known"),
    ("x(X) :- reading(turbine:X).", "put a space after the colon"),
    ("x(Y) :- reading(turbine: X), Y = concat(a: X, X).", "this argument has a name"),
    ("x(Y) :- reading(turbine: Z, day: D), not broken(part: Z, why: W), Y = Q.", "unsafe: Y"),
])  # fmt: skip
def test_what_is_refused(kb: KnowledgeBase, text: str, message: str) -> None:
    with pytest.raises(ProgramError) as refused:
        kb.add_rules(text)
    for part in message.split("*"):
        assert part in str(refused.value)
    assert stored(kb) == []
