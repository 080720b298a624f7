"""Windows: how they are told, listed and dropped, what a tick does, and what is refused.

What they keep is in tests/cases/windows and tests/random/test_windows.py.
"""

from __future__ import annotations

import datetime
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zodiac_sql.errors import ConstraintError, DataError, ProgramError, QueryError
from zodiac_sql.stream.channel import UpdateQueue

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

DECLARED = ".decl reading(turbine: symbol, at: timestamp)\n"
NOON = datetime.datetime(2026, 1, 1, 12)


def at(minutes: float) -> datetime.datetime:
    """So many minutes after noon."""
    return NOON + datetime.timedelta(minutes=minutes)


def windows(kb: KnowledgeBase) -> list[tuple[str, str, list[str]]]:
    rows = kb.rules().fetchall()
    return [(name, rule, sets) for name, rule, _, _, sets in rows if rule.startswith(".window")]


def test_a_window_is_listed_and_dropped_like_a_rule(open_kb: OpenKb, tmp_path: Path) -> None:
    file = tmp_path / "w.duckdb"
    with open_kb(file) as kb:
        kb.add_rules(f"{DECLARED}.window reading(at: 60 minutes).")
        kb.add_rules(".window reading(last 2 by turbine).", set="heat")
    with open_kb(file) as kb:
        hour = (".window reading", ".window reading(at: 1 hour).", ["main"])
        two = ("heat/.window reading", ".window reading(last 2 by turbine).", ["heat"])
        assert windows(kb) == [hour, two]
        assert ("heat", 0) in [row[:2] for row in kb.rule_sets().fetchall()]
        kb.drop_rules(".window reading(at: 1 hour).")
        assert windows(kb) == [two]
        assert "there is no .window" in kb.drop_rules(".window reading(at: 1 hour).").notes[0]
        kb.drop_rules(set="heat")
        assert not windows(kb) and kb.rule_sets().num_rows == 0
        kb.add_rules(".window reading(at: 1 hour).", set="heat")
        kb.replace_rules(".window reading(at: 2 hours).", set="heat")
        assert [rule for _, rule, _ in windows(kb)] == [".window reading(at: 2 hours)."]
        kb.drop_rules("heat/.window reading")
        assert not windows(kb)


def test_a_window_that_is_there_is_reported(kb: KnowledgeBase) -> None:
    kb.add_rules(f"{DECLARED}.window reading(at: 1 hour).")
    change = kb.add_rules(".window reading(at: 60 minutes).")
    assert change.notes == (".window reading(at: 1 hour). is there already",)


def test_keep_replaces_the_windows_of_main(kb: KnowledgeBase) -> None:
    kb.add_rules(DECLARED)
    kb.keep("reading", "at: 1 hour", "last 3 by turbine")
    kb.keep("reading", "last 3 by turbine", "last 5")
    told = [rule for _, rule, _ in windows(kb)]
    assert told == [".window reading(last 3 by turbine).", ".window reading(last 5)."]
    kb.keep("reading")
    assert not windows(kb)
    with pytest.raises(ProgramError, match="not one window"):
        kb.keep("reading", "at: 1 hour). p(a")


def test_without_any_rule(open_kb: OpenKb, tmp_path: Path) -> None:
    with open_kb(tmp_path / "w.duckdb") as kb:
        kb.insert("reading", [("wt1", at(0)), ("wt1", at(1))])
        kb.keep("reading", "o: 1 hour")
        assert kb.tick(at(60)).deleted == {"reading": 1}
        assert kb.tick(at(61)).deleted == {"reading": 1}
    with open_kb(tmp_path / "w.duckdb") as kb:
        assert kb.insert("reading", [("wt1", at(0))]).inserted == {}
        assert kb.insert("reading", [("wt1", at(30))]).inserted == {"reading": 1}


def test_a_tick_tells_what_has_left(kb: KnowledgeBase) -> None:
    kb.add_rules(f"{DECLARED}.window reading(at: 1 hour). on(X) :- reading(X, _).")
    kb.insert("reading", [("wt1", at(0)), ("wt2", at(0)), ("wt3", at(9))])
    with kb.preview() as preview:
        preview.tick(at(60))
    assert preview.change.deleted == {"reading": 2, "on": 2} and kb.table("on").num_rows == 3
    with kb.update() as update:
        update.tick(at(60).replace(tzinfo=datetime.UTC))
        update.delete("reading", [("wt1", at(0))])
    change = update.change
    assert change.notes == ("reading: 2 facts left the window of reading (at: 1 hour)",)
    lines = str(change.why("on(wt2)")).splitlines()
    assert lines[-1].strip().endswith("left the window of reading")
    assert str(change.why("on(wt1)")).endswith("left: deleted by the change")
    moved = change.why("on(wt2)").to_dict()["events"]
    assert [one["cause"] for one in moved] == ["rule", "window"]


def test_times_of_ticks(kb: KnowledgeBase) -> None:
    kb.add_rules(f"{DECLARED}.window reading(at: 1 second).")
    zone = datetime.timezone(datetime.timedelta(hours=2))
    for now in (NOON, at(120).replace(tzinfo=zone), 1767268800, 1767268800.0):
        kb.insert("reading", [("wt1", NOON - datetime.timedelta(milliseconds=999))])
        assert kb.tick(now).deleted == {}
        kb.delete("reading", [("wt1", NOON - datetime.timedelta(milliseconds=999))])
    for now in ("noon", True, 1e30, float("nan")):
        with pytest.raises(QueryError):
            kb.tick(now)  # type: ignore[arg-type]
    kb.insert("reading", [("wt1", at(0))])
    assert kb.tick().deleted == {"reading": 1}


def test_constraints_refuse_a_tick_and_then_nothing_is_changed(kb: KnowledgeBase) -> None:
    kb.add_rules(
        f"{DECLARED}.window reading(at: 1 hour). on(X) :- reading(X, _). "
        'reading(wt1, "2026-01-01T12:00:00"^^xsd:dateTime). t(wt1). !- t(X), not on(X).'
    )
    with pytest.raises(ConstraintError):
        kb.tick(at(60))
    assert kb.insert("reading", [("wt2", at(-30))]).inserted["reading"] == 1
    assert kb.tick(at(60), check=False).violations


WRONG = {
    ".window reading(at: 1 fortnight).": "is no length of time",
    ".window reading(1 hour).": "in which column the time is",
    ".window reading(at: 1 hour, late 1 minute).": "only events can be late",
    ".window reading(last 0).": "at least one fact",
    ".window reading(at: last 2, by events).": "does not say `by events`",
    ".window reading(turbine: 1 hour).": "holds no times, but symbol values",
    ".window reading(time: 1 hour).": "has no column time",
    ".window reading(last 3 by kind).": "has no column kind",
    ".window other(at: 1 hour).": "Declare it before, as in  .decl other(at: timestamp).",
    ".window ?P(at: 1 hour).": "a variable for a predicate has a window",
    ".window span(last 2).": "several columns of dates or timestamps",
    ".window plain(last 2).": "Name one: .window plain(n: last 2).",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_refused_with_its_place(kb: KnowledgeBase, text: str) -> None:
    kb.add_rules(f"{DECLARED}.decl span(a: date, b: date) .decl plain(n: int)")
    with pytest.raises(ProgramError) as raised:
        kb.add_rules(f"p(a).\n  {text}")
    assert WRONG[text] in str(raised.value) and "<rules>:2:" in str(raised.value)
    assert not windows(kb)


def test_a_column_of_a_window_stays_one_of_times(kb: KnowledgeBase) -> None:
    kb.add_rules(f"{DECLARED}.window reading(at: 1 hour).")
    with pytest.raises(ProgramError, match="holds no times"):
        kb.alter("reading", {"at": "symbol"})


def test_types_change_in_an_update_of_their_own(kb: KnowledgeBase) -> None:
    kb.add_rules(".decl p(x: symbol, at: int) .window p(at: last 1 by x).")
    kb.insert("p", [("a", 1)])
    with pytest.raises(QueryError, match="in an update of their own"), kb.update() as update:
        update.alter("p", {"at": "float"})
        update.insert("p", [("a", 2)])
    kb.alter("p", {"at": "float"})
    assert kb.insert("p", [("a", 2.5)]).deleted == {"p": 1}


def test_the_clock_is_in_copies_of_the_file(open_kb: OpenKb, tmp_path: Path) -> None:
    file, copy = tmp_path / "w.duckdb", tmp_path / "copy.duckdb"
    with open_kb(file) as kb:
        kb.add_rules(f"{DECLARED}.window reading(at: 1 hour). on(X) :- reading(X, A), A < now().")
        kb.tick(at(60))
        kb.insert("reading", [("wt1", at(30)), ("wt2", at(90))])
        kb.compact()
        kb.backup(copy)
    for path in (file, copy):
        with open_kb(path) as kb:
            assert kb.insert("reading", [("wt3", at(0))]).inserted == {}
            assert kb.table("on").fetchall() == [("wt1",)] and kb.verify()


def test_verify_reads_the_clock_of_the_file(open_kb: OpenKb, tmp_path: Path) -> None:
    """Also if nothing else has asked yet, and after the preview of a tick."""
    path, noon = tmp_path / "case.duckdb", datetime.datetime(2026, 1, 1, 12)
    with open_kb(path) as kb:
        kb.add_rules(
            ".decl at(x: symbol, t: timestamp)\nnew(X) :- at(X, T), T > add_days(now(), -1)."
        )
        kb.tick(noon)
        kb.insert("at", [("a", noon)])
    for how in ({}, {"read_only": True}):
        with open_kb(path, **how) as kb:
            assert kb.verify() and kb.table("new").fetchall() == [("a",)]
    with open_kb(path) as kb:
        with kb.preview() as preview:
            preview.tick(noon + datetime.timedelta(days=2))
        assert preview.change.deleted == {"new": 1} and kb.verify()
        assert kb.explain().hypernodes.num_rows == 2 and kb.verify()


def test_a_tick_lets_facts_leave_though_others_come(kb: KnowledgeBase) -> None:
    """In one update, a rule that says now() in its own way loses a fact and only reads new ones."""
    kb.add_rules(
        ".decl at(x: symbol, t: timestamp)\nnew(X) :- at(X, T), seconds_between(T, now()) < 30.\n"
    )
    noon = datetime.datetime(2026, 1, 1, 12)
    kb.tick(noon)
    kb.insert("at", [("a", noon), ("b", noon)])
    with kb.update() as update:
        update.insert("at", [("c", noon + datetime.timedelta(seconds=60))])
        update.tick(noon + datetime.timedelta(seconds=60))
    assert kb.table("new").fetchall() == [("c",)] and kb.verify()
    assert update.change.deleted == {"new": 2}
    with kb.update() as update:  # a fact leaves that is read, and another begins to hold
        update.delete("at", [("c", noon + datetime.timedelta(seconds=60))])
        update.tick(noon)
    assert set(kb.table("new").fetchall()) == {("a",), ("b",)} and kb.verify()


def test_a_tick_moves_the_band_of_a_filter(kb: KnowledgeBase) -> None:
    kb.tick(at(0))
    kb.add_rules(f"{DECLARED}on(X) :- reading(X, A), A <= now(), A > add_seconds(now(), -60).")
    kb.insert("reading", [(f"wt{n}", at(n)) for n in range(100)])
    change = kb.tick(at(50))
    assert change.inserted == {"on": 1} and change.deleted == {"on": 1}
    assert [one["strategy"] for one in change.stats["hypernodes"].values()].count("band") == 1
    assert (
        str(change.why("on(wt50)")).splitlines()[-1].strip().endswith("> add_seconds(now(), -60)")
    )


def test_a_window_may_refuse_what_comes_too_late(kb: KnowledgeBase) -> None:
    kb.add_rules(f"{DECLARED}.window reading(at: 1 hour, by events, else refuse).")
    kb.insert("reading", [("wt1", at(0))])
    with pytest.raises(DataError, match="1 fact comes too late"):
        kb.insert("reading", [("wt1", at(-60)), ("wt1", at(1))])
    assert kb.table("reading").fetchall() == [("wt1", at(0))]


def test_rules_of_variable_predicates_follow_what_leaves(kb: KnowledgeBase) -> None:
    """A fact that names a predicate leaves: the rule that was made for it goes with it."""
    kb.add_rules(
        ".decl watched(p: symbol, at: timestamp) .window watched(at: 1 hour). "
        "seen(X) :- watched(P, _), ?P(X). wind(wt1). rain(wt2)."
    )
    kb.insert("watched", [("wind", at(0)), ("rain", at(30))])
    assert kb.table("seen").num_rows == 2
    assert kb.tick(at(60)).deleted == {"watched": 1, "seen": 1}
    kb.add_rules('watched(wind, "2026-01-01T11:00:00"^^xsd:dateTime).')
    assert kb.table("seen").fetchall() == [("wt2",)] and kb.verify()


def test_a_stream_ticks_by_itself(kb: KnowledgeBase) -> None:
    """Also if a constraint would refuse that: time goes on, and the updates are told apart."""
    kb.add_rules(
        f"{DECLARED}.window reading(at: 1 second). on(X) :- reading(X, _). t(wt1). "
        "late: !- t(X), not on(X).",
        check=False,
    )
    queue = UpdateQueue()

    def put() -> None:
        now = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
        queue.put({"insert": {"reading": [("wt1", now)]}})
        time.sleep(1.6)
        queue.put({"insert": {"t": [("wt2",)]}})
        queue.put({"insert": {"u": [("a",)]}})
        queue.close()

    thread = threading.Thread(target=put)
    thread.start()
    changes = list(kb.stream(queue, tick=0.1, skip_bad=True))
    thread.join()
    assert [one.updates for one in changes if one.updates] == [range(n, n + 1) for n in (1, 2, 3)]
    (left,) = [one for one in changes if not one.updates]
    assert left.deleted == {"reading": 1, "on": 1} and left.violations
    assert "was passed over" in changes[-2].notes[0] and changes[-1].inserted == {"u": 1}
    with pytest.raises(ValueError, match="tick is a number of seconds"):
        kb.stream([], tick=0)
