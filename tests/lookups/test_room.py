"""How many facts can be copied and moved, by memory and disk."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

import zodiac_sql
from zodiac_sql.lookups import copies, room
from zodiac_sql.lookups.room import BYTES_A_FACT, BYTES_A_MOVE, Room, room_of
from zodiac_sql.lookups.worth import limits_of

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]


def test_memory_limits_what_is_copied_and_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "_free", lambda: 10**15)
    for megabytes, facts in ((1_000, 10**9 / 4 / BYTES_A_FACT), (100, 2_000_000)):
        with zodiac_sql.connect(memory_limit=f"{megabytes}MB") as kb:
            found = room_of(kb._session.store)
        assert found.facts == pytest.approx(facts, rel=0.1)
        assert found.moved == pytest.approx(megabytes * 10**6 / 4 / BYTES_A_MOVE, rel=0.1)


def test_the_disk_limits_what_is_copied(monkeypatch: pytest.MonkeyPatch, open_kb: OpenKb) -> None:
    monkeypatch.setattr(room, "_free", lambda: 8 * BYTES_A_FACT * 1_000)
    assert room_of(open_kb()._session.store).facts == 1_000


def test_room_is_looked_for_where_sqlite_puts_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Usage:
        free = 7

    def disk_usage(place: str) -> type[Usage]:
        asked.append(place)
        return Usage

    monkeypatch.setattr(room, "disk_usage", disk_usage)
    monkeypatch.setenv("SQLITE_TMPDIR", tempfile.gettempdir())
    monkeypatch.setenv("TMPDIR", "/nowhere")
    assert room._free() == 7
    monkeypatch.delenv("SQLITE_TMPDIR")
    assert room._free() == 7
    assert asked[0] == tempfile.gettempdir() and asked[1] != "/nowhere"


def test_what_has_no_room_is_not_copied(monkeypatch: pytest.MonkeyPatch, open_kb: OpenKb) -> None:
    kb = open_kb(strategy="lookups")
    kb.add_rules("q(X) :- p(X), not r(X).")
    kb.insert("p", [(n,) for n in range(50)])
    kb.insert("r", [(99,)])
    for facts in (60, 1_000):
        monkeypatch.setattr(
            copies, "room_of", lambda _, facts=facts: Room(facts, limits_of(0).moved)
        )
        for number in range(3):
            change = kb.insert("r", [(number + facts,)])
        used = {one.strategy for one in change.stats.hypernodes.values()}
        assert (used == {"lookups"}) is (facts == 1_000)
        kb.add_rules("s(X) :- r(X).")  # then changes that have failed are tried again
    assert kb.verify()
