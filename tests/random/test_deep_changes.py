"""Changes of recursions of many rounds, against clingo: links of chains go and come back.

Where tables count as large, one statement does the rounds that are left. To look for new examples:
    pytest --hypothesis-profile=explore tests/random/test_deep_changes.py
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import TYPE_CHECKING

import pytest
from generators.deep_programs import SHAPES, Facts, long_change, long_facts
from hypothesis import given, note, settings
from hypothesis import strategies as st
from support import budget
from support.agreement import assert_agrees, play_moves
from support.as_if_large import as_if_large
from support.examples import share
from support.oracle import extensions

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=share(60))
@given(seed=st.integers(0, 2**32 - 1))
def test_links_go_and_come(
    open_kb: OpenKb, strategies: tuple[str, ...], shape: str, seed: int
) -> None:
    rng = Random(seed)
    rules, facts = SHAPES[shape], long_facts(rng, shape)
    strategy, large = rng.choice(["auto", *strategies]), rng.random() < 0.8
    note(f"{strategy}, large {large}, {facts}")
    with as_if_large(large), open_kb(strategy=strategy) as kb:
        kb.add_rules("\n".join(map(str, rules)))
        play_moves(kb, facts, rng, long_change, partial(_compare, kb, rules))
    budget.tried("deep programs that change")


def _compare(kb: KnowledgeBase, rules: object, facts: Facts) -> None:
    assert_agrees(kb, extensions(rules, {n: frozenset(rows) for n, rows in facts.items()}))  # type: ignore[arg-type]
