"""Constraints: what violates them anew is refused, listed, let pass, and named like rules."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest
from support.command_line import answered, called, refused
from support.contents import described

import zodiac_sql
from zodiac_sql import KnowledgeBase
from zodiac_sql.errors import ConstraintError, DataError, ProgramError, QueryError, StreamError

RULES = """
hot(X, T) :- reading(X, T), T > 50.
c1: !- hot(X, T), T > 80.
"""


@pytest.fixture
def kb() -> KnowledgeBase:
    kb = zodiac_sql.connect()
    kb.insert("reading", [("wt1", 20.0)])
    kb.add_rules(RULES)
    return kb


def test_the_error_says_what_where_and_why(kb: KnowledgeBase, tmp_path: Path) -> None:
    file = tmp_path / "more.rules"
    file.write_text("\n  c2: !- reading(X, T),\n      T < 0.\n")
    kb.add_rules(file, set="more")
    before = described(kb)
    with pytest.raises(ConstraintError) as caught:
        kb.insert("reading", [("a", 90), ("b", 91), ("c", 92), ("d", 93), ("e", -1)])
    first, second = sorted(caught.value.violations, key=lambda one: one.constraint)
    assert (first.constraint, first.text) == ("c1", "!- hot(X, T), T > 80.")
    assert first.variables == ("X", "T")
    assert first.count == 4 and first.rows == (("a", 90.0), ("b", 91.0), ("c", 92.0))
    assert "inserted by the change" in first.why
    assert second.constraint == "more/c2"
    assert second.place == f"rule set more ({file})" or second.place.endswith("more.rules:2:3")
    assert "and 1 more" in str(caught.value) and "check=False" in str(caught.value)
    assert described(kb) == before
    assert kb.verify()


def test_every_verb_is_refused(kb: KnowledgeBase, tmp_path: Path) -> None:
    kb.add_rules("low(X) :- reading(X, T), T < 80. c3: !- reading(X, _), not low(X).", set="s")
    (tmp_path / "f.csv").write_text("s,o\nx,99\n")
    (tmp_path / "r.rules").write_text("low(X) :- reading(X, T), T < 10.")
    for act in (
        lambda: kb.insert("reading", [("x", 99.0)]),
        lambda: kb.replace("reading", [("x", 99.0)]),
        lambda: kb.load(tmp_path / "f.csv", "reading"),
        lambda: kb.drop_rules("s/r1"),
        lambda: kb.add_rules("hot(X, 99.0) :- reading(X, _)."),
        lambda: kb.add_rules("!- hot(_, _). hot(a, 1.0)."),
        lambda: kb.replace_rules(
            "low(X) :- reading(X, T), T < 1. c3: !- reading(X, _), not low(X).", set="s"
        ),
    ):
        before = described(kb)
        with pytest.raises(ConstraintError, match="Nothing was changed"):
            act()
        assert described(kb) == before
    kb.drop_rules(set="s")
    kb.replace("reading", [("x", 70.0)])


def test_what_was_let_pass_is_listed_and_refuses_nothing(kb: KnowledgeBase) -> None:
    change = kb.insert("reading", [("wt2", 85.0)], check=False)
    assert [one.constraint for one in change.violations] == ["c1"]
    assert any(note.startswith("let pass") and "X = wt2" in note for note in change.notes)
    assert change.inserted == {"hot": 1, "reading": 1}
    assert kb.constraints().fetchall() == [("c1", "!- hot(X, T), T > 80.", ["main"], 1)]
    ((name, violation, fact),) = kb.violations().fetchall()
    assert (name, violation) == ("c1", "X = wt2, T = 85.0")
    assert "c1" in str(kb.why(fact))
    kb.insert("reading", [("wt3", 60.0)])
    with pytest.raises(ConstraintError, match="X = wt4"):
        kb.insert("reading", [("wt4", 86.0)])
    with kb.update(check=False) as update:
        update.insert("reading", [("wt4", 86.0)])
    assert len(kb.violations("c1", limit=1)) == 1 and len(kb.violations()) == 2
    kb.delete("reading", [("wt2", 85.0), ("wt4", 86.0)])
    assert not len(kb.violations())
    with pytest.raises(QueryError, match="there is no constraint c9. The constraints are: c1"):
        kb.violations("c9")
    assert kb.verify()


def test_a_preview_tells_violations(kb: KnowledgeBase) -> None:
    with kb.preview() as preview:
        preview.insert("reading", [("wt2", 85.0)])
    assert preview.change.violations[0].rows == (("wt2", 85.0),)
    assert any(note.startswith("this would be refused") for note in preview.change.notes)
    assert kb.table("reading").fetchall() == [("wt1", 20.0)]


def test_a_constraint_is_no_predicate_for_users(tmp_path: Path) -> None:
    path = tmp_path / "c.duckdb"
    with zodiac_sql.connect(path) as kb:
        kb.insert("http://e/p", [("http://e/a", "http://e/b")])
        with kb.update(check=False) as update:
            update.add_rules("!- <http://e/p>(X, Y). !- q(). q() :- <http://e/p>(_, _).")
        assert kb.predicates()["predicate"].to_pylist() == ["http://e/p", "q"]
        assert kb.sql("SELECT count(*) FROM triple").fetchall() == [(1,)]
        exported = kb.export(tmp_path / "out", "csv").files
        assert sorted(file.name for file in exported) == ["p.csv", "q.csv"]
        assert kb.constraints()["violations"].to_pylist() == [1, 1]
        with pytest.raises(DataError, match="what violates a constraint"):
            kb.insert("urn:zodiac-sql:constraint:aa", [(1,)])
        for text in (
            "<urn:zodiac-sql:constraint:aa>(1).",
            "p(X) :- <urn:zodiac-sql:constraint:a>(X).",
            "<urn:zodiac-sql:constraint:aa>(X) :- q(), X = 1.",
            "!- ?P(X, X), k(P). k(a).",
        ):
            with pytest.raises(ProgramError, match="constraint"):
                kb.add_rules(text)
    views = duckdb.connect(str(path)).sql("SELECT view_name FROM duckdb_views() WHERE NOT internal")
    assert sorted(views.fetchall()) == [("p",), ("q",), ("triple",)]


def test_what_says_the_same_is_one_constraint(kb: KnowledgeBase) -> None:
    change = kb.add_rules("!- hot(Where, Much), Much > 80.", set="other")
    assert "now other has it, too" in change.notes[0]
    assert kb.constraints()["sets"].to_pylist() == [["main", "other"]]
    kb.drop_rules("c1")
    with pytest.raises(ConstraintError):
        kb.insert("reading", [("x", 99.0)])
    kb.drop_rules("!- hot(A, B), B > 80.", set="other")
    kb.insert("reading", [("x", 99.0)])
    assert len(kb.constraints()) == 0


def test_a_constraint_that_is_replaced_is_a_new_one(kb: KnowledgeBase) -> None:
    kb.insert("reading", [("x", 70.0)])
    with pytest.raises(ConstraintError, match="T > 60"):
        kb.add_rules("c1: !- hot(X, T), T > 60.", replace=True)
    kb.add_rules("c1: !- hot(X, T), T > 75.", replace=True)
    assert kb.constraints()["constraint"].to_pylist() == ["!- hot(X, T), T > 75."]


def test_after_opening_again(tmp_path: Path) -> None:
    path = tmp_path / "c.duckdb"
    with zodiac_sql.connect(path) as kb:
        kb.insert("reading", [("wt1", 20.0)])
        kb.add_rules(RULES)
        kb.insert("reading", [("wt2", 90.0)], check=False)
    with zodiac_sql.connect(path, read_only=True) as kb:
        assert kb.violations()["violation"].to_pylist() == ["X = wt2, T = 90.0"]
    with zodiac_sql.connect(path) as kb:
        with pytest.raises(ConstraintError, match="rule set main: c1 is violated once"):
            kb.insert("reading", [("wt3", 99.0)])
        assert kb.verify()


def test_streams(kb: KnowledgeBase) -> None:
    updates = [{"insert": {"reading": [[f"s{t}", float(t)]]}} for t in (10, 85, 60, 95)]
    with pytest.raises(StreamError, match="update 2.*c1 is violated") as caught:
        list(kb.stream(updates))
    assert isinstance(caught.value.__cause__, ConstraintError)
    kept = list(kb.stream(updates, skip_bad=True, coalesce=4))
    assert [t for change in kept for t in change.updates] == [1, 2, 3, 4]
    assert len(kb.table("reading")) == 3
    assert sum(len(change.violations) for change in kb.stream(updates, check=False)) == 2


def test_the_command_line(tmp_path: Path) -> None:
    db, rules, bad = (str(tmp_path / name) for name in ("c.duckdb", "c.rules", "bad.csv"))
    Path(rules).write_text(RULES)
    Path(bad).write_text("s,o\nwt2,85.5\n")
    answered("add-rules", db, rules)
    assert "c1 is violated once" in refused("insert", db, bad, "-p", "reading")
    preview = called("insert", db, bad, "-p", "reading", "--preview")
    assert preview.exit_code == 0 and "this would be refused" in preview.output
    passed = called("insert", db, bad, "-p", "reading", "--no-check")
    assert passed.exit_code == 0 and "let pass" in passed.output
    (listed,) = json.loads(answered("show", db, "constraints", "--json"))
    assert (listed["name"], listed["violations"]) == ("c1", 1)
    assert "X = wt2, T = 85.5" in answered("show", db, "violations")
    answered("verify", db)
    answered("drop-rules", db, "c1")


def test_alternatives_and_named_columns(tmp_path: Path) -> None:
    path = tmp_path / "c.duckdb"
    with zodiac_sql.connect(path) as kb:
        kb.add_rules(
            ".decl reading(turbine: symbol, celsius: float, at: int)\n"
            "c1: !- reading(celsius: T, turbine: X), T > 80 ; reading(X, T, _), T < 0, X != wt9.\n"
            "c2: !- reading(at: A, turbine: X), A < 0."
        )
        texts = dict(kb.constraints().arrow().select([0, 1]).to_pandas().itertuples(index=False))
        assert texts == {
            "c1.1": "!- reading(X, T, _), T > 80.",
            "c1.2": "!- reading(X, T, _), T < 0, X != wt9.",
            "c2": "!- reading(X, _, A), A < 0.",
        }
        for row, name in ((("a", 81.0, 1), "c1.1"), (("a", -1.0, 1), "c1.2"), (("a", 1, -1), "c2")):
            with pytest.raises(ConstraintError, match=f"{name} is violated once"):
                kb.insert("reading", [row])
        kb.insert("reading", [("wt9", -1.0, 5), ("b", 20.0, 7)])
        kb.insert("reading", [("d", 20.0, -7)], check=False)
    with zodiac_sql.connect(path) as kb:
        assert kb.violations()["violation"].to_pylist() == ["X = d, A = -7"]
        assert kb.verify()
        kb.drop_rules("c1")
        assert kb.constraints()["name"].to_pylist() == ["c2"]
        assert "is there already" in kb.add_rules("!- reading(turbine: B, at: C), C < 0.").notes[0]


def test_a_change_feed_has_no_violations(kb: KnowledgeBase) -> None:
    kb.keep_feed()
    kb.insert("reading", [("wt2", 85.0)], check=False)
    assert {name for name, _ in kb.changes(since=0)} == {"reading", "hot"}
    assert kb.verify()
