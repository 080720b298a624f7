"""A change whose facts make a predicate says so: its name may be another one, mistyped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import zodiac_sql

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

MISTYPED = "makes the predicate raeding; did you mean reading?"


@pytest.fixture
def kb(open_kb: OpenKb) -> KnowledgeBase:
    kb = open_kb()
    assert kb.insert("reading", [("wt1", 20.5)]).notes == ()
    return kb


def test_inserts(kb: KnowledgeBase) -> None:
    assert kb.insert("raeding", [("wt1", 21.5)]).notes == (MISTYPED,)
    assert kb.insert("raeding", [("wt1", 22.5)]).notes == ()
    assert kb.insert("turbine", [("wt1",)]).notes == ("makes the predicate turbine",)
    assert kb.replace("site", [("wt1",)]).notes == ("makes the predicate site",)
    assert kb.delete("nothing", [("wt1",)]).notes == ()


def test_files(kb: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "raeding.csv").write_text("turbine,celsius\nwt1,20.5\n")
    assert kb.load(tmp_path / "raeding.csv").notes == (MISTYPED,)
    lines = (f"<http://e/a> <http://e/p{n:02}> <http://e/b> .\n" for n in range(14))
    (tmp_path / "a.nt").write_text("".join(lines))
    (note,) = kb.load(tmp_path / "a.nt").notes
    shown = ", ".join(f"<http://e/p{n:02}>" for n in range(10))
    assert note == f"makes the predicates {shown} and 4 more"


def test_streams(kb: KnowledgeBase) -> None:
    updates = zodiac_sql.UpdateQueue()
    for predicate in ("raeding", "reading", "raeding"):
        updates.put({"insert": {predicate: [("wt2", 7.5)]}})
    updates.close()
    assert [change.notes for change in kb.stream(updates)] == [(MISTYPED,), (), ()]


def test_what_is_expected_is_not_told(kb: KnowledgeBase) -> None:
    kb.add_rules(".decl cold_reading(x: symbol, v: float) hot(X) :- readings(X, T), T > 20.")
    assert kb.insert("cold_reading", [("a", 1.5)]).notes == ()
    assert kb.insert("readings", [("a", 21.5)]).notes == ()
    with kb.update() as update:
        update.insert("rading", [("a", 21.5)])
        update.insert("raeding", [("a", 21.5)])
        update.add_rules("cold(X) :- rading(X, T), T < 0.")
    assert update.change.notes == (MISTYPED,)
    with kb.preview() as preview:
        preview.insert("raedings", [("a", 21.5)])
    (note,) = preview.change.notes
    assert note.startswith("makes the predicate raedings; did you mean ")
