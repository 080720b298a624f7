"""Where somebody asks after each change, its entries of the change feed wait in the journal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.fed import entries, facts, replayed
from support.roads import RULES, as_if_killed

from zodiac_sql import UnsettledError, connect
from zodiac_sql.change import noted
from zodiac_sql.database.waiting import NOTE, NOTE_ENTRIES
from zodiac_sql.storage import journal

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]


@pytest.fixture
def kb(open_kb: OpenKb, path: Path) -> Iterator[KnowledgeBase]:
    """One with all in the feed, whose tables of entries are there."""
    with open_kb(path, strategy="lookups") as opened:
        opened.add_rules(RULES)
        opened.keep_feed()
        opened.insert("edge", [(f"n{i}", f"n{i + 1}") for i in range(5)])
        opened.insert("alone", [("x",), ("y",)])
        opened.delete("edge", [("n2", "n3")])
        yield opened


def told(kb: KnowledgeBase, change: Callable[[], object]) -> list[str]:
    """The statements of a change that comes after a question."""
    asked(kb)
    return statements_of(kb, change)


def statements_of(kb: KnowledgeBase, change: Callable[[], object]) -> list[str]:
    seen: list[str] = []
    kb.trace(lambda text, _: seen.append(text))
    change()
    kb.trace(None)
    return seen


def notes_entries(statements: list[str]) -> bool:
    """Whether entries of the feed go to the journal. That is a part of a statement."""
    return any(NOTE_ENTRIES in text for text in statements)


def asked(kb: KnowledgeBase) -> None:
    kb.query("far(X, Y)").fetchall()
    kb.sql("SELECT count(*) FROM edge").fetchall()


def waits(kb: KnowledgeBase) -> bool:
    store: Any = kb._session.store
    return store.journal.settles is not None


def test_one_row_for_all_predicates(kb: KnowledgeBase) -> None:
    statements = told(kb, lambda: kb.insert("edge", [("n2", "n3")]))
    assert sum(NOTE_ENTRIES in text for text in statements) == 1
    assert not any("feed_" in text for text in statements)
    statements = told(kb, lambda: kb.delete("alone", [("x",)]))
    assert notes_entries(statements)
    assert len(statements) == 3


def test_questions_do_not_settle_it_and_readers_of_the_feed_do(kb: KnowledgeBase) -> None:
    before, since = facts(kb), kb.changes().position
    kb.insert("edge", [("n2", "n3")])
    asked(kb)
    kb.insert("alone", [("z",)])
    asked(kb)
    assert waits(kb)
    assert kb.feed()["position"][0].as_py() == since + 2
    assert replayed(before, entries(kb, since=since)) == facts(kb)
    assert not waits(kb)
    assert kb.verify()


def test_what_a_killed_process_has_left(
    kb: KnowledgeBase, open_kb: OpenKb, path: Path, tmp_path: Path
) -> None:
    kb.changes()
    told(kb, lambda: kb.insert("edge", [("n2", "n3")]))
    told(kb, lambda: kb.insert("edge", [("new", "n0")]))
    left = as_if_killed(path, tmp_path / "left")
    with pytest.raises(UnsettledError):
        connect(left, read_only=True)
    with open_kb(left) as other:
        assert entries(other) == entries(kb)
        assert facts(other) == facts(kb)
        assert other.feed().to_pylist() == kb.feed().to_pylist()
        assert other.verify()


@pytest.mark.parametrize("verb", ["backup", "compact", "close", "alter", "keep", "rules", "large"])
def test_verbs_settle_first(
    kb: KnowledgeBase, open_kb: OpenKb, path: Path, tmp_path: Path, verb: str
) -> None:
    asked(kb)
    kb.insert("edge", [("n2", "n3")])
    assert waits(kb)
    copy, predicates = tmp_path / "copy.duckdb", ["edge", "path", "far", "alone"]
    if verb == "backup":
        kb.backup(copy)
    elif verb == "compact":
        kb.compact()
    elif verb == "alter":
        kb.insert("number", [(1,)])
        kb.alter("number", {"s": "float"})
    elif verb == "keep":
        predicates = ["far"]
        kb.keep_feed(predicates)
    elif verb == "rules":
        kb.add_rules("near(X, Y) :- edge(X, Y).")
    elif verb == "large":
        kb.insert("edge", [(f"m{i}", f"m{i + 1}") for i in range(3_000, 0, -2)])
    now = facts(kb)
    told_before = entries(kb, *predicates)
    kb.close()
    with connect(copy if verb == "backup" else path, read_only=True) as other:
        assert entries(other, *predicates) == told_before
        assert facts(other) == now
        assert replayed({}, [e for e in entries(other, "far") if e[1] == "far"]) == {
            "far": now["far"]
        }
        assert other.verify()


def test_another_one_sees_it_and_nothing_waits_meanwhile(
    kb: KnowledgeBase, open_kb: OpenKb, path: Path
) -> None:
    asked(kb)
    kb.insert("edge", [("n2", "n3")])
    with open_kb(path) as other:
        assert entries(other) == entries(kb)
        assert not notes_entries(told(kb, lambda: kb.insert("edge", [("new", "n0")])))
        assert entries(other) == entries(kb)
        other.delete("edge", [("new", "n0")])
        assert entries(other) == entries(kb)
    told(kb, lambda: kb.delete("alone", [("x",)]))
    assert notes_entries(told(kb, lambda: kb.insert("alone", [("x",)])))
    assert replayed({}, entries(kb)) == facts(kb)
    assert kb.verify()


def test_many_are_settled_together(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    kb.changes()
    monkeypatch.setattr(journal, "MOST_ENTRIES", 3)
    settled = 0
    for number in range(12):
        verb = kb.delete if number % 2 else kb.insert
        statements = told(kb, lambda verb=verb: verb("edge", [("n5", "n6")]))  # type: ignore[misc]
        assert notes_entries(statements)
        settled += any("DELETE FROM zodiac.journal" in text for text in statements)
    assert settled == 3
    assert replayed({}, entries(kb)) == facts(kb)


def test_many_facts_go_to_their_tables(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noted, "MOST_GIVEN", 2)
    assert not notes_entries(told(kb, lambda: kb.insert("edge", [("n2", "n3")])))
    assert notes_entries(told(kb, lambda: kb.insert("edge", [("other", "end")])))
    assert replayed({}, entries(kb)) == facts(kb)


def test_older_entries_are_deleted(open_kb: OpenKb, path: Path) -> None:
    with open_kb(path) as kb:
        kb.insert("alone", [("x",), ("y",)])
        kb.keep_feed(["alone"], count=4)
        known = {0: facts(kb)}
        for number in range(20):
            kb.query("alone(X)").fetchall()
            kb.insert("alone", [(f"n{number}",)])
            known[kb.feed()["position"][0].as_py()] = facts(kb)
            first = kb.feed()["since"][0].as_py()
        assert 15 <= first <= 16
        for position in range(first, 21):
            assert replayed(known[position], entries(kb, since=position)) == facts(kb)
        assert kb.feed()["entries"][0].as_py() == 20 - first
        assert kb.verify()


def test_what_follows_a_change_of_both_kinds(kb: KnowledgeBase) -> None:
    """Entries wait, then whole changes with their own; all come to the tables in order."""
    asked(kb)
    kb.insert("edge", [("n2", "n3")])
    assert NOTE in statements_of(kb, lambda: kb.delete("edge", [("n2", "n3")]))
    assert NOTE in statements_of(kb, lambda: kb.insert("edge", [("n2", "n3")]))
    asked(kb)
    kb.delete("edge", [("n2", "n3")])
    assert replayed({}, entries(kb)) == facts(kb)
    assert kb.verify()


def test_a_change_that_fails_leaves_nothing(kb: KnowledgeBase) -> None:
    asked(kb)

    def fail(text: str, _: object) -> None:
        if text == "COMMIT":
            raise KeyboardInterrupt

    before = entries(kb)
    kb.trace(fail)
    with pytest.raises(KeyboardInterrupt):
        kb.insert("edge", [("n2", "n3")])
    kb.trace(None)
    assert entries(kb) == before
    kb.insert("edge", [("n2", "n3")])
    assert replayed({}, entries(kb)) == facts(kb)
    assert kb.verify()
