"""Changes of few facts, and of a rule, where sizes alone speak for starting over."""

from __future__ import annotations

import pytest

import zodiac_sql
from zodiac_sql.maintain import weighed
from zodiac_sql.maintain.operators import support

LINEAR = """
    a: p(X, Y) :- e(X, Y).
    b: p(X, Z) :- p(X, Y), e(Y, Z).
    c: p(X, Z) :- e(X, Y), p(Y, Z).
"""
SQUARE = "d: p(X, Z) :- p(X, Y), p(Y, Z)."
CHAIN = [(n, n + 1) for n in range(60)]


@pytest.fixture(autouse=True)
def by_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work is weighed by rows, however small the tables are."""
    for module, name in ((support, "STATEMENT"), (weighed, "STATEMENT"), (support, "PLANNED_JOIN")):
        monkeypatch.setattr(module, name, 0)
    monkeypatch.setattr(support, "rounds_in", lambda _: 8)
    monkeypatch.setattr(support, "PATIENCE_IF_SLIGHT", 0.3)


def _chosen(change: zodiac_sql.Change) -> tuple[str, str]:
    *_, done = change.stats.hypernodes.values()
    return done.strategy, done.why


@pytest.mark.parametrize(("gone", "lost"), [((59, 60, 99), 59), ((0, 1, 2), 0)])
def test_little_depends_on_it(gone: tuple[int, int, int], lost: int) -> None:
    with zodiac_sql.connect() as kb:
        kb.add_rules("""
            p(X, Y) :- e(X, Y).
            p(X, Z) :- p(X, Y), e(Y, Z).
            p(X, Y) :- p(X, A), p(X, B), both(A, B, Y).
        """)
        kb.insert("e", CHAIN)
        kb.insert("both", [(59, 60, 99), (0, 1, 2)])
        change = kb.delete("both", [gone])
        assert change.deleted.get("p", 0) == lost
        chosen, why = _chosen(change)
        assert chosen == "support"
        assert "few facts may depend on the change" in why
        assert kb.verify()


def test_much_depends_on_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """After some rounds, or some facts (but the edges), the hypernode starts over."""
    for name, value, told in (
        ("rounds_in", lambda _: 1, "in more than 1 rounds"),
        ("PATIENCE_IF_SLIGHT", 0.001, "more than 2 facts may have lost"),
    ):
        with zodiac_sql.connect() as kb, monkeypatch.context() as patch:
            patch.setattr(support, name, value)
            kb.add_rules(LINEAR)
            kb.insert("e", CHAIN)
            change = kb.delete("e", [CHAIN[30]])
            assert change.deleted["p"] == 31 * 30
            chosen, why = _chosen(change)
            assert chosen == "recompute"
            assert told in why
            assert kb.verify()


def test_a_rule_that_joins_what_there_is_with_itself() -> None:
    edges = [(n, (n + step) % 40) for n in range(40) for step in (1, 3)]
    with zodiac_sql.connect(modules=False) as kb:
        kb.add_rules(LINEAR)
        kb.insert("e", edges)
        change = kb.add_rules(SQUARE)
        assert not change.inserted.get("p")
        assert _chosen(change) == ("recompute", "rule d has over 11,839 instances")
        assert kb.verify()
        assert not kb.drop_rules("d").deleted.get("p")
        assert kb.verify()
