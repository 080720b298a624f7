"""A first change that would take DuckDB a statement for each of many rounds is looked up."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from zodiac_sql.change.operators import copied_first
from zodiac_sql.lookups import worth

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

LONG = 300
RULES = "val(X) :- low(X). val(G) :- gate(G, A, B), val(A), val(B)."
GATE = (LONG // 2, LONG // 2 - 1, LONG // 2 - 2)


@pytest.fixture
def kb(open_kb: OpenKb) -> KnowledgeBase:
    """Gates, each of which rests on the two before it. Nobody has changed one yet."""
    kb = open_kb(strategy="auto")
    kb.insert("gate", [(n, n - 1, n - 2) for n in range(2, LONG)])
    kb.insert("low", [(0,), (1,)])
    kb.add_rules(RULES)
    assert len(kb.table("val")) == LONG
    return kb


def _deleted(kb: KnowledgeBase) -> tuple[str, int]:
    """The strategy by which one gate and all that rest on it are deleted, and the statements."""
    seen: list[str] = []
    kb.trace(lambda statement, _: seen.append(statement))
    change = kb.delete("gate", [GATE])
    kb.trace(None)
    assert change.deleted == {"gate": 1, "val": LONG // 2}
    assert set(kb.table("val")) == {(n,) for n in range(LONG // 2)}
    (hypernode,) = (one for one in change.stats.hypernodes.values() if one.forward or one.checked)
    return hypernode.strategy, len(seen)


def test_rounds_are_looked_up(kb: KnowledgeBase) -> None:
    strategy, statements = _deleted(kb)
    assert strategy == "lookups" and statements < LONG // 2
    assert kb.insert("gate", [GATE]).inserted == {"gate": 1, "val": LONG // 2}
    assert kb.verify()


def _earnings(kb: KnowledgeBase) -> worth.Worth:
    """All that a session knows of what copies cost, and of what has been earned for them."""
    prepared = kb._updates.last.prepared
    assert prepared is not None
    return deepcopy(prepared.copies.worth)


def _previewed(kb: KnowledgeBase) -> list[str]:
    """The ways that were tried for a preview of the same deletion."""
    with kb.preview() as preview:
        preview.delete("gate", [GATE])
    assert preview.change.deleted == {"gate": 1, "val": LONG // 2}
    return [one.operator for one in preview.change.stats.considered if one.took is not None]


def test_a_preview_earns_nothing(kb: KnowledgeBase) -> None:
    """It goes the way of the change. The copies that it makes stay, so what they cost is known."""
    before = _earnings(kb)
    assert _previewed(kb) == ["hypernodes", "look-ups, copied first"]
    after = _earnings(kb)
    assert after.earned == before.earned == 0 and after.prices.gained == 0
    assert replace(after, prices=before.prices) == before
    _deleted(kb)
    kb.insert("gate", [GATE])
    earned = _earnings(kb)
    assert earned.earned > 0
    assert _previewed(kb) == ["look-ups"]
    assert _earnings(kb) == earned


def test_tries_that_fail_leave_the_change_to_duckdb(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copied_first, "limits_of", lambda _: worth.LookupLimits(1, 1))
    strategy, statements = _deleted(kb)
    assert strategy in ("support", "recompute") and statements > 100  # by how quick rounds are
    assert kb.verify()


def test_copies_that_cost_more_are_not_made(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worth, "COPIED", 1_000)
    strategy, statements = _deleted(kb)
    assert strategy == "recompute" and statements < LONG  # rounds end when that costs no more
    assert kb.verify()
