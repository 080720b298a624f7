"""Which changes are looked up, when, and what happens where they cannot be."""

from __future__ import annotations

import gc
import sqlite3
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.earnings import by_numbers

from zodiac_sql import ConstraintError, LimitError, StoreError
from zodiac_sql.change import copies_follow, kinds, write_moved
from zodiac_sql.lookups import copies, worth
from zodiac_sql.lookups.copies import Copies
from zodiac_sql.lookups.side_database import SideDatabase
from zodiac_sql.lookups.tables import Copy

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.change import Change

OpenKb = Callable[..., "KnowledgeBase"]

RULES = """
    linked: near(X, Y) :- link(X, Y).
    back: near(X, Y) :- link(Y, X).
    hot: hot(X) :- reading(X, T), T > 80, not quiet(X).
    path: path(X, Y) :- near(X, Y).
    paths: path(X, Z) :- path(X, Y), link(Y, Z).
"""


def filled(kb: KnowledgeBase) -> KnowledgeBase:
    kb.add_rules(RULES)
    kb.insert("link", [(f"n{i}", f"n{i + 1}") for i in range(5)])
    kb.insert("reading", [("n1", 90.0), ("n2", 20.0)])
    kb.insert("quiet", [("n9",)])
    return kb


def ways(change: Change) -> set[str]:
    """How hypernodes followed a change."""
    return {one.strategy for one in change.stats.hypernodes.values()}


def test_lookups_from_the_first_change_on(open_kb: OpenKb) -> None:
    kb = filled(open_kb(strategy="lookups"))
    change = kb.insert("reading", [("n3", 99.0)])
    assert ways(change) == {"lookups"} and change.inserted == {"reading": 1, "hot": 1}
    assert kb.delete("link", [("n2", "n3")]).deleted["path"] > 3
    assert kb.verify()


def test_previews_are_looked_up_as_the_changes_are(open_kb: OpenKb) -> None:
    kb = filled(open_kb(strategy="lookups"))
    with kb.preview() as asked:
        asked.insert("link", [("n5", "n6"), ("n1", "m1")])
        asked.delete("quiet", [("n9",)])
    foreseen = asked.change
    assert ways(foreseen) == {"lookups"} and foreseen.stats.seconds.publish is None
    near = foreseen.inserted_facts("near").to_pylist()
    assert "m1" in str(foreseen.why("near(n1, m1)"))
    with kb.update() as update:
        update.insert("link", [("n5", "n6"), ("n1", "m1")])
        update.delete("quiet", [("n9",)])
    change = update.change
    assert (change.inserted, change.deleted) == (foreseen.inserted, foreseen.deleted)
    assert change.inserted_facts("near").to_pylist() == near
    assert next(one.operator for one in change.stats.considered) == "look-ups"
    assert kb.verify()


def test_a_preview_of_facts_that_no_rule_reads(open_kb: OpenKb) -> None:
    kb = filled(open_kb())
    kb.insert("alone", [(1,), (2,), (5,)])
    with kb.preview() as asked:
        asked.insert("alone", [(2,), (3,)])
        asked.delete("alone", [(1,), (9,)])
    assert (asked.change.inserted, asked.change.deleted) == ({"alone": 1}, {"alone": 1})
    assert asked.change.deleted_facts("alone").to_pylist() == [{"s": 1}]
    assert next(one.operator for one in asked.change.stats.considered) == "directly"
    assert set(kb.table("alone")) == {(1,), (2,), (5,)}


def test_auto_looks_up_once_that_has_been_earned(open_kb: OpenKb) -> None:
    kb = filled(open_kb())
    turns = [ways(kb.insert("reading", [(f"m{n}", 99.0)])) for n in range(6)]
    assert turns[0] != {"lookups"} and turns[-1] == {"lookups"}
    assert kb.verify()


@pytest.mark.parametrize("other", ["support", "bf", "dred", "recompute"])
def test_other_strategies_do_not(open_kb: OpenKb, other: str) -> None:
    kb = filled(open_kb(strategy=other))
    assert all("lookups" not in ways(kb.insert("quiet", [(f"m{n}",)])) for n in range(6))


REFUSED = {
    "a text that is the least": "n(T, L) :- AGGREGATE(reading(X, T)) ON T WITH MIN(X) AS L.",
    "a sum of computed values": "n(X, S) :- AGGREGATE(reading(X, T)) ON X WITH SUM(exp(T)) AS S.",
    "a group that is not told": "n(N) :- AGGREGATE(reading(X, T)) ON X WITH COUNT(T) AS N.",
    "a computed text": 'n(X, T) :- reading(X, _), T = concat("at ", X).',
    "a logarithm": "n(X, L) :- reading(X, T), L = ln(T).",
    "texts in order": "n(X) :- reading(X, _), X < n5.",
    "an int that meets a float": "n(X) :- reading(X, T), size(X, T).",
    "the best of a group": "n(X, MIN(T)) :- reading(X, T).",
    "a symmetric relation": """
        n(X, Y) :- link(X, Y). n(X, Y) :- n(Y, X). n(X, Z) :- n(X, Y), n(Y, Z).
    """,
}


@pytest.mark.parametrize("rule", REFUSED.values(), ids=REFUSED)
def test_what_is_not_looked_up_goes_the_other_ways(open_kb: OpenKb, rule: str) -> None:
    kb = filled(open_kb(strategy="lookups"))
    kb.insert("size", [("n1", 90)])
    kb.add_rules(rule)
    for number in range(3):
        change = kb.insert("reading", [(f"m{number}", 20.0 + number)])
        other = kb.insert("link", [(f"m{number}", "n1")])
        assert "lookups" not in ways(change) or "lookups" not in ways(other)
    assert kb.insert("quiet", [("n1",)]).deleted == {"hot": 1}  # copies have followed
    assert kb.verify()


def test_nan_is_in_no_copy(open_kb: OpenKb) -> None:
    kb = filled(open_kb(strategy="lookups"))
    change = kb.insert("reading", [("n3", float("nan"))])
    assert ways(change) == {"candidates"} and change.inserted["hot"] == 1  # NaN is above all
    assert ways(kb.insert("reading", [("n4", 99.0)])) == {"candidates"}
    assert kb.verify()


def test_a_change_that_turns_out_to_be_large(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb = filled(open_kb(strategy="lookups"))
    for limits in (worth.LookupLimits(3, 10**6), worth.LookupLimits(5_000, -1)):
        with monkeypatch.context() as patch:
            patch.setattr(copies.Copies, "limits", lambda *_, limits=limits: limits)
            rows = [("n3", f"m{n}") for n in range(40)]
            change = kb.insert("link", rows)
            assert "lookups" not in ways(change) and change.inserted["near"] == 80
            kb.delete("link", rows)
    assert kb.verify()


def test_after_large_ones_fewer_and_fewer_are_tried() -> None:
    known = worth.Worth()
    known.earn_all()
    tried = []
    for number in range(40):
        if known.is_to_be_tried("kind"):
            tried.append(number)
            known.failed("kind")
    assert tried == [0, 2, 6, 14, 30]
    known.succeeded("kind", 1)
    assert known.is_to_be_tried("kind")


@pytest.mark.parametrize("chosen", ["auto", "lookups"])
def test_copies_stay_when_other_rules_come_and_go(open_kb: OpenKb, chosen: str) -> None:
    """They need not be earned again, and statements are made for the new rule only."""
    kb = filled(open_kb(strategy=chosen))
    for number in range(6):
        kb.insert("reading", [(f"m{number}", 99.0)])
    made = _made(kb)
    with kb.update() as update:
        update.add_rules("odd: odd(X) :- path(X, Y), not quiet(Y).")
        update.insert("quiet", [("m1",)])  # copies follow what comes with the rule
    assert ways(kb.insert("reading", [("m6", 99.0)])) == {"lookups"}
    assert kb.delete("quiet", [("m1",)]).inserted == {"hot": 1}
    kb.drop_rules("odd")
    kb.insert("alone", [(1,)])  # what a dropped rule leaves behind goes with the next change
    change = kb.insert("reading", [("m7", 99.0)])
    assert ways(change) == {"lookups"} and change.inserted == {"reading": 1, "hot": 1}
    assert made and made.items() <= _made(kb).items()
    assert kb.verify()


def _made(kb: KnowledgeBase) -> dict[int, object]:
    """The statements that have been made, by hypernode."""
    prepared = kb._updates.last.prepared
    assert prepared is not None
    return {number: made.statements for number, made in prepared.copies._made.items()}


def test_changes_are_tried_again_when_a_rule_has_gone(open_kb: OpenKb) -> None:
    """While it was there, they were tried less and less often."""
    kb = filled(open_kb(strategy="lookups"))
    kb.add_rules("more: n(X, L) :- reading(X, T), L = ln(T).")
    for number in range(9):
        assert "lookups" not in ways(kb.insert("reading", [(f"m{number}", 99.0)]))
    kb.drop_rules("more")
    kb.insert("reading", [("n3", 99.0)])  # and what the rule has left behind goes
    assert ways(kb.insert("reading", [("n4", 99.0)])) == {"lookups"}
    assert kb.verify()


def test_a_copy_goes_when_no_rule_reads_it(open_kb: OpenKb) -> None:
    """Changes of what is in no rule are written without the copies."""
    kb = filled(open_kb(strategy="lookups"))
    kb.insert("reading", [("m1", 99.0)])
    kb.drop_rules("hot")
    kb.insert("quiet", [("m1",)])
    kb.insert("quiet", [("m2",)])
    kb.add_rules("hot: hot(X) :- reading(X, T), T > 80, not quiet(X).")
    assert kb.delete("quiet", [("m1",)]).inserted == {"hot": 1}
    assert kb.insert("reading", [("m2", 99.0)]).inserted == {"reading": 1}
    assert kb.delete("quiet", [("m2",)]).deleted == {"quiet": 1}
    assert kb.verify()


def test_a_copy_goes_when_another_rule_derives_its_facts(open_kb: OpenKb) -> None:
    kb = filled(open_kb(strategy="lookups"))
    kb.insert("reading", [("m1", 99.0)])
    kb.add_rules("odd: hot(X) :- quiet(X).")
    assert kb.insert("reading", [("n9", 99.0)]).inserted == {"reading": 1}
    assert kb.delete("quiet", [("n9",)]).deleted == {"quiet": 1}
    assert kb.delete("reading", [("n9", 99.0)]).deleted == {"reading": 1, "hot": 1}
    kb.drop_rules("odd")
    assert kb.insert("quiet", [("m1",)]).deleted == {"hot": 1}
    assert kb.verify()


def test_what_copies_cost_is_earned() -> None:
    known = worth.Worth()
    assert not known.is_to_be_tried("kind")
    known.earn("kind", 2, 0.0, streamed=False)
    known.begin("kind")
    with pytest.raises(worth.NotEarnedError):
        known.spend("p", 2 * worth.HYPERNODE + 1)
    known.spend("p", worth.HYPERNODE)
    assert known.earned == worth.HYPERNODE
    known.earn("kind", 1, 0.0, streamed=True)
    assert known.earned == (1 + worth.STREAMED) * worth.HYPERNODE


def test_slow_changes_earn_what_they_have_taken() -> None:
    """One of them copies a part, and others for half of what those of its kind have taken."""
    known = worth.Worth()
    for _ in range(3):
        known.earn("slow", 2, 1.0, streamed=False)
    part = 500 / worth.COPIED
    for names in (["large"], ["p", "q"]):
        known.begin("slow")
        assert [known.parts_of(n) for n in (0, 1, part, part + 1, 8 * part)] == [1, 1, 1, 2, 8]
        for name in names:
            known.spend(name, 500 if name == "large" else 166)
        with pytest.raises(worth.NotEarnedError):
            known.spend("r", 250)
    known.earn("quick", 2, 0.01, streamed=False)
    known.begin("quick")
    assert known.parts_of(round(5 * worth.SHORT / worth.COPIED)) == 5
    known.spend("p", worth.SHORT)
    with pytest.raises(worth.NotEarnedError):
        known.spend("p", worth.SHORT)


def test_the_first_change_of_a_kind_copies_as_much_as_others_may() -> None:
    known = worth.Worth()
    known.earn("one", 25, 0.0, streamed=False)
    known.earn("two", 5, 0.0, streamed=False)
    for kind, allowed in (("one", 25), ("two", 5), ("new", 20)):
        known.begin(kind)
        known.earned = 1_000
        known.spend("p", 1)
        with pytest.raises(worth.NotEarnedError):
            known.spend("q", allowed * worth.HYPERNODE)
        known.spend("q", allowed * worth.HYPERNODE - 1)


def test_how_much_a_change_may_do_follows_from_what_its_kind_has_taken() -> None:
    known = worth.Worth()
    least = worth.limits_of(0)
    assert worth.limits_of(known.usual("kind")) == least
    known.earn("kind", 2, 1.0, streamed=False)
    limits = worth.limits_of(known.usual("kind"))
    assert limits.moved == 1_000 * worth.SHARE / worth.MOVED
    assert limits.steps == int(1_000 * worth.SHARE / worth.STEP)
    known.earn("kind", 2, 3.0, streamed=False)
    assert worth.limits_of(known.usual("kind")).moved == 1.5 * limits.moved
    assert worth.limits_of(known.usual("other")) == least


def test_copies_that_do_not_last_cost_more_the_next_time() -> None:
    known = worth.Worth()
    size = round(3 * worth.HYPERNODE / worth.COPIED)
    ms, prices = 3 * worth.HYPERNODE, []
    for lookups in (0, 2, 3, 3, 3):
        prices.append((known.prices.of("p", size) - worth.COPY) / ms)
        known.prices.copied("p")
        for _ in range(lookups):
            known.succeeded("kind", 1)
        known.prices.dropped("p", size)
    assert prices == [1, 2, 4, 2, 1]
    assert known.prices.of("q", size) == ms + worth.COPY
    known.prices.dropped("q", size)  # before it was complete
    assert known.prices.of("q", size) == 2 * ms + worth.COPY


def test_where_much_has_moved_a_whole_copy_is_earned_again() -> None:
    """A change that moves much may come again before the last part of a copy is there."""
    known = worth.Worth()
    size = round((10 * worth.HYPERNODE - worth.COPY) / (worth.MARGIN * worth.COPIED))
    known.earn("kind", 9, 0.0, streamed=False)
    assert not known.may_begin("p", size) and known.may_begin("q", 10)
    known.earn("kind", 1, 0.0, streamed=False)
    assert known.may_begin("p", size)
    known.prices.moved_much("p")
    assert not known.may_begin("p", size) and known.may_begin("q", 10)
    known.earn("kind", 9, 0.0, streamed=False)
    assert not known.may_begin("p", size)
    known.earn("kind", 1, 0.0, streamed=False)
    assert known.may_begin("p", size)


def test_copies_that_take_longer_than_was_paid_are_paid_afterwards() -> None:
    known = worth.Worth(earned=300)
    known.spend("p", 100)
    known.took(100, 0.05)  # as quick as it may be
    assert known.earned == 200
    known.took(100, 0.35)
    assert known.earned == -50


def test_a_change_copies_no_more_when_one_copy_has_taken_all_its_time() -> None:
    known = worth.Worth()
    known.earn("kind", 1, 1.0, streamed=False)
    known.begin("kind")
    known.spend("p", 100)
    known.took(100, 0.2)
    known.spend("q", 300)
    known.begin("kind")
    known.spend("p", 100)
    known.took(100, 0.45)
    with pytest.raises(worth.NotEarnedError):
        known.spend("q", 100)


def test_what_it_costs_to_follow_a_large_change_has_been_saved() -> None:
    known = worth.Worth()
    assert not known.pays_to_follow(100, 10_000)
    for _ in range(100):
        known.succeeded("kind", 2)
    assert known.saved == worth.SHORT
    assert known.pays_to_follow(100, 10_000)
    assert known.saved == worth.SHORT - 100 * worth.FOLLOWED
    assert not known.pays_to_follow(5_000, 10_000)  # it is made anew in less time


@pytest.mark.parametrize("follows", [True, False])
def test_copies_after_a_large_change(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, follows: bool
) -> None:
    """They follow it if that pays; those of predicates that it hardly moves follow it anyway."""
    kb = filled(open_kb())
    kb.insert("link", [(f"k{n}", f"l{n}") for n in range(200)])
    for number in range(12):
        change = kb.insert("link", [(f"m{number}", f"n{number}")])
    assert ways(change) == {"lookups"}
    loaded = []
    load = Copies._load

    def noting(self: Copies, store: object, state: object, name: str, size: int) -> None:
        loaded.append(name)
        load(self, store, state, name, size)  # type: ignore[arg-type]

    monkeypatch.setattr(Copies, "_load", noting)
    for module, name, most in (
        (kinds, "MOST_GIVEN", 5), (copies_follow, "limits_of", lambda _: worth.LookupLimits(15, 0)),
        (worth, "FOLLOWED", 1e-3 if follows else 1),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, most)
    kb._updates.last.prepared.copies.worth.earned = 1  # type: ignore[union-attr]
    kb.delete("link", [(f"k{n}", f"l{n}") for n in range(10)])
    turns = [ways(kb.insert("link", [(f"o{n}", f"p{n}")])) for n in range(12)]
    assert turns[-1] == {"lookups"} and (turns[0] == {"lookups"}) is follows
    assert loaded == [] if follows else "link" not in loaded
    assert kb.verify()


def test_after_much_has_moved_copies_are_earned_again(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_numbers(monkeypatch)
    monkeypatch.setattr(worth, "COPY", 0)
    for module in (copies, copies_follow):
        monkeypatch.setattr(module, "limits_of", lambda _: worth.LookupLimits(15, 10**6))
    kb = filled(open_kb())
    kb.insert("link", [("l0", "m0")])
    worth_ = kb._updates.last.prepared.copies.worth  # type: ignore[union-attr]
    assert worth_.may_begin("path", 100)
    kb.insert("link", [(f"k{n}", f"l{n}") for n in range(20)])
    assert not worth_.may_begin("path", 100) and worth_.may_begin("reading", 100)
    turns = [ways(kb.insert("link", [(f"m{n}", f"n{n}")])) for n in range(12)]
    assert turns[0] != {"lookups"} and turns[-1] == {"lookups"}
    assert kb.verify()


def test_large_predicates_are_copied_part_by_part(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Changes that come meanwhile are in the copies, of whatever part."""
    by_numbers(monkeypatch)
    monkeypatch.setattr(worth, "SHORT", 20 * worth.COPIED)
    for price in ("MOVED", "STEP"):
        monkeypatch.setattr(worth, price, 1e-9)
    monkeypatch.setattr(worth, "HYPERNODE", 50 * worth.COPIED)
    monkeypatch.setattr(worth, "COPY", 0)
    kb = filled(open_kb())
    kb.insert("reading", [(f"m{n}", 70.0 + n) for n in range(400)])
    turns, parts = [], set()
    for number in range(30):
        turns.append(ways(kb.insert("reading", [(f"m{number}", 99.5)])))
        turns.append(ways(kb.delete("reading", [(f"m{399 - number}", 469.0 - number)])))
        copies = kb._updates.last.prepared.copies  # type: ignore[union-attr]
        parts |= {(one.done, one.parts) for one in copies._loading.values()}
    assert len(parts) > 5 and turns[-1] == {"lookups"}
    assert kb.insert("quiet", [(f"m{n}",) for n in range(200)]).deleted == {"hot": 200}
    assert kb.verify()


def test_an_interruption_while_a_copy_is_made(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb = filled(open_kb(strategy="lookups"))
    find_top = Copies._find_top
    with monkeypatch.context() as patch:

        def interrupted(self: Copies, name: str, copy: Copy) -> None:
            if name == "path":
                raise KeyboardInterrupt
            find_top(self, name, copy)

        patch.setattr(Copies, "_find_top", interrupted)
        with pytest.raises(KeyboardInterrupt):
            kb.insert("link", [("n7", "n8")])
    for number in range(2):
        assert kb.insert("link", [(f"m{number}", "n0")]).inserted["link"] == 1
    assert kb.verify()


@pytest.mark.parametrize("fails_at", ["INSERT OR IGNORE INTO won", "CREATE TABLE", "COMMIT"])
def test_sqlite_has_no_room(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, fails_at: str
) -> None:
    """A change is then carried out by DuckDB, and exactly once."""
    kb = filled(open_kb(strategy="lookups"))
    kb.insert("quiet", [("n7",)])
    run = SideDatabase.run

    def failing(self: SideDatabase, text: str, parameters: object = ()) -> int:
        if text.startswith(fails_at):
            raise sqlite3.OperationalError("database or disk is full")
        return run(self, text, parameters)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(SideDatabase, "run", failing)
        assert kb.insert("link", [("n5", "n6")]).inserted["near"] == 2
        assert kb.insert("reading", [("n3", 99.0)]).inserted == {"reading": 1, "hot": 1}
    assert kb.delete("link", [("n5", "n6")]).deleted["near"] == 2
    assert kb.verify()


def test_a_change_that_cannot_be_written_leaves_the_copies(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb = filled(open_kb(strategy="lookups"))
    kb.insert("quiet", [("n7",)])

    def failing(*_: object) -> None:
        raise StoreError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(write_moved, "save", failing)
        with pytest.raises(StoreError):
            kb.insert("link", [("n5", "n6")])
    change = kb.insert("link", [("n5", "n6")])
    assert ways(change) == {"lookups"} and change.inserted["near"] == 2
    assert kb.verify()


def test_somebody_else_has_changed_the_file(open_kb: OpenKb, tmp_path: Path) -> None:
    kb = filled(open_kb(tmp_path / "shared.duckdb", strategy="lookups"))
    kb.insert("quiet", [("n7",)])
    with open_kb(tmp_path / "shared.duckdb", strategy="lookups") as other:
        other.delete("quiet", [("n7",)])
        other.insert("reading", [("n7", 99.0)])
    assert kb.insert("quiet", [("n7",)]).deleted == {"hot": 1}
    assert kb.verify()


def test_constraints_refuse_with_their_reason(open_kb: OpenKb) -> None:
    kb = filled(open_kb(strategy="lookups"))
    kb.add_rules("cool: !- reading(X, T), T > 150.")
    with pytest.raises(ConstraintError, match="cool"):
        kb.insert("reading", [("n3", 160.0)])
    assert kb.insert("reading", [("n3", 140.0)]).inserted["hot"] == 1


def test_limits_are_counted_by_the_other_ways(open_kb: OpenKb) -> None:
    kb = filled(open_kb(strategy="lookups"))
    with pytest.raises(LimitError):
        kb.insert("link", [("n5", f"m{n}") for n in range(20)], max_rows=3)
    assert "lookups" not in ways(kb.insert("quiet", [("n7",)], max_rows=100))


def test_the_change_feed_has_what_was_looked_up(open_kb: OpenKb) -> None:
    kb = filled(open_kb(strategy="lookups"))
    kb.keep_feed(["hot", "link"])
    kb.insert("quiet", [("n7",)])
    assert ways(kb.insert("quiet", [("n1",)])) == {"lookups"}
    assert ways(kb.insert("link", [("n5", "n6")])) == {"lookups"}
    changes = kb.changes(since=0)
    rows = {p: changes.table(p).drop_columns("_time").to_pylist() for p in ("hot", "link")}
    assert rows == {
        "hot": [{"s": "n1", "_change_type": "delete", "_commit": 1}],
        "link": [{"s": "n5", "o": "n6", "_change_type": "insert", "_commit": 2}],
    }
    assert kb.verify()


def test_copies_are_freed_with_the_knowledge_base(open_kb: OpenKb) -> None:
    kb = filled(open_kb(strategy="lookups"))
    kb.insert("quiet", [("n7",)])
    copies = kb._updates.last.prepared.copies  # type: ignore[union-attr]
    assert isinstance(copies, Copies)
    side = weakref.ref(copies.database)
    kb.close()
    del copies
    gc.collect()
    assert side() is None
