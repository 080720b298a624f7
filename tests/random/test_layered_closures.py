"""Closures in layers of which much moves: facts and ranks are right after each change.

Their sets before and after are compared (maintain/operators/sets.py), or rounds go on from what
has changed, or all is evaluated anew; and what one of these leaves, the next one begins with.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING

import pytest
from support import budget
from support.layered_closures import RULES, Pairs, closure, large_pairs, some_pairs

from zodiac_sql.maintain.operators import sets
from zodiac_sql.maintain.steps import slices

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]


@pytest.mark.fuzz
def test_after_every_change(open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = Random(budget.seed(17))
    monkeypatch.setattr(slices, "values_in", lambda _: 0)
    methods = set[str]()
    for _ in range(budget.either(ci=6, fuzz=40)):
        with large_pairs(chance.choice((("sets",), ("support",), ()))):
            monkeypatch.setattr(
                sets, "is_written_in_place", lambda *_: chance.choice((True, False))
            )
            with open_kb(strategy=chance.choice(("auto", "auto", "recompute"))) as kb:
                methods |= _methods_of_changes(kb, chance)
    assert "layers" in methods


def _methods_of_changes(kb: KnowledgeBase, chance: Random) -> set[str]:
    """Make a closure, and some changes of it; by which methods these were followed."""
    methods = set[str]()
    rules, nodes = chance.choice(RULES), chance.choice((6, 10, 16, 24))
    cyclic = chance.random() < 0.15
    name = chance.choice((int, "n{:02}".format))

    def some(most: int) -> Pairs:
        return some_pairs(chance, chance.randrange(most), cyclic, nodes)

    def shown(pairs: Pairs) -> list[tuple[object, ...]]:
        return [(name(a), name(b)) for a, b in sorted(pairs)]

    facts = {predicate: some(4 * nodes) for predicate in "efr"}
    with kb.update() as update:
        update.add_rules(rules)
        for predicate, pairs in facts.items():
            update.insert(predicate, shown(pairs))
    for _ in range(6):
        with kb.update() as update:
            for predicate in chance.choice(("e", "r", "f", "er", "efr")):
                gone, new = some(5) | _sample(chance, facts[predicate]), some(5)
                update.delete(predicate, shown(gone))
                update.insert(predicate, shown(new))
                facts[predicate] = (facts[predicate] - gone) | new
        methods |= {hypernode.method for hypernode in update.change.stats.hypernodes.values()}
        budget.tried("changes of closures in layers")
        assert set(kb.sql("SELECT * FROM r")) == set(shown(closure(rules, facts)))
        assert kb.verify()
    return methods


def _sample(chance: Random, pairs: Pairs) -> Pairs:
    return set(chance.sample(sorted(pairs), min(len(pairs), chance.randrange(5))))
