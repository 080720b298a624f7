"""Facts that rest on long chains: their proofs, and why they moved, are checked as all others.

Half of the proofs are found as in a large database: by reading what derives all older facts, or by
a recursive statement.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import pytest
from generators.deep_programs import SCHEMA, SHAPES, Facts, long_change, long_facts
from generators.programs import Rule
from hypothesis import example, given, note, settings
from hypothesis import strategies as st
from support.agreement import move
from support.examples import share
from support.explained import (
    assert_moves_explained,
    assert_proved,
    moves,
    searched_as_if_large,
    some,
)
from support.oracle import extensions
from support.proof_world import World, world_of
from support.rule_instances import all_instances, is_small, minimum_heights
from support.spelled import spelled
from support.strategies import STRATEGIES


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=share(45))
@given(seed=st.integers(0, 2**32))
@example(seed=215)  # a fact that two hypernodes derive rested on itself
def test_deep_facts_are_explained(shape: str, seed: int) -> None:
    import zodiac_sql

    rng = Random(seed)
    rules, facts = SHAPES[shape], long_facts(rng, shape)
    strategy, large, read = rng.choice(STRATEGIES), rng.random() < 0.5, rng.choice((3, 20_000))
    note(f"{strategy}, large {large}, read {read}")
    with (
        searched_as_if_large(large, read),
        zodiac_sql.connect(strategy=strategy, modules=rng.random() < 0.5, threads=1) as kb,
    ):
        kb.add_rules("\n".join(map(str, rules)))
        with kb.update() as update:
            for name, rows in facts.items():
                update.insert(name, sorted(rows))
        world = _world(rules, facts)
        for _ in range(rng.randrange(3)):
            gone, come = long_change(rng, facts)
            facts, change = move(kb, facts, gone, come)
            before, world = world, _world(rules, facts)
            moved = [one for one in moves(before, world) if one[1][0] in "pqs"]
            told = rng.sample(moved, min(2, len(moved)))
            assert_moves_explained(change, before, world, told)
        lowest = None
        if not large and is_small(world):
            lowest = minimum_heights(all_instances(world), world)
        own = [fact for fact in world.facts() if fact[0] in "pqs"]
        own.sort(key=lambda fact: -max(fact[1]))  # those far from the beginning first
        assert_proved(kb, world, [*own[:1], *some(rng, own, 3)], spelled, lowest)


def _world(rules: tuple[Rule, ...], facts: Facts) -> World:
    frozen: Mapping[str, frozenset[tuple[int | str, ...]]] = {
        name: frozenset(rows) for name, rows in facts.items()
    }
    return world_of(rules, frozen, SCHEMA, extensions(rules, frozen))
