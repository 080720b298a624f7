"""Slices and cascades: the shortcuts of maintenance that only large tables take, on small ones."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from zodiac_sql.cost import rounds
from zodiac_sql.graph.handed_on import handed_on
from zodiac_sql.language.parse import parse
from zodiac_sql.maintain.steps import find_candidates, slices
from zodiac_sql.sql import set_difference as unknown

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

LEFT = "r(X, Y) :- e(X, Y). r(X, Z) :- r(X, Y), e(Y, Z)."
RIGHT = "r(X, Y) :- e(X, Y). r(X, Z) :- e(X, Y), r(Y, Z)."
SQUARE = "r(X, Y) :- e(X, Y). r(X, Z) :- r(X, Y), r(Y, Z)."
MUTUAL = "r(X, Y) :- e(X, Y). s(Y, X) :- r(X, Y). r(X, Z) :- s(Y, X), e(Y, Z)."
SELF = "r(X, Z) :- r(X, Y), e(Y, Z)."


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("r(X, Z) :- r(X, Y), e(Y, Z).", {"r": 0}),
        ("r(X, Z) :- e(X, Y), r(Y, Z).", {"r": 1}),
        ("r(X, Z) :- r(X, Y), r(Y, Z).", None),
        ("r(Y, X) :- r(X, Y).", None),
        ("s(Y, X) :- r(X, Y). r(X, Z) :- s(Y, X), e(Y, Z).", {"r": 0, "s": 1}),
        ("q(X, R, Z) :- q(X, S, Z), sub(S, R).", {"q": 0}),
        ("p(a) :- p(X), e(X).", None),
        ("p(1, X) :- p(1, Y), e(Y, X).", None),
        ("p(N, X) :- p(N, Y), e(Y, X), not q(N).", {"p": 0}),
        ("p(X) :- q(X, Y). q(X, Y) :- p(X), e(X, Y).", {"p": 0, "q": 0}),
    ],
)
def test_arguments_that_rules_hand_on(rules: str, expected: dict[str, int] | None) -> None:
    assert handed_on(parse(rules).rules) == expected


@pytest.mark.parametrize("rules", [LEFT, RIGHT, SQUARE, MUTUAL, SELF])
@pytest.mark.parametrize("shortcut", ["slices", "cascades", "late", "both", "neither"])
def test_shortcuts_change_nothing(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, rules: str, shortcut: str
) -> None:
    """Whatever is taken, tables and ranks are right after each of some random changes."""
    sliced, cascaded = shortcut in ("slices", "both"), shortcut in ("cascades", "both")
    monkeypatch.setattr(slices, "is_large", lambda _: sliced)
    monkeypatch.setattr(slices, "values_in", lambda _: 1_000)
    monkeypatch.setattr(find_candidates, "is_large", lambda _: sliced)
    monkeypatch.setattr(unknown, "SEMI_JOIN_ROWS", 0 if sliced else 10**9)
    monkeypatch.setattr(rounds, "PLANNED_BODY", 0 if cascaded or shortcut == "late" else 10**18)
    monkeypatch.setattr(rounds, "ROUND", 0)
    monkeypatch.setattr(rounds, "HASHED", 0 if cascaded else 2e-6)
    chance = random.Random(f"{rules}{shortcut}")
    with open_kb(strategy="support") as kb:
        kb.add_rules(rules)
        kb.insert("e", [_pair(chance) for _ in range(14)])
        kb.insert("r", [_pair(chance) for _ in range(3)])
        for _ in range(3):
            with kb.update() as update:
                for predicate in ("e", "e", "r"):
                    verb = chance.choice((update.insert, update.delete))
                    verb(predicate, [_pair(chance) for _ in range(chance.choice((0, 1, 2)))])
            assert kb.verify()


def _pair(chance: random.Random) -> tuple[int, int]:
    return chance.randrange(7), chance.randrange(7)
