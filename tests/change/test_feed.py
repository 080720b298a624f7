"""The change feed: what it has, how long, what a reader gets, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from support.fed import entries
from support.tampering import found, tamper

from zodiac_sql import QueryError, StoreError, connect

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

RULES = "near(X, Y) :- next(X, Y). near(X, Y) :- near(Y, X). far(X) :- next(X, _), not near(X, b)."


@pytest.fixture
def kb(open_kb: OpenKb) -> KnowledgeBase:
    kb = open_kb()
    kb.insert("next", [("a", "b")])
    kb.add_rules(RULES)
    kb.keep_feed(["near", "far"])
    return kb


def test_what_enters_and_leaves(kb: KnowledgeBase) -> None:
    kb.insert("next", [("b", "c")])
    kb.insert("elsewhere", [(1,)])  # nothing moved in what is in the feed
    kb.delete("next", [("a", "b")])
    assert entries(kb) == [
        (1, "far", "insert", ("b",)),
        (1, "near", "insert", ("b", "c")),
        (1, "near", "insert", ("c", "b")),
        (2, "near", "delete", ("a", "b")),
        (2, "near", "delete", ("b", "a")),
    ]
    assert kb.changes().position == 2 and entries(kb, "far", since=1) == []


def test_a_batch_has_the_columns_of_the_predicate_and_ours(kb: KnowledgeBase) -> None:
    before = datetime.now(UTC)
    kb.insert("next", [("b", "c")])
    changes = kb.changes("near")
    table = changes.table("near")
    assert table.schema == pa.schema({
        "s": pa.string(), "o": pa.string(), "_change_type": pa.string(), "_commit": pa.int64(),
        "_time": pa.timestamp("us", "UTC"),
    })  # fmt: skip
    assert all(before <= moment <= datetime.now(UTC) for moment in table["_time"].to_pylist())
    assert len(changes) == 2 and changes.predicates == ("near",)
    assert changes.table("far").num_rows == 0
    assert kb.changes(until=0).predicates == ()


def test_rule_sets_streams_and_replace_are_in_it(kb: KnowledgeBase) -> None:
    kb.add_rules("far(X) :- next(_, X). far(z).", set="more")
    kb.drop_rules(set="more")
    list(kb.stream([{"insert": {"next": [("c", "d")]}}, {"delete": {"next": [("c", "d")]}}]))
    kb.replace("next", [])
    told = [(number, kind, row) for number, name, kind, row in entries(kb) if name == "far"]
    assert told == [
        (1, "insert", ("b",)), (1, "insert", ("z",)), (2, "delete", ("b",)), (2, "delete", ("z",)),
        (3, "insert", ("c",)), (4, "delete", ("c",)),
    ]  # fmt: skip
    assert kb.changes().position == 5 and kb.verify()


def test_a_preview_and_what_fails_is_not_in_it(kb: KnowledgeBase) -> None:
    with kb.preview() as preview:
        preview.insert("next", [("x", "y")])
    with pytest.raises(RuntimeError), kb.update() as update:
        update.insert("next", [("x", "y")])
        raise RuntimeError
    assert kb.changes().position == 0


def test_what_is_already_known_by_other_tables_is_not_told(kb: KnowledgeBase) -> None:
    kb.add_rules("near(X, Y) :- twin(X, Y). twin(a, b).")
    assert entries(kb) == []
    kb.drop_rules("r1")
    assert entries(kb) == []


def test_all_predicates(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.insert("old", [(1,)])
        kb.keep_feed()
        kb.add_rules(".decl flag() p(X) :- old(X). flag() :- p(_).")
        kb.delete("old", [(1,)])
        assert [one[1:] for one in entries(kb)] == [
            ("flag", "insert", (True,)), ("p", "insert", (1,)),
            ("flag", "delete", (True,)), ("old", "delete", (1,)), ("p", "delete", (1,)),
        ]  # fmt: skip
        assert kb.verify()


def test_other_columns_do_not_break_old_entries(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.keep_feed(["p", "q"])
        kb.add_rules(".decl n(v: int) r: p(X) :- n(X). s: q(X) :- n(X).")
        kb.insert("n", [(1,)])
        kb.add_rules("r: p(Y) :- n(X), Y = X / 2. s: q(lower(X)) :- t(X). t(a).", replace=True)
        kb.add_rules("s: q(X, Y) :- t(X), n(Y).", replace=True)
        told = [one for one in entries(kb) if one[1] == "q"]
        assert [one[3] for one in told] == [(1,), (1,), ("a",), ("a",), ("a", 1)]
        table = kb.changes("p").table("p")
        assert (
            table["s"].to_pylist() == [1.0, 1.0, 0.5] and table.schema.field("s").type == "double"
        )
        mixed = kb.changes("q").table("q")
        assert mixed.column_names == ["s", "o", "_change_type", "_commit", "_time"]
        assert mixed["s"].to_pylist() == ["1", "1", "a", "a", "a"]
        assert mixed["o"].to_pylist() == [None] * 4 + [1]
        assert kb.verify()


LARGE = 2**53


def test_an_int_is_no_float_that_duckdb_takes_for_the_same(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.add_rules(".decl i(x: symbol, n: int) .decl f(x: symbol, n: float)")
        kb.insert("i", [("a", LARGE + 1), ("b", 5)])
        kb.insert("f", [("a", float(LARGE)), ("b", 5.0)])
        kb.keep_feed(["q"])
        for text in ("r: q(X, N) :- i(X, N).", "r: q(X, N) :- f(X, N)."):
            kb.add_rules(text, replace=True)
        change = kb.add_rules("r: q(X, N) :- i(X, N).", replace=True)
        was, is_ = ("a", float(LARGE)), ("a", LARGE + 1)
        assert change.inserted_facts("q").to_pylist() == [{"s": "a", "o": is_[1]}]
        assert change.deleted_facts("q").to_pylist() == [{"s": "a", "o": was[1]}]
        assert [one[2:] for one in entries(kb)] == [
            ("insert", is_), ("insert", ("b", 5)),
            ("delete", is_), ("insert", was),
            ("delete", was), ("insert", is_),
        ]  # fmt: skip
        numbers = kb.changes("q").table("q")["o"].to_pylist()
        assert {"5", str(LARGE + 1)} <= {*numbers}
        assert kb.verify()


def test_a_column_named_like_ours(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.keep_feed()
        kb.insert("p", pa.table({"_commit": [7]}))
        assert kb.changes().table("p").column_names[:3] == ["_commit_", "_change_type", "_commit"]


# --- positions and limits -------------------------------------------------------------------------


def test_a_position_that_was_deleted_is_refused(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.keep_feed(["p"], count=4)
        for number in range(20):
            kb.insert("p", [(number,)])
        (row,) = kb.feed().to_pylist()
        assert row["position"] == 20 and 4 <= 20 - row["since"] <= 5
        assert [one[0] for one in entries(kb, since=row["since"])] == [*range(row["since"] + 1, 21)]
        with pytest.raises(QueryError, match=rf"numbers {row['since'] + 1} to 20.*go on from 20"):
            kb.changes(since=row["since"] - 1)
        for since in (-1, 21):
            with pytest.raises(QueryError, match=f"no change number {since}"):
                kb.changes(since=since)
        with pytest.raises(QueryError, match="up to 99"):
            kb.changes(until=99)


def test_limits_by_bytes_and_age(open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_kb() as kb:
        kb.keep_feed(["p"], bytes=25 * 10)
        for number in range(40):
            kb.insert("p", [(number,)])
        (row,) = kb.feed().to_pylist()
        assert 250 <= row["bytes"] <= 250 * 1.25 and row["limit"] == 250
        kb.keep_feed(["p"], days=0.5)
        start = datetime.now(UTC)

        class Later(datetime):
            @classmethod
            def now(cls, zone: object = None) -> datetime:
                return start + timedelta(hours=hours)

        monkeypatch.setattr("zodiac_sql.storage.feed.datetime", Later)
        for hours in range(1, 30):
            kb.insert("p", [(100 + hours,)])
        told = entries(kb)
        assert 12 <= len(told) <= 16 and told[-1][0] == kb.changes().position == 69
        assert kb.verify()


def test_a_predicate_that_comes_later(open_kb: OpenKb, tmp_path: Path) -> None:
    file = tmp_path / "case.duckdb"
    with open_kb(file) as kb:
        kb.keep_feed(["p"])
        kb.insert("p", [(1,)])
        kb.insert("q", [(1,)])
        assert "no predicate z yet" in kb.keep_feed(["p", "q", "z"]).notes[0]
    with open_kb(file) as kb:
        kb.insert("q", [(2,)])
        assert entries(kb) == [(1, "p", "insert", (1,)), (2, "q", "insert", (2,))]
        assert entries(kb, "p", since=0) == [(1, "p", "insert", (1,))]
        with pytest.raises(QueryError, match="q has its changes only after number 1"):
            kb.changes("q", since=0)
        with pytest.raises(QueryError, match="free is not in the feed, which has p, q, z"):
            kb.changes("free")


def test_numbers_go_on_after_a_pause(open_kb: OpenKb, tmp_path: Path) -> None:
    file = tmp_path / "case.duckdb"
    with open_kb(file) as kb:
        kb.keep_feed(["p"])
        kb.insert("p", [(1,), (2,)])
        kb.keep_feed([])
        kb.insert("p", [(3,)])
        with pytest.raises(QueryError, match="no changes are kept"):
            kb.changes()
        tables = kb.sql(
            "SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'feed!__' ESCAPE '!'"
        )
        assert not len(tables)
    with open_kb(file) as kb:
        assert len(kb.feed()) == 0
        kb.keep_feed(["p"])
        kb.insert("p", [(4,)])
        assert entries(kb) == [(2, "p", "insert", (4,))]


def test_numbers_go_on_when_predicates_leave_the_feed(open_kb: OpenKb, tmp_path: Path) -> None:
    """Changes that only they had are gone, and nobody misses a number, or gets one twice."""
    file = tmp_path / "case.duckdb"
    with open_kb(file) as kb:
        kb.keep_feed(["p", "q"])
        kb.insert("q", [(1,)])
        kb.insert("p", [(1,)])
        kb.insert("q", [(2,)])
        kb.keep_feed(["p"])
    with open_kb(file) as kb:
        assert kb.changes().position == 3
        kb.insert("p", [(2,)])
        assert entries(kb) == [(2, "p", "insert", (1,)), (4, "p", "insert", (2,))]
        assert entries(kb, since=3) == [(4, "p", "insert", (2,))]
        assert kb.verify()


def test_limits_that_are_none(kb: KnowledgeBase) -> None:
    for limits in ({"count": 0}, {"days": -1}, {"bytes": 0}):
        with pytest.raises(QueryError, match="how much is kept"):
            kb.keep_feed(["near"], **limits)  # type: ignore[arg-type]
    with pytest.raises(QueryError, match="a list of predicates"):
        kb.keep_feed("near")


# --- in the file ----------------------------------------------------------------------------------


def test_what_changes_takes(kb: KnowledgeBase) -> None:
    kb.keep_feed(["p"])
    with pytest.raises(QueryError, match="changes takes names"):
        kb.changes(["p"])  # type: ignore[arg-type]
    with pytest.raises(QueryError, match="since is the number of a change, and '1' is none"):
        kb.changes("p", since="1")  # type: ignore[arg-type]


def test_no_statement_more_without_a_feed(open_kb: OpenKb, tmp_path: Path) -> None:
    with open_kb(tmp_path / "case.duckdb") as kb:
        kb.insert("p", [(1,)])
        seen: list[str] = []
        kb.trace(lambda text, _: seen.append(text))
        kb.insert("p", [(2,)])
        kb.add_rules("q(X) :- p(X).")
        assert not [text for text in seen if "feed" in text]


def test_one_statement_for_each_predicate(open_kb: OpenKb, tmp_path: Path) -> None:
    with open_kb(tmp_path / "case.duckdb") as kb:
        kb.keep_feed(["p", "q"])
        kb.insert("p", [(1, 1.5)])
        seen: list[str] = []
        kb.trace(lambda text, _: seen.append(text))
        with kb.update() as update:
            update.delete("p", [(1, 1.5)])
            update.insert("p", [(1, 2.5)])
        assert len([text for text in seen if "feed" in text]) == 1


def test_a_reader_and_a_copy(open_kb: OpenKb, tmp_path: Path) -> None:
    file, copy = tmp_path / "case.duckdb", tmp_path / "copy.duckdb"
    with open_kb(file) as kb:
        kb.keep_feed(["p"], count=100, days=7)
        kb.insert("p", [("a",)])
        kb.backup(copy)
    for path in (file, copy):
        with connect(path, read_only=True) as kb:
            assert entries(kb) == [(1, "p", "insert", ("a",))]
            (row,) = kb.feed().to_pylist()
            assert row == {
                "predicate": "p", "since": 0, "position": 1, "entries": 1, "bytes": 21,
                "count": 100, "days": 7.0, "limit": None,
            }  # fmt: skip


def test_another_connection_of_the_process(open_kb: OpenKb, tmp_path: Path) -> None:
    file = tmp_path / "case.duckdb"
    with open_kb(file) as one, open_kb(file) as other:
        one.keep_feed(["p"])
        other.insert("p", [(1,)])
        one.insert("p", [(2,)])
        assert entries(other) == entries(one)
        assert [number for number, *_ in entries(one)] == [1, 2]


def test_verify_sees_entries_that_are_wrong(open_kb: OpenKb, tmp_path: Path) -> None:
    file = tmp_path / "case.duckdb"
    with open_kb(file) as kb:
        kb.keep_feed(["p"])
        for number in range(4):
            kb.insert("p", [(number,)])
        kb.delete("p", [(0,)])
    assert found(file)
    tamper(file, "DELETE FROM zodiac.feed_1 WHERE _commit = 5")
    assert found(file).tables == {"zodiac.feed_1": (0, 1)}
    tamper(file, "UPDATE zodiac.feed_1 SET _inserted = false WHERE c0 = 2")
    assert found(file).tables == {"zodiac.feed_1": (1, 1)}
    tamper(file, "DELETE FROM zodiac.feed_1 WHERE _commit = 2")
    assert found(file).tables["zodiac.feed"] == (1, 0)


def test_an_entry_that_computes_is_refused(open_kb: OpenKb, tmp_path: Path) -> None:
    file = tmp_path / "case.duckdb"
    with open_kb(file) as kb:
        kb.keep_feed(["p"])
        kb.insert("p", [(1,)])
    tamper(file, "ALTER TABLE zodiac.feed_1 ALTER c0 SET DEFAULT random()")
    with pytest.raises(StoreError, match="zodiac.feed_1"):
        connect(file)


def test_entries_wait_while_another_connection_changes_the_file(
    open_kb: OpenKb, tmp_path: Path
) -> None:
    """Who finds that the file was changed reads it anew, and settles what waits before that."""
    file = tmp_path / "shared.duckdb"
    with open_kb(file) as kb:
        kb.keep_feed()
        kb.insert("p", [("a",)])
        kb.insert("p", [("b",)])
        with ThreadPoolExecutor(1) as other:
            other.submit(_insert, open_kb, file).result()
        kb.insert("p", [("d",)])
        assert entries(kb) == [(n, "p", "insert", (x,)) for n, x in enumerate("abcd", 1)]
        assert kb.verify()


def _insert(open_kb: OpenKb, file: Path) -> None:
    with open_kb(file) as kb:
        kb.insert("p", [("c",)])


def test_a_fact_that_is_there_twice_is_no_entry(open_kb: OpenKb, tmp_path: Path) -> None:
    """Another program has written it: the change that deletes it would tell a wrong number."""
    kb = open_kb(tmp_path / "kb.duckdb")
    kb.keep_feed()
    kb.insert("seen", [(1,), (2,), (3,)])
    kb.delete("seen", [(3,)])
    kb._session.store.run('INSERT INTO edb."seen" VALUES (2)')
    with pytest.raises(StoreError, match="is not as this connection knows it"):
        kb.delete("seen", [(2,)])
    assert kb.changes(since=1).table("seen")["s"].to_pylist() == [3]
