"""Random programs that are stratified by the constants in a column: clingo must agree.

Which rules may lie in one hypernode, and what one reads of its own predicates, changes with every
rule here: see graph/matching.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from generators.drawn_programs import programs_with_changes
from generators.program_changes import Change, State
from generators.programs import PLAIN, Program, program_text
from hypothesis import given, note, settings
from support.agreement import assert_agrees, assert_told, insert_all, make, numbered
from support.examples import share
from support.hrdg import assert_whole
from support.oracle import extensions

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

SEQUENCES = share(8, 9)
VERIFIED = 3
"""Every so many states are verified, too."""


@settings(max_examples=SEQUENCES)
@given(case=programs_with_changes(merging=100))
def test_after_every_change(
    open_kb: OpenKb, strategies: tuple[str, ...], case: tuple[Program, list[Change]]
) -> None:
    program, changes = case
    rng = Random(program.seed)
    strategy = rng.choice(strategies)
    note(f"% {strategy}\n{program}")
    state = State.of(program)
    with TemporaryDirectory() as folder:
        place = Path(folder) / "m.duckdb"
        kb = open_kb(place, strategy=strategy)
        insert_all(kb, program.facts)
        kb.add_rules(program_text(program.rules, {}))
        before = extensions(list(state.rules.values()), state.facts)
        for number, change in enumerate(changes, 1):
            note(numbered(number, change))
            if rng.randrange(4) == 0:
                kb.close()
                kb = open_kb(place, strategy=rng.choice(strategies))
            told = make(kb, change, PLAIN)
            state.apply(change)
            after = extensions(list(state.rules.values()), state.facts)
            assert_agrees(kb, after)
            assert_whole(kb, state.rules, state.facts)
            assert_told(told, before, after)
            if rng.randrange(VERIFIED) == 0:
                assert kb.verify(), kb.verify()
            before = after
        kb.close()
