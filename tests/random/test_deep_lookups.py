"""Random small changes of deep recursions that are looked up, against work lists in plain Python.

Chains have 50 facts or more. Where nothing is checked on the way, one statement does all rounds:
that comes soon or late, or after each round (`cascade.ROUNDS`). To look for new examples:
    pytest --hypothesis-profile=explore tests/random/test_deep_lookups.py
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from generators.deep_chains import Facts, evaluated, random_facts, random_move, random_program
from hypothesis import given, note, settings
from hypothesis import strategies as st
from support import budget
from support.agreement import assert_agrees, assert_told
from support.examples import share

from zodiac_sql.lookups import cascade

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]


@settings(max_examples=share(12))
@given(
    seed=st.integers(0, 2**32 - 1),
    steps=st.integers(4, 16),
    rounds=st.sampled_from([-1, 0, 2, cascade.ROUNDS]),
)
def test_small_changes_of_deep_recursions(
    open_kb: OpenKb, seed: int, steps: int, rounds: int
) -> None:
    rng = Random(seed)
    program = random_program(rng)
    nodes = rng.choice([10, 50, 90])
    explicit = random_facts(rng, program, nodes)
    note(program.text())
    with (
        TemporaryDirectory() as folder,
        patch.object(cascade, "ROUNDS", rounds),
        open_kb(Path(folder) / "deep.duckdb", strategy="lookups") as kb,
    ):
        kb.add_rules(program.text())
        with kb.update() as update:
            for name, rows in explicit.items():
                update.insert(name, sorted(rows))
        before = evaluated(program, explicit)
        assert_agrees(kb, before)
        for _ in range(steps):
            moves = [
                random_move(rng, program, explicit, nodes) for _ in range(rng.choice([1, 1, 3]))
            ]
            note(str(moves))
            told = _moved(kb, explicit, dict.fromkeys(moves))
            after = evaluated(program, explicit)
            assert_told(told, before, after)
            assert_agrees(kb, after)
            before = after
        assert kb.verify()


def _moved(
    kb: KnowledgeBase, explicit: Facts, moves: dict[tuple[str, tuple[int, ...]], None]
) -> Any:
    """Let facts go that are there, and others come."""
    budget.tried("changes")
    with kb.update() as update:
        for name, row in moves:
            there = row in explicit[name]
            (update.delete if there else update.insert)(name, [row])
            (explicit[name].discard if there else explicit[name].add)(row)
    hypernodes = update.change.stats.hypernodes.values()
    budget.tried("hypernodes looked up", sum(one.strategy == "lookups" for one in hypernodes))
    return update.change
