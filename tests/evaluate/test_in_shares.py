"""Recursion that is derived share by share, because it would not fit the memory."""

from __future__ import annotations

import random
from collections.abc import Callable

import networkx as nx
import pytest

from zodiac_sql import KnowledgeBase
from zodiac_sql.evaluate import in_shares

OpenKb = Callable[..., KnowledgeBase]

BOTH = "p(X, Y) :- e(X, Y). p(X, Z) :- p(Y, X), e(Y, Z)."


@pytest.mark.parametrize(
    ("rules", "shares"),
    [
        ("p(X, Y) :- e(X, Y). p(X, Z) :- p(X, Y), p(Y, Z).", True),
        ("p(X, Y) :- e(X, Y). p(X, Z) :- p(X, Y), e(Y, Z).", True),
        ("p(X, Y) :- e(X, Y). p(X, Z) :- e(X, Y), p(Y, Z).", True),
        (BOTH, False),
    ],
    ids=["transitive", "left", "right", "both"],
)
def test_shares_make_the_whole(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, rules: str, shares: bool
) -> None:
    rng = random.Random(1)
    edges = {(rng.randrange(60), rng.randrange(60)) for _ in range(90)}
    monkeypatch.setattr(in_shares, "FACTS_OF_AN_INPUT", 10**12)
    monkeypatch.setattr(in_shares, "BYTES_OF_A_ROW", 10**7)
    kb = open_kb()
    texts: list[str] = []
    kb.trace(lambda text, _: texts.append(text))
    with kb.update() as update:
        update.add_rules(rules)
        update.insert("e", list(edges))
    assert any(text.startswith("INSERT") and "hash(" in text.lower() for text in texts) == shares
    if shares:
        wanted = set(nx.transitive_closure(nx.DiGraph(list(edges)), reflexive=False).edges)
        assert set(kb.table("p").fetchall()) == wanted
    assert kb.verify()
    for edge in sorted(edges)[:3]:
        kb.delete("e", [edge])
    assert kb.verify()
