"""Small changes that follow each other wait in the journal, and nobody can tell."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from support.command_line import answered
from support.roads import RULES, as_if_killed
from support.struck import struck_at

import zodiac_sql
from zodiac_sql import StoreError
from zodiac_sql.database import remembered
from zodiac_sql.database.waiting import publishes
from zodiac_sql.storage import journal

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]


@pytest.fixture(params=[1, 500], ids=["arrow", "lists"])
def fewest(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """In which way rows come to the tables."""
    monkeypatch.setattr(journal, "FEWEST_AS_ARROW", request.param)


@pytest.fixture
def kb(open_kb: OpenKb, path: Path) -> Iterator[KnowledgeBase]:
    """One that has made its first small changes: copies and statements are there."""
    with open_kb(path, strategy="lookups") as opened:
        opened.add_rules(RULES)
        opened.insert("edge", [(f"n{i}", f"n{i + 1}") for i in range(5)])
        begin(opened)
        yield opened


def begin(kb: KnowledgeBase) -> None:
    """Make two changes, of which the second follows the first."""
    kb.insert("edge", [("a", "b")])
    kb.delete("edge", [("a", "b")])


def facts(kb: KnowledgeBase, predicate: str) -> set[tuple[Any, ...]]:
    return {tuple(row.values()) for row in kb.table(predicate).arrow().to_pylist()}


@contextmanager
def traced(kb: KnowledgeBase) -> Iterator[list[str]]:
    """The statements inside."""
    told: list[str] = []
    kb.trace(lambda text, _: told.append(text.split(" (")[0]))
    yield told
    kb.trace(None)


def waiting(path: Path) -> int:
    """How many changes wait in a file that nobody has open."""
    with duckdb.connect(str(path), read_only=True) as connection:
        found = connection.execute("SELECT count(*) FROM zodiac.journal").fetchone()
    assert found is not None
    return int(found[0])


NOTED = ["INSERT INTO zodiac.journal VALUES"]

SETTLES = "SELECT entry FROM zodiac.journal ORDER BY number"


@pytest.mark.usefixtures("fewest")
def test_a_change_after_another_is_one_row_of_the_journal(kb: KnowledgeBase) -> None:
    with traced(kb) as told:
        change = kb.delete("edge", [("n2", "n3")])
    assert told == NOTED
    assert change.deleted == {"edge": 1, "path": 9, "far": 8}
    with traced(kb) as told:
        assert ("n2", "n3") not in facts(kb, "edge")
    assert SETTLES in told
    assert len(facts(kb, "path")) == 3 + 3
    assert kb.verify()


def test_one_statement_of_a_change_publishes_it(kb: KnowledgeBase) -> None:
    """The command line tells by it whether a change that is interrupted may be in the file."""
    told: list[str] = []
    kb.trace(lambda text, _: told.append(text))
    kb.insert("edge", [("n5", "n6")])
    kb.trace(None)
    assert publishes(told[-1])
    assert sum(map(publishes, told)) == 1


@pytest.mark.parametrize("then", ["change", "no rule", "question", "rules", "fed"])
def test_a_checkpoint_may_take_the_log_away_meanwhile(
    kb: KnowledgeBase, path: Path, then: str
) -> None:
    """DuckDB makes one by itself. The log is begun anew under a lock that settling takes, too."""
    if then == "fed":
        kb.keep_feed(["alone"])
    kb.insert("alone", [("x",)])
    begin(kb)
    kb.insert("edge", [("new", "n1")])
    store: Any = kb._session.store
    assert store.journal.settles is not None
    store.connection.duckdb.execute("CALL checkpoint($1)", [store.file.name])
    assert not Path(f"{path}.wal").exists()
    if then == "change":
        kb.insert("edge", [("newer", "n1")])
    elif then in ("no rule", "fed"):
        kb.insert("alone", [("y",)])
    elif then == "rules":
        kb.add_rules("seen(X) :- path(X, Y).")
    assert ("new", "n2") in facts(kb, "path")
    assert kb.verify()


def test_nan_of_a_predicate_in_the_feed(kb: KnowledgeBase) -> None:
    """It is not equal to itself in Python, by which the journal compares what waits."""
    kb.keep_feed(["number"])
    kb.insert("number", [(1.5,), (2.5,)])
    begin(kb)
    nan = float("nan")
    for value in (nan, 3.5):
        assert kb.insert("number", [(value,)]).inserted == {"number": 1}
        assert kb.insert("number", [(value,)]).inserted == {}
        assert kb.delete("number", [(value,)]).deleted == {"number": 1}
    assert facts(kb, "number") == {(1.5,), (2.5,)}
    assert kb.verify()


def test_who_asks_after_each_change_does_not_wait_twice(kb: KnowledgeBase) -> None:
    facts(kb, "path")
    for name in ("x", "y"):
        with traced(kb) as told:
            kb.insert("edge", [(name, "z")])
            facts(kb, "path")
        assert not any("journal" in text for text in told)


def test_opening_settles_what_a_killed_process_has_left(
    kb: KnowledgeBase, open_kb: OpenKb, path: Path, tmp_path: Path
) -> None:
    kb.insert("edge", [("new", "n1")])
    kb.delete("edge", [("n2", "n3")])
    left = as_if_killed(path, tmp_path / "left")
    with pytest.raises(zodiac_sql.UnsettledError, match="Open it once without read_only"):
        zodiac_sql.connect(left, read_only=True)
    with open_kb(left) as other:
        assert facts(other, "path") == facts(kb, "path")
        assert other.verify()
    assert waiting(left) == 0
    with zodiac_sql.connect(left, read_only=True) as other:
        assert ("new", "n2") in facts(other, "path")


def test_the_command_line_settles_what_it_reads(
    kb: KnowledgeBase, path: Path, tmp_path: Path
) -> None:
    kb.insert("edge", [("new", "n1")])
    left = as_if_killed(path, tmp_path / "left")
    assert "n5" in answered("query", left, 'path("new", X)')
    assert waiting(left) == 0


def test_closing_settles(kb: KnowledgeBase, path: Path) -> None:
    kb.insert("edge", [("new", "n1")])
    kb.close()
    assert waiting(path) == 0


@pytest.mark.parametrize("end", ["", "del kb, update", "raise SystemExit"])
def test_a_program_that_never_closes_it_leaves_nothing_waiting(path: Path, end: str) -> None:
    code = f"""
import sys, zodiac_sql
from zodiac_sql.database.store import Store
told, run = [], Store.run
Store.run = lambda self, text, *more: told.append(str(text)) or run(self, text, *more)
kb = zodiac_sql.connect(sys.argv[1], strategy="lookups")
kb.add_rules("path(X, Y) :- edge(X, Y).")
kb.insert("edge", [("a", "b"), ("b", "c")])
for number in range(3):
    update = kb.insert("edge", [("b", f"c{{number}}")])
assert any("INTO zodiac.journal" in text for text in told)
{end}
"""
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    assert waiting(path) == 0
    with duckdb.connect(str(path), read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM path").fetchone() == (5,)


def test_another_one_sees_what_waits_and_nothing_waits_meanwhile(
    kb: KnowledgeBase, open_kb: OpenKb, path: Path
) -> None:
    kb.insert("edge", [("new", "n1")])
    with open_kb(path) as other:
        assert ("new", "n2") in facts(other, "path")
        with traced(kb) as told:
            kb.insert("edge", [("newer", "new")])
        assert not any("INTO zodiac.journal" in text for text in told)
        assert ("newer", "n2") in facts(other, "path")
        other.delete("edge", [("newer", "new")])
    assert ("newer", "n2") not in facts(kb, "path")
    begin(kb)
    with traced(kb) as told:
        kb.insert("edge", [("n3", "n1")])
    assert told == NOTED
    assert kb.verify()


def test_many_are_settled_together(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "MOST_ENTRIES", 3)
    with traced(kb) as told:
        for number in range(6):
            (kb.delete if number % 2 else kb.insert)("edge", [("n3", "n1")])
    assert told.count("INSERT INTO zodiac.journal VALUES") == 6
    assert told.count(SETTLES) == 2
    assert kb.verify()


def test_a_fact_may_come_and_go_many_times(kb: KnowledgeBase) -> None:
    for _ in range(5):
        kb.insert("edge", [("new", "n1")])
        kb.delete("edge", [("new", "n1"), ("n1", "n2")])
        kb.insert("edge", [("n1", "n2")])
    assert len(facts(kb, "edge")) == 5
    assert len(facts(kb, "path")) == 15
    assert kb.verify()


@pytest.mark.parametrize("most", [0, remembered.MOST_REMEMBERED])
@pytest.mark.parametrize("somewhere", ["somewhere", "long" * 100, "it's <here>"])
def test_new_symbols_wait_with_their_change(
    kb: KnowledgeBase, open_kb: OpenKb, path: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, somewhere: str, most: int,
) -> None:  # fmt: skip
    """They are known meanwhile, even if symbols in the file are forgotten, or too long for that."""
    monkeypatch.setattr(remembered, "MOST_REMEMBERED", most)
    with traced(kb) as told:
        kb.insert("edge", [(somewhere, "n0")])
        kb.insert("edge", [("elsewhere", somewhere), ("n0", somewhere)])
        kb.delete("edge", [("n0", somewhere)])
        kb.insert("edge", [("third", "elsewhere")])
    assert [text for text in told if text.startswith(("INSERT", "DELETE"))] == 4 * NOTED
    with open_kb(as_if_killed(path, tmp_path / "left")) as other:
        assert ("third", "n5") in facts(other, "path")
        assert (somewhere, "n5") in facts(other, "path")
        assert other.verify()
    kb.insert("alone", [(somewhere,), ("fourth",)])
    assert ("third", "n5") in facts(kb, "path")
    assert kb.sql("SELECT count(*), count(DISTINCT text) FROM zodiac.symbol").fetchall() == (
        [(12, 12)]
    )
    assert kb.verify()


def test_symbols_of_a_change_that_fails_are_given_up(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(journal, "_write_and_commit", fail)
        with pytest.raises(KeyboardInterrupt):
            kb.insert("edge", [("first", "n1")])
    begin(kb)
    kb.insert("edge", [("second", "n1")])
    kb.insert("edge", [("first", "n2")])
    assert {("second", "n2"), ("first", "n3")} < facts(kb, "path")
    assert ("first", "n2") not in facts(kb, "far")
    assert kb.verify()


@pytest.mark.usefixtures("fewest")
def test_all_types(open_kb: OpenKb, path: Path, tmp_path: Path) -> None:
    rows: list[tuple[Any, ...]] = [
        ("a", 9_223_372_036_854_775_807, float("inf"), True, date(1, 1, 1), datetime(1, 1, 1)),
        ("b", -5, 0.1, False, date(9999, 12, 31), datetime(9999, 12, 31, 23, 59, 59, 999_999)),
        ("c", 0, 1.0, True, date(2026, 11, 24), datetime(2026, 11, 24, 12, 30)),
    ]
    with open_kb(path, strategy="lookups") as kb:
        kb.add_rules(
            ".decl r(a: symbol, b: int, c: float, d: bool, e: date, f: timestamp)\n"
            "s(A, B, C, D, E, F) :- r(A, B, C, D, E, F)."
        )
        kb.insert("r", [("x", 1, 1.5, True, date(2000, 1, 1), datetime(2000, 1, 1))])
        for row in rows:
            kb.insert("r", [row])
        kb.delete("r", rows[:1])
        with open_kb(as_if_killed(path, tmp_path / "left")) as other:
            assert {*rows[1:]} < facts(other, "s")
            assert len(facts(other, "s")) == 3
            assert other.verify()
        assert {*rows[1:]} < facts(kb, "s")
        assert kb.verify()


def test_the_feed_has_them_in_order(
    kb: KnowledgeBase, open_kb: OpenKb, path: Path, tmp_path: Path
) -> None:
    kb.keep_feed(["far", "edge", "alone"])
    kb.insert("edge", [("new", "n1")])
    kb.insert("alone", [("x",)])
    kb.delete("edge", [("new", "n1")])
    kb.insert("edge", [("new", "n1")])
    kb.insert("alone", [("y",)])
    kb.insert("edge", [("newer", "new")])
    with open_kb(as_if_killed(path, tmp_path / "left")) as other:
        for one in (kb, other):
            changes = one.changes(since=0)
            edges = changes.table("edge").select(["s", "_change_type", "_commit"]).to_pylist()
            assert [tuple(row.values()) for row in edges] == [
                ("new", "insert", 1), ("new", "delete", 3), ("new", "insert", 4),
                ("newer", "insert", 6),
            ]  # fmt: skip
            assert changes.table("alone").column("_commit").to_pylist() == [2, 5]
            assert changes.position == 6
            assert one.verify()


@pytest.mark.usefixtures("fewest")
def test_streams_have_come_as_far_as_they_were_told(
    kb: KnowledgeBase, open_kb: OpenKb, path: Path, tmp_path: Path
) -> None:
    updates: list[dict[str, Any]] = [{"insert": {"edge": [[f"m{i}", "n0"]]}} for i in range(6)]
    updates[3] = {"insert": {"alone": [["z"]]}}
    with traced(kb) as told:
        for number, _ in enumerate(kb.stream(updates[:5], name="roads", coalesce=1)):
            if number == 4:
                left = as_if_killed(path, tmp_path / "left")
    assert told.count("INSERT INTO zodiac.journal VALUES") >= 3
    with open_kb(left, strategy="lookups") as other:
        assert len([*other.stream(updates, name="roads")]) == 1
        assert facts(other, "edge") > {(f"m{i}", "n0") for i in (0, 1, 2, 4, 5)}
        assert facts(other, "alone") == {("z",)}
        assert other.verify()
    assert len([*kb.stream(updates, name="roads")]) == 1
    assert kb.verify()


@pytest.mark.usefixtures("fewest")
def test_what_fails_while_it_is_settled_still_waits(kb: KnowledgeBase) -> None:
    kb.insert("edge", [("new", "n1")])

    def fail(text: str, _: object) -> None:
        if "DELETE FROM zodiac.journal" in text:
            raise KeyboardInterrupt

    kb.trace(fail)
    with pytest.raises(KeyboardInterrupt):
        facts(kb, "path")
    kb.trace(None)
    assert ("new", "n2") in facts(kb, "path")
    assert kb.verify()


def test_a_change_that_is_interrupted_is_there_as_a_whole_or_not_at_all(kb: KnowledgeBase) -> None:
    for number, where in enumerate(NOTED):

        def fail(text: str, _: object, where: str = where) -> None:
            if text.startswith(where):
                raise KeyboardInterrupt

        begin(kb)
        kb.trace(fail)
        with pytest.raises(KeyboardInterrupt):
            kb.insert("edge", [(f"new{number}", "n1")])
        kb.trace(None)
        assert (f"new{number}", "n2") not in facts(kb, "path")
        assert kb.verify()


@pytest.mark.usefixtures("fewest")
def test_a_journal_that_was_edited_is_refused(
    kb: KnowledgeBase, open_kb: OpenKb, path: Path
) -> None:
    kb.close()
    wrong = {
        "was edited": "{}",
        "was edited.*seven": '{"tables": [["edb", "edge", [["s", "symbol"],'
        ' ["o", "symbol"]], [["seven"], [70]], [], []]], "positions": {}}',
        "lacks facts": '{"tables": [["edb", "edge", [["s", "symbol"], ["o", "symbol"]],'
        ' [[7], [70]], [], []]], "positions": {}}',
        "zodiac.rule": '{"tables": [["zodiac", "rule", [["name", "symbol"]], [[1]], [], []]],'
        ' "positions": {}}',
    }
    for said, entry in wrong.items():
        with duckdb.connect(str(path)) as connection:
            connection.execute("DELETE FROM zodiac.journal")
            connection.execute("INSERT INTO zodiac.journal VALUES (1, $1)", [entry])
        with pytest.raises(StoreError, match=said):
            open_kb(path)
        assert waiting(path) == 1


@pytest.mark.parametrize("verb", ["backup", "compact", "preview", "rules", "sql", "why", "export"])
def test_verbs_settle_first(kb: KnowledgeBase, open_kb: OpenKb, tmp_path: Path, verb: str) -> None:
    kb.insert("edge", [("new", "n1")])
    if verb == "backup":
        kb.backup(tmp_path / "copy.duckdb")
        with zodiac_sql.connect(tmp_path / "copy.duckdb", read_only=True) as copy:
            assert ("new", "n2") in facts(copy, "path")
    elif verb == "compact":
        kb.compact()
    elif verb == "preview":
        with kb.preview() as update:
            update.delete("edge", [("new", "n1")])
        assert update.change.deleted["edge"] == 1
    elif verb == "rules":
        kb.add_rules("seen(X) :- path(X, Y).")
        assert ("new",) in facts(kb, "seen")
    elif verb == "sql":
        assert ("new",) in {*kb.sql("SELECT s FROM path").fetchall()}
    elif verb == "why":
        assert kb.why('path("new", "n2")')
    else:
        kb.export(tmp_path / "out", "csv")
        assert "new" in (tmp_path / "out" / "path.csv").read_text()
    assert ("new", "n2") in facts(kb, "path")
    assert kb.verify()


def test_facts_that_no_rule_reads_wait_beside_others(
    kb: KnowledgeBase, open_kb: OpenKb, path: Path, tmp_path: Path
) -> None:
    def both(edge: str, *alone: str) -> None:
        with kb.update() as update:
            update.insert("edge", [(edge, "n0")])
            update.insert("alone", [(name,) for name in alone])
            update.delete("alone", [("gone",)])

    kb.insert("alone", [("x",), ("gone",)])
    begin(kb)
    with traced(kb) as told:
        both("m0", "x", "y")
    of_symbols = "SELECT text, id FROM zodiac.symbol WHERE list_contains($1, text)"
    assert [text for text in told if text != of_symbols] == ['SELECT "c"."s" FROM', *NOTED]
    with traced(kb) as told:
        both("m1", "y")
    assert [text for text in told if text != of_symbols] == NOTED  # what waits is known
    assert kb.insert("alone", [("y",)]).inserted == {}
    assert kb.delete("alone", [("gone",)]).deleted == {}
    both("m2", "gone", "z")
    with open_kb(as_if_killed(path, tmp_path / "left")) as other:
        assert facts(other, "alone") == facts(kb, "alone") == {("x",), ("y",), ("gone",), ("z",)}
        assert ("m2", "n3") in facts(other, "path")
        assert kb.verify()
        assert other.verify()


def test_what_waits_is_seen_while_somebody_keeps_an_interruption(
    open_kb: OpenKb, tmp_path: Path
) -> None:
    """As a shell does with the last error: it keeps context managers open that it has struck."""
    with open_kb(tmp_path / "kept.duckdb", strategy="lookups") as kb:
        kb.add_rules("path(X, Y) :- edge(X, Y).")
        for number in count(1):
            rows = [(f"a{number}", "b"), (f"c{number}", "d"), (f"e{number}", "f")]
            kept = None
            for row in rows[:2]:
                kb.insert("edge", [row])
            try:
                with struck_at(number, _manages) as where:
                    kb.insert("edge", rows[2:])
            except KeyboardInterrupt as error:
                kept = error
            assert {*rows[:2]} <= {*kb.table("edge").fetchall()}, where
            if kept is None:
                break
        assert number > 20 and kb.verify()


def _manages(file: Path) -> bool:
    return file.name == "contextlib.py"
