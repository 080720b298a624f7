"""Several predicates in one recursive statement: the facts that the loop finds, with ranks."""

from __future__ import annotations

import random

import pytest

import zodiac_sql
from zodiac_sql.evaluate import registry

TWO = "s(Y, X) :- r(X, Y). r(X, Z) :- s(Y, X), e(Y, Z)."
TYPES = """\
size(X, M) :- size(Y, N), e(Y, X), N < 5, BIND((N + 1) AS M).
large(X, H) :- size(X, N), N > 2, BIND((N / 2.0) AS H).
size(X, 0) :- large(X, _), not small(X).
"""
NULLARY = """\
on :- r(X, X).
r(X, Y) :- on, e(X, Y).
r(X, Z) :- r(X, Y), e(Y, Z), not small(Z).
"""
KINDS = """\
a(X) :- b(X, _).
b(X, Y) :- c(X), e(X, Y).
c(X) :- a(X).
c(Y) :- b(_, Y).
a(X) :- d(X, _, _).
d(X, Y, 1) :- b(X, Y), not small(Y).
"""


@pytest.mark.parametrize("rules", [TWO, TYPES, NULLARY, KINDS])
@pytest.mark.parametrize("seed", range(2))
def test_as_the_loop(monkeypatch: pytest.MonkeyPatch, rules: str, seed: int) -> None:
    """The same facts are found by one statement and by the loop, and later changes are right."""
    chance = random.Random(f"{rules}{seed}")
    facts = {name: [_pair(chance) for _ in range(9)] for name in ("e", "r", "b", "size")}
    singles = {name: [(chance.randrange(6),) for _ in range(2)] for name in ("small", "a")}
    found = []
    for operator in ("tagged", "loop"):
        monkeypatch.setattr(registry, "FORCED", (operator,))
        with zodiac_sql.connect(strategy="support") as kb:
            with kb.update() as update:
                update.add_rules(rules)
                for name, rows in (facts | singles).items():
                    update.insert(name, rows)
            methods = {one.method for one in update.change.stats.hypernodes.values()}
            assert ("loop" in methods) == (operator == "loop") and kb.verify()
            kb.delete("e", facts["e"][:3])
            assert kb.verify()
            kb.insert("e", [(5, 5), (1, 2)])
            assert kb.verify()
            found.append(dict(update.change.inserted))
    assert found[0] == found[1]


def _pair(chance: random.Random) -> tuple[int, int]:
    return chance.randrange(6), chance.randrange(6)
