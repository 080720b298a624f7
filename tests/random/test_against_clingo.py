"""Random programs: zodiac_sql must give what clingo gives, from scratch and after every change.

The changes here are of rules and facts; those of facts alone are in test_maintenance.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from generators.drawn_programs import programs, programs_with_changes
from generators.program_changes import Change, State
from generators.programs import PLAIN, Facts, Program, program_text
from hypothesis import given, note, settings
from hypothesis import strategies as st
from support.agreement import assert_agrees, assert_told, insert_all, make, numbered
from support.examples import share
from support.oracle import extensions

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

PROGRAMS = share(2)
SEQUENCES = share(8, 16)

# How a program reaches the library: the short syntax or a mixture, facts in the text or inserted.
WAYS = [("plain", "text"), ("mixed", "text"), ("mixed", "insert")]


@settings(max_examples=PROGRAMS)
@given(program=programs(), way=st.sampled_from(WAYS))
def test_from_scratch(open_kb: OpenKb, program: Program, way: tuple[str, str]) -> None:
    style = program.style if way[0] == "mixed" else PLAIN
    inserted: Facts = program.facts if way[1] == "insert" else {}
    written: Facts = {} if inserted else program.facts
    text = program_text(program.rules, written, style)
    note(text)
    with open_kb() as kb:
        kb.add_rules(text)
        insert_all(kb, inserted)
        assert_agrees(kb, extensions(program.rules, program.facts))


@settings(max_examples=SEQUENCES)
@given(case=programs_with_changes())
def test_after_every_change(
    open_kb: OpenKb, strategies: tuple[str, ...], case: tuple[Program, list[Change]]
) -> None:
    program, changes = case
    strategy = strategies[program.seed % len(strategies)]
    note(f"% {strategy}\n{program}")
    state = State.of(program)
    with open_kb(strategy=strategy) as kb:
        insert_all(kb, program.facts)
        kb.add_rules(program_text(program.rules, {}, program.style))
        before = extensions(list(state.rules.values()), state.facts)
        for number, change in enumerate(changes, 1):
            note(numbered(number, change))
            told = make(kb, change, program.style)
            state.apply(change)
            after = extensions(list(state.rules.values()), state.facts)
            assert_agrees(kb, after)
            assert_told(told, before, after)
            before = after
