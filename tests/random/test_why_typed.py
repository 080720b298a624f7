"""Random programs over all types: proofs of floats, texts, dates and what rules compute of them.

As test_why.py, with naive evaluation in place of clingo. To look for new examples:
    pytest --hypothesis-profile=explore tests/random/test_why_typed.py
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING

import pytest
from generators.programs import Atom
from generators.random_rules import chance
from generators.typed_language import Change, Program, atom_text, rule_text
from generators.typed_programs import State, facts_text, random_change, random_program, random_rows
from hypothesis import given, note, settings
from hypothesis import strategies as st
from support.examples import share
from support.explained import (
    assert_absent_refused,
    assert_all_told,
    assert_moves_explained,
    assert_proved,
    moves,
    searched_as_if_large,
    some,
)
from support.naive_values import Overflow
from support.proof_world import Ground, World
from support.rule_instances import all_instances, is_small, minimum_heights
from support.strategies import STRATEGIES

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.change import Change as Told

OpenKb = Callable[..., "KnowledgeBase"]

PROGRAMS = share(12)
CHANGES = 3
FACTS = 8
MOVED = 4


@settings(max_examples=PROGRAMS)
@given(seed=st.integers(0, 2**32 - 1))
def test_programs_over_all_types(open_kb: OpenKb, seed: int) -> None:
    play(open_kb, Random(seed))


def play(open_kb: OpenKb, rng: Random) -> None:
    """A program and some changes; after each, some facts are explained."""
    program, strategy, high = random_program(rng), rng.choice(STRATEGIES), chance(rng, 40)
    rules = "".join(f"{rule_text(rule)}\n" for rule in program.rules)
    note(f"% {strategy}, {high=}\n{program.declarations}{facts_text(program.facts.items())}")
    note(rules)
    state = State.empty(program)
    with open_kb(strategy=strategy) as kb, searched_as_if_large(high):
        kb.add_rules(program.declarations)
        for number in range(CHANGES):
            change = Change(tuple(program.facts.items()), (), program.rules)
            if number:
                change = random_change(rng, program, state)
                note(f"% change {number}: {change}")
            after = state.after(change)
            before = World.of(state.rules.values(), state.facts, state.types)
            try:
                world = World.of(after.rules.values(), after.facts, after.types)
            except Overflow:
                with pytest.raises(Exception, match="."):
                    make(kb, change)
                continue
            told = make(kb, change)
            state = after
            moved = [one for one in moves(before, world) if _can_be_written(one[1])]
            chosen = rng.sample(moved, min(MOVED, len(moved)))
            assert_moves_explained(told, before, world, chosen, spelled)
            _look(kb, program, world, rng, high)


def _look(kb: KnowledgeBase, program: Program, world: World, rng: Random, high: bool) -> None:
    facts, lowest = some(rng, list(filter(_can_be_written, world.facts())), FACTS), None
    if is_small(world):
        every = all_instances(world)
        lowest = None if high else minimum_heights(every, world)
        for fact in facts[:2]:
            assert_all_told(kb, world, fact, spelled, every)
    assert_proved(kb, world, facts, spelled, lowest)
    predicate = rng.choice(program.schema)
    if predicate.name not in kb.predicates()["predicate"].to_pylist():
        return  # nothing mentions it any more, and nothing declares it
    absent = [(predicate.name, row) for row in random_rows(rng, predicate, 2)]
    assert_absent_refused(kb, world, absent, spelled)


def _can_be_written(fact: Ground) -> bool:
    """Whether a fact is a goal: functions make IRIs with spaces, which no rule can have."""
    return not any(isinstance(value, str) and _SPACED.match(value) for value in fact[1])


_SPACED = re.compile(r"<?[a-z]+:.* ")


def make(kb: KnowledgeBase, change: Change) -> Told:
    """Make a change, and return what it told."""
    with kb.update() as update:
        for name in change.drop:
            update.drop_rules(name)
        for name, rows in change.deletes:
            update.delete(name, list(rows))
        for name, rows in change.inserts:
            update.insert(name, list(rows))
        for rule in change.add:
            update.add_rules(rule_text(rule))
    assert update.change is not None
    return update.change


def spelled(fact: Ground) -> str:
    """A goal as people write it."""
    return atom_text(Atom(*fact))  # type: ignore[arg-type]
