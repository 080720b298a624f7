"""Bodies of three to five atoms over few values, against naive evaluation (support/naive.py).

Tables count as large, or do not: so atoms are joined two at a time, as products, or all at once.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING

from generators.dense_programs import (
    TYPES,
    Facts,
    dense_change,
    dense_facts,
    dense_rules,
)
from generators.programs import Rule
from hypothesis import given, note, settings
from hypothesis import strategies as st
from support import budget
from support.agreement import move
from support.as_if_large import as_if_large
from support.examples import share
from support.naive import extensions

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

DECLARED = "\n".join(f".decl {name}(a: {a}, b: {b})" for name, (a, b) in TYPES.items())


@settings(max_examples=share(12))
@given(seed=st.integers(0, 2**32 - 1), large=st.sampled_from([True, True, False]))
def test_dense_programs(
    open_kb: OpenKb, strategies: tuple[str, ...], seed: int, large: bool
) -> None:
    rng = Random(seed)
    rules, facts = dense_rules(rng), dense_facts(rng)
    strategy = rng.choice(["auto", *strategies])
    note("\n".join([strategy, DECLARED, *map(str, rules), str(facts)]))
    with as_if_large(large), open_kb(strategy=strategy) as kb:
        kb.add_rules(DECLARED)
        first, later = (rules, []) if rng.random() < 0.7 else (rules[:-1], rules[-1:])
        with kb.update() as update:
            for name, rows in facts.items():
                update.insert(name, sorted(rows))
            update.add_rules("\n".join(map(str, first)))
        _compare(kb, first, facts)
        for rule in later:
            kb.add_rules(str(rule))
            _compare(kb, rules, facts)
        for _ in range(2):
            gone, come = dense_change(rng, facts)
            note(f"gone {gone}, come {come}")
            facts, _ = move(kb, facts, gone, come)
            _compare(kb, rules, facts)
    budget.tried("dense programs")


def _compare(kb: KnowledgeBase, rules: list[Rule], facts: Facts) -> None:
    expected = extensions(rules, facts, TYPES)
    for name, rows in expected.items():
        assert set(kb.table(name)) == rows, name
        assert len(kb.table(name)) == len(rows), name
