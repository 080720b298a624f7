"""Recursions of thousands of rounds are one statement of SQLite, which can be interrupted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from zodiac_sql.lookups import deep
from zodiac_sql.lookups.cascade import ROUNDS, Cascade
from zodiac_sql.lookups.side_database import SideDatabase

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

LONG = 600
RULES = "on(X) :- start(X). on(Y) :- on(X), arc(X, Y)."
MIDDLE = [(LONG // 2, LONG // 2 + 1)]


@pytest.fixture
def kb(open_kb: OpenKb) -> KnowledgeBase:
    """Half of a chain has been lost and won already."""
    kb = open_kb(strategy="lookups")
    kb.add_rules(RULES)
    kb.insert("arc", [(n, n + 1) for n in range(LONG)])
    kb.insert("start", [(0,)])
    kb.insert("arc", [(LONG, LONG + 1)])
    assert kb.sql('SELECT count(*) FROM "on"').fetchall() == [(LONG + 2,)]
    return kb


def looked_up(change: Any) -> int:
    """How many rounds a change took that was looked up."""
    (hypernode,) = change.stats.hypernodes.values()
    assert hypernode.strategy == "lookups"
    return int(hypernode.iterations)


def test_a_chain_is_lost_and_won_at_once(kb: KnowledgeBase) -> None:
    change = kb.delete("arc", MIDDLE)
    assert looked_up(change) <= ROUNDS + 1 and change.deleted["on"] == LONG // 2 + 1
    assert kb.verify()
    change = kb.insert("arc", MIDDLE)
    assert looked_up(change) <= ROUNDS + 1 and change.inserted["on"] == LONG // 2 + 1
    assert kb.verify()


def test_too_many_rules_go_round_by_round(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deep, "_MOST_TERMS", 1)
    kb.add_rules("on(X) :- begun(X).")
    kb.insert("begun", [(0,)])
    near = [(LONG - 20, LONG - 19)]
    change = kb.delete("arc", near)
    assert looked_up(change) > 20 and change.deleted["on"] == 21
    assert kb.insert("arc", near).inserted["on"] == 21
    assert kb.verify()


@pytest.mark.parametrize("name", ["_lose_all", "_win_all"])
def test_an_interruption_leaves_all_as_it_was(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    looked_up(kb.delete("arc", MIDDLE))
    if name == "_lose_all":
        looked_up(kb.insert("arc", MIDDLE))
    verb = kb.delete if name == "_lose_all" else kb.insert
    before = kb.sql('SELECT count(*) FROM "on"').fetchall()
    inside, way = False, getattr(Cascade, name)
    step = SideDatabase.step

    def noting(*given: Any) -> Any:
        nonlocal inside
        inside = True
        return way(*given)

    def interrupting(self: SideDatabase) -> bool:
        if inside:
            raise KeyboardInterrupt
        return step(self)

    with monkeypatch.context() as patch:
        patch.setattr(Cascade, name, noting)
        patch.setattr(SideDatabase, "step", interrupting)
        with pytest.raises(KeyboardInterrupt):
            verb("arc", MIDDLE)
    assert kb.sql('SELECT count(*) FROM "on"').fetchall() == before
    assert looked_up(verb("arc", MIDDLE)) <= ROUNDS + 1
    assert kb.verify()
