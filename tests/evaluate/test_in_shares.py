"""Recursion that is derived share by share, because it would not fit the memory."""

from __future__ import annotations

import random
from collections.abc import Callable

import networkx as nx
import pytest

from zodiac_sql import KnowledgeBase
from zodiac_sql.change import materialise
from zodiac_sql.change.plan_sizes import PlannedSizes
from zodiac_sql.evaluate import in_shares

OpenKb = Callable[..., KnowledgeBase]

BOTH = "p(X, Y) :- e(X, Y). p(X, Z) :- p(Y, X), e(Y, Z)."


@pytest.mark.parametrize(
    ("rules", "shares"),
    [
        ("p(X, Y) :- e(X, Y). p(X, Z) :- p(X, Y), e(Y, Z), X != Z.", True),
        ("p(X, Y) :- e(X, Y). p(X, Z) :- p(X, Y), p(Y, Z).", True),
        ("p(X, Y) :- e(X, Y). p(X, Z) :- p(X, Y), e(Y, Z).", True),
        ("p(X, Y) :- e(X, Y). p(X, Z) :- e(X, Y), p(Y, Z).", True),
        (BOTH, False),
    ],
    ids=["unequal", "transitive", "left", "right", "both"],
)
def test_shares_make_the_whole(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, rules: str, shares: bool
) -> None:
    rng = random.Random(1)
    edges = {(rng.randrange(60), rng.randrange(60)) for _ in range(90)}
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
        if "!=" in rules:
            wanted = {(x, y) for x, y in wanted if x != y or (x, y) in edges}
        assert set(kb.table("p").fetchall()) == wanted
    assert kb.verify()
    for edge in sorted(edges)[:3]:
        kb.delete("e", [edge])
    assert kb.verify()


def test_shares_of_a_recursion_with_three_columns(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No rule changes the middle column, and both read it elsewhere, too."""
    monkeypatch.setattr(in_shares, "BYTES_OF_A_ROW", 10**7)
    kb = open_kb()
    texts: list[str] = []
    kb.trace(lambda text, _: texts.append(text))
    start, step = {(i % 3, f"k{i}", 0) for i in range(40)}, {f"k{i}" for i in range(0, 40, 2)}
    with kb.update() as update:
        update.insert("e", list(start))
        update.insert("more", [(k,) for k in step])
        update.add_rules(
            "p(A, K, N) :- e(A, K, N). p(B, K, M) :- p(A, K, N), more(K), M = N + 1, B = A, M < 9."
        )
    assert any(text.startswith("INSERT") and "hash(" in text.lower() for text in texts)
    wanted = {(a, k, n) for a, k, _ in start for n in range(9) if n == 0 or k in step}
    assert set(kb.table("p").fetchall()) == wanted


def test_someone_who_waits_hears_how_far_it_has_come(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_shares, "LONG", 1)
    monkeypatch.setattr(materialise, "LEAST_FORESEEN", 1)
    waiting = Waiting()
    kb = open_kb()
    with kb.update(progress=waiting) as update:
        update.insert("e", [(i, i + 1) for i in range(300)])
        update.add_rules("p(X, Y) :- e(X, Y). p(X, Z) :- p(X, Y), e(Y, Z), X != Z.")
        update.add_rules("q(X, Y) :- e(X, Y). q(X, Z) :- q(X, Y), q(Y, W), e(W, Z).")
    done = [one for one, total in waiting.heard if total == in_shares.PARTS]
    assert len(done) >= in_shares.TOLD - 1
    assert done == sorted(done)
    facts = [one for one, total in waiting.heard if total is None]
    assert facts == sorted(facts)
    # A copy of an edge is derived by another hypernode.
    assert facts[-1] == kb.sql("SELECT count(*) FROM q").fetchall()[0][0] - 300
    heard = len(waiting.heard)
    kb.add_rules("r(X, Y) :- e(X, Y). r(X, Z) :- r(X, Y), e(Y, Z), X != Z.")
    assert len(waiting.heard) == heard


class Waiting:
    """A report of progress that keeps what it hears."""

    def __init__(self) -> None:
        self.heard: list[tuple[int, int | None]] = []

    def __call__(self, hypernode: str, number: int, total: int) -> None:
        pass

    def expects(self, plan: PlannedSizes) -> None:
        pass

    def comes(self, done: int, total: int | None) -> None:
        self.heard.append((done, total))
