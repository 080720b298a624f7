"""The change feed over random changes: replayed from any position that is kept, onto the facts at
that position, it gives the facts now.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import budget, crash_child
from support.examples import share
from support.fed import Facts, entries, facts, replayed

from zodiac_sql import DataError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

CHANGES = budget.either(ci=9, fuzz=15)
SEQUENCES = share(50)
LIMITS: tuple[dict[str, Any], ...] = ({}, {"count": 5}, {"bytes": 4_000}, {"days": 1})
FED = ("edge", "path", "near", "far", "degree", "link", "tip")


@settings(max_examples=SEQUENCES)
@given(seed=st.integers(0, 10_000))
def test_replayed(
    open_kb: OpenKb,
    tmp_path_factory: pytest.TempPathFactory,
    strategy: str,
    seed: int,
) -> None:
    """Rules, rule sets and facts come and go; the file is opened anew now and then."""
    file = tmp_path_factory.mktemp("fed") / "fed.duckdb"
    chance = random.Random(seed)
    fed = chance.choice((None, FED, FED[:3]))
    limits = chance.choice(LIMITS)
    kb = open_kb(file, strategy=strategy)
    kb.keep_feed(fed, **limits)
    known: dict[int, Facts] = {0: {}}
    for change in list(crash_child.planned(seed))[:CHANGES]:
        crash_child.make(kb, change)
        if chance.random() < 0.3:
            kb.replace("tip", [(chance.choice("abc"),) for _ in range(chance.randrange(3))])
        if chance.random() < 0.1:  # predicates leave the feed
            fed = FED[: chance.choice((3, 5)) if fed is None else max(1, len(fed) - 1)]
            kb.keep_feed(fed, **limits)
            known = {n: {p: r for p, r in some.items() if p in fed} for n, some in known.items()}
        now = {name: rows for name, rows in facts(kb).items() if fed is None or name in fed}
        position = _position(kb, chance)
        assert position in (last := max(known), last + 1, last + 2)
        assert position > last or now == known[last]
        known[position] = now
        if chance.random() < 0.15:
            kb.close()
            kb = open_kb(file, strategy=chance.choice((strategy, "auto")))
    first = min(kb.feed()["since"].to_pylist())
    assert not first or limits
    for position, before in known.items():
        if position >= first:
            assert replayed(before, entries(kb, since=position)) == now
    assert kb.verify()
    kb.close()


@settings(max_examples=SEQUENCES)
@given(seed=st.integers(0, 10_000))
def test_few_facts(open_kb: OpenKb, seed: int) -> None:
    """Changes that no rule has to do with are written right away, and are in the feed, too."""
    chance = random.Random(seed)
    with open_kb() as kb:
        kb.add_rules(".decl value(s: symbol, v: float) .decl flag()")
        kb.keep_feed(count=chance.choice((None, 4)))
        known: dict[int, Facts] = {0: {}}
        for _ in range(40):
            with kb.update() as update:
                for _ in range(chance.choice((1, 1, 2))):
                    verb = chance.choice((update.insert, update.insert, update.delete))
                    rows = [
                        (chance.choice("abcd"), chance.choice((0.5, 1.0, float("inf"))))
                        for _ in range(chance.choice((1, 1, 3)))
                    ]
                    verb("value", rows)
                if chance.random() < 0.2:
                    chance.choice((update.insert, update.delete))("flag", [()])
            known[_position(kb, chance)] = facts(kb)
        for position in range(kb.feed()["since"][0].as_py(), max(known) + 1):
            after = entries(kb, since=position)
            assert replayed(known[position], after) == facts(kb)
        assert kb.verify()


LARGE = 2**53
"""From here on, a float is not each int."""

TYPED_RULES = {
    "ints": "ints: q(X, N) :- counted(X, N).",
    "floats": "floats: q(X, N) :- measured(X, N).",
    "altered": "altered: q(X, N) :- free(X, N).",
    "beyond": "beyond: r(N, X) :- q(X, N), not off(X).",
}
"""Some derive ints, and some floats, of one predicate."""


@settings(max_examples=SEQUENCES)
@given(seed=st.integers(0, 10_000))
def test_types_in_turns(open_kb: OpenKb, strategy: str, seed: int) -> None:
    """Columns are of ints and of floats in turns, as rules come and go, or by `alter`."""
    chance = random.Random(seed)
    with open_kb(strategy=strategy) as kb:
        kb.add_rules(
            ".decl counted(x: symbol, n: int) .decl measured(x: symbol, n: float)"
            " .decl free(x: symbol, n: int) .decl off(x: symbol)"
        )
        kb.keep_feed()
        known: dict[int, Facts] = {0: {}}
        for _ in range(2 * CHANGES):
            _change_types(kb, chance)
            known[kb.changes().position] = facts(kb)
        for position, before in known.items():
            assert replayed(before, entries(kb, since=position)) == facts(kb)
        assert kb.verify()


def _change_types(kb: KnowledgeBase, chance: random.Random) -> None:
    """A few rules that come or go, another type, or a few facts."""
    ints = (5, LARGE, LARGE + 1, -LARGE - 1)
    floats = (0.5, 5.0, float(LARGE), float(-LARGE))
    verb = chance.choice(("rules", "rules", "alter", "facts", "facts"))
    if verb == "rules":
        with kb.update() as update:
            there = set(kb.rules()["name"].to_pylist())
            for name in chance.sample(sorted(TYPED_RULES), chance.choice((1, 1, 2))):
                if name in there:
                    update.drop_rules(name)
                else:
                    update.add_rules(TYPED_RULES[name])
    elif verb == "alter":
        with suppress(DataError):  # not each int is a float, nor each float an int
            kb.alter("free", {"n": chance.choice(("int", "float"))})
    else:
        with kb.update() as update:
            for _ in range(chance.choice((1, 1, 3))):
                name = chance.choice(("counted", "measured", "free", "off"))
                row: tuple[object, ...] = (chance.choice("ab"),)
                if name != "off":
                    row = (*row, chance.choice(floats if name == "measured" else ints))
                with suppress(DataError):
                    (update.insert if chance.random() < 0.7 else update.delete)(name, [row])


def _position(kb: KnowledgeBase, chance: random.Random) -> int:
    """The number of the last change. Reading the feed settles what waits, so it is rarely done."""
    return kb.changes().position if chance.random() < 0.2 else kb.feed()["position"][0].as_py()
