"""Closures in layers: which rules are, and what changes of them do.

(tests/random/test_layered_closures.py tries random changes.)
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.layered_closures import large_pairs

import zodiac_sql
from zodiac_sql import KnowledgeBase
from zodiac_sql.change.change import Change
from zodiac_sql.language.parse import parse
from zodiac_sql.maintain import registry
from zodiac_sql.maintain.steps import slices
from zodiac_sql.rewrite.closures.shapes import paths


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("r(X, Z) :- r(X, Y), e(Y, Z).", (1, "e")),
        ("r(X, Z) :- e(Y, Z), r(X, Y).", (1, "e")),
        ("r(X, Z) :- e(X, Y), r(Y, Z).", (0, "e")),
        ("r(X, Z) :- r(X, Y), e(Z, Y).", None),
        ("r(X, Z) :- r(Y, X), e(Y, Z).", None),
        ("r(X, Z) :- r(X, Y), r(Y, Z).", None),
        ("r(X, Z) :- r(X, Y), e(Y, Z), X != Z.", None),
        ("r(X, Z) :- r(X, Y), e(Y, Z), f(X).", None),
        ("r(X, Z) :- r(X, Y), e(Y, Z, 1).", None),
        ("r(X, 1) :- r(X, Y), e(Y, 1).", None),
        ("r(X, X) :- r(X, Y), e(Y, X).", None),
        ("r(X, Z) :- r(X, Z), e(Z, Z).", None),
        ("r(X, Z) :- r(X, Z), e(X, Z).", None),
        ("r(X) :- r(Y), e(Y, X).", None),
    ],
)
def test_rules_that_go_along(rule: str, expected: tuple[int, str] | None) -> None:
    found = paths(parse(rule).rules[0])
    along = found is not None and not (found.own or found.unequal)
    assert ((found.place, found.edges) if found and along else None) == expected


LADDER = [(a, b) for a in range(30) for b in (a + 1, a + 2, a + 3)]


@pytest.fixture
def kb(monkeypatch: pytest.MonkeyPatch) -> Iterator[KnowledgeBase]:
    """The closure of LADDER, in layers: all pairs but those that only an edge makes are derived."""
    monkeypatch.setattr(slices, "values_in", lambda _: 0)
    with large_pairs(("sets",)), zodiac_sql.connect() as kb:
        with kb.update() as update:
            update.insert("e", LADDER)
            update.add_rules("r(X, Y) :- e(X, Y). r(X, Z) :- r(X, Y), e(Y, Z).")
        yield kb


def test_where_much_moves_sets_are_compared(kb: KnowledgeBase) -> None:
    """The table stays, also where facts enter and leave."""
    texts: list[str] = []
    kb.trace(lambda text, _: texts.append(text))
    new = [(a, a + 7) for a in range(20)]
    gone = [edge for edge in LADDER if edge[0] in (3, 4, 5, 27)]
    with kb.update() as update:
        update.insert("e", new)
        update.delete("e", gone)
    assert _by_sets(update.change)
    kb.insert("e", gone)
    kb.trace(None)
    assert not any('CREATE TABLE "idb"' in text for text in texts)
    assert kb.verify()
    assert len(kb.table("r")) == 33 * 32 // 2 - 3  # nothing leads on from 30, nor from 31


def test_ranks_that_rounds_have_given_are_put_in_order(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Facts that came later in rounds have ranks of their own until facts leave."""
    with monkeypatch.context() as patch:
        patch.setattr(registry, "FORCED", ("support",))
        kb.delete("e", late := [(0, 1), (4, 5), (4, 6), (4, 7)])
        assert not _by_sets(kb.insert("e", late))
    texts: list[str] = []
    kb.trace(lambda text, _: texts.append(text))
    assert _by_sets(kb.delete("e", [edge for edge in LADDER if edge[0] in (9, 10, 11, 12)]))
    kb.trace(None)
    assert any('"misplaced_' in text for text in texts)
    assert not any('CREATE TABLE "idb"' in text for text in texts)
    assert kb.verify()


def _by_sets(change: Change) -> bool:
    """Whether the sets of the closure before and after were compared."""
    return any(one.strategy == "sets" for one in change.stats.hypernodes.values())


def test_deletion_that_needs_many_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is given up for an evaluation in layers, which takes what is lost out of the table."""
    monkeypatch.setattr(slices, "values_in", lambda _: 0)
    with large_pairs(()), zodiac_sql.connect() as kb:
        with kb.update() as update:
            update.insert("r", LADDER)
            update.add_rules("r(X, Z) :- r(X, Y), r(Y, Z).")
        change = kb.delete("r", [(27, 30), (28, 30), (29, 30)])
        (done,) = change.stats.hypernodes.values()
        assert (done.strategy, done.method) == ("recompute", "layers")
        assert "each round would read" in done.why
        assert change.deleted == {"r": 30}
        assert kb.verify()
