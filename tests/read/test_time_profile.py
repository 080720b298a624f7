"""`profile`: where the time goes, by rules and hypernodes."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from zodiac_sql.errors import LimitError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

RULES = """
copied: link(X, Y) :- arc(X, Y).
begun: path(X, Y) :- link(X, Y).
prolonged: path(X, Z) :- path(X, Y), link(Y, Z).
odd: odd(Y) :- even(X), next(X, Y).
even: even(Y) :- odd(X), next(X, Y).
turned: near(X, Y) :- near(Y, X).
joined: near(X, Z) :- near(X, Y), near(Y, Z).
"""


def filled(kb: KnowledgeBase) -> KnowledgeBase:
    with kb.update() as update:
        update.add_rules(RULES)
        update.insert("even", [(0,)])
        update.insert("arc", [(i, i + 1) for i in range(20)])
        update.insert("next", [(i, i + 1) for i in range(20)])
        update.insert("near", [(1, 2), (2, 3)])
    return kb


def test_the_sum_over_changes(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        changes = []
        for i in range(8):
            changes.append(kb.insert("arc", [(i, i + 1)]))
            changes.append(kb.insert("next", [(i, i + 1)]))
            if i == 2:
                changes.append(kb.add_rules(RULES))
                changes.append(kb.insert("even", [(0,)]))
        with kb.preview() as preview:
            preview.insert("arc", [(77, 78)])
        found = kb.profile()
        assert (found.changes, found.scratch_seconds) == (len(changes), None)
        assert found.seconds == pytest.approx(sum(change.seconds for change in changes))
        for row in found.rules.to_pylist():
            told = [r for c in changes for r in c.stats.rules if r.rule == row["rule"]]
            assert row["seconds"] == pytest.approx(sum(one.seconds for one in told))
            assert row["seconds_together"] == pytest.approx(sum(o.seconds_together for o in told))
            assert {*row["together"]} == {name for one in told for name in one.together}
            known = [one.read for one in told]
            assert row["read"] == (None if None in known else sum(filter(None, known)))
            assert row["scratch_seconds"] is row["scratch_facts"] is None
        for row in found.hypernodes.to_pylist():
            done = [c.stats.hypernodes.get(row["hypernode"]) for c in changes]
            work = [one for one in done if one]
            assert row["changes"] == len(work)
            assert row["seconds"] == pytest.approx(sum(one.seconds for one in work))
            assert row["inserted"] == sum(one.inserted for one in work)
            assert row["last_seconds"] == (done[-1].seconds if done[-1] else None)
        rules = {row["rule"] for row in found.rules.to_pylist()}
        assert rules == {*kb.rules()["name"].to_pylist()}
        seconds = found.rules["seconds"].to_pylist()
        assert seconds == sorted(seconds, reverse=True) and seconds[0] > 0


def test_from_scratch(open_kb: OpenKb, tmp_path: Path) -> None:
    file = tmp_path / "profiled.duckdb"
    with open_kb(file) as kb:
        filled(kb)
    with open_kb(file, read_only=True) as kb:
        found = kb.profile(from_scratch=True)
        assert found.changes == 0 and found.scratch_seconds > 0
        rows = {row["rule"]: row for row in found.rules.to_pylist()}
        assert rows["odd"]["scratch_facts"] == rows["even"]["scratch_facts"] == 10
        assert all(row["seconds"] == 0 for row in rows.values())
        (near,) = (r for r in found.hypernodes.to_pylist() if r["derives"] == ["near"])
        assert near["scratch_seconds"] > 0 and near["operators"] == []
        times = [row["scratch_seconds"] for row in found.rules.to_pylist()]
        known = [one for one in times if one is not None]
        assert known == sorted(known, reverse=True)
        shown = str(found)
        assert (
            "scratch ms" in shown and "last ms" not in shown and "everything from scratch" in shown
        )
        assert kb.profile().changes == 0 and "0 changes" in str(kb.profile())
        with pytest.raises(LimitError):
            kb.profile(from_scratch=True, timeout=0.0001)


def test_one_change_or_a_preview(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        filled(kb)
        with kb.preview() as preview:
            preview.add_rules("more: hop(X, Z) :- link(X, Y), link(Y, Z).")
            preview.drop_rules("odd")
        found = kb.profile(preview.change)
        rows = {row["rule"]: row for row in found.rules.to_pylist()}
        assert found.changes == 1 and rows["more"]["seconds"] > 0
        assert rows["more"]["text"] == "hop(X, Z) :- link(X, Y), link(Y, Z)."
        assert "hop(X, Z)" in str(found) and "last ms" not in str(found)
        assert kb.profile().changes == 1  # not the preview


def test_a_rule_that_has_gone_keeps_its_time(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        filled(kb)
        kb.drop_rules("copied")
        (copied,) = (row for row in kb.profile().rules.to_pylist() if row["rule"] == "copied")
        assert copied["seconds"] > 0 and copied["text"] is None and "(gone)" in str(kb.profile())


def test_it_prints_and_is_json(open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_kb() as kb:
        empty = kb.profile()
        assert len(empty.rules) == len(empty.hypernodes) == 0
        assert empty.rules.schema.field("together").type == pa.list_(pa.string())
        filled(kb)
        kb.insert("next", [(50, 51)])
        found = kb.profile(from_scratch=True)
        assert json.loads(json.dumps(found.to_dict()))["rules"] == found.rules.to_pylist()
        assert "prolonged" in found._repr_html_() and repr(found) == str(found)
        for columns in (80, 120):
            monkeypatch.setenv("COLUMNS", str(columns))
            assert max(map(len, str(found).splitlines())) <= columns


def test_a_reader_sees_the_times_of_changes(open_kb: OpenKb, tmp_path: Path) -> None:
    with open_kb(tmp_path / "read.duckdb") as kb:
        filled(kb)
        stop, failed = threading.Event(), []

        def ask() -> None:
            try:
                with kb.reader() as reader:
                    seen = 0
                    while not stop.is_set():
                        now = reader.profile()
                        assert now.changes >= seen >= 0
                        seen = now.changes
            except BaseException as error:  # noqa: BLE001
                failed.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        for i in range(60):
            kb.insert("next", [(100 + i, 101 + i)])
            if i % 20 == 0:
                kb.add_rules(f"r{i}: new{i}(X) :- next(X, _).")
        stop.set()
        thread.join()
        assert not failed and kb.profile().changes == 64
