"""Changes of recursions that make texts, of many rounds, against naive evaluation.

Where tables count as large, one statement does the rounds that are left. To look for new examples:
    pytest --hypothesis-profile=explore tests/random/test_deep_texts.py
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from generators.deep_text_programs import (
    DECLARATIONS,
    TYPES,
    random_change,
    random_facts,
    random_rules,
    text_of,
)
from hypothesis import given, note, settings
from hypothesis import strategies as st
from support import budget
from support.agreement import play_moves
from support.as_if_large import as_if_large
from support.examples import share
from support.naive import extensions

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]


@settings(max_examples=share(5))
@given(seed=st.integers(0, 2**32 - 1))
def test_links_go_and_come(open_kb: OpenKb, strategies: tuple[str, ...], seed: int) -> None:
    play(open_kb, ["auto", *strategies], Random(seed))


def play(open_kb: OpenKb, strategies: list[str], rng: Random) -> None:
    """Rules and facts, and some changes of the facts."""
    rules = random_rules(rng)
    facts = random_facts(rng, rules)
    strategy, large = rng.choice(strategies), rng.random() < 0.8
    note(f"{strategy}, large {large}\n{text_of(rules)}\n{facts}")
    with as_if_large(large), open_kb(strategy=strategy) as kb:
        kb.add_rules(DECLARATIONS)
        kb.add_rules(text_of(rules))
        play_moves(kb, facts, rng, random_change, partial(_compare, kb, rules))
    budget.tried("deep programs that make texts")


def _compare(kb: KnowledgeBase, rules: object, facts: dict[str, set[tuple[object, ...]]]) -> None:
    expected = extensions(rules, facts, TYPES)  # type: ignore[arg-type]
    for name, rows in expected.items():
        found = kb.table(name).fetchall()
        assert len(found) == len(set(found)) and set(found) == rows, name
