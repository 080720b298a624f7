"""Cyclic rules, decomposed and not decomposed: both must give what clingo gives, from scratch and
after every change, also where the file was written in another way.

The programs are those of hypertree_programs.py. To look for new examples:
    pytest --hypothesis-profile=explore tests/random/test_hypertrees_against_clingo.py
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from generators.hypertree_acts import (
    Acts,
    Reopen,
    Replace,
    hypertree_acts,
    hypertree_programs,
    hypertree_sequences,
)
from generators.hypertree_programs import hypertree_program
from generators.hypertree_shapes import SHAPES, is_cyclic, shape_of
from generators.program_changes import State
from generators.programs import Atom, Program, program_text
from hypothesis import given, note, settings
from hypothesis import strategies as st
from support.agreement import assert_agrees, assert_told, insert_all, make, numbered
from support.as_if_large import as_if_large
from support.examples import share
from support.hrdg import allowed
from support.hrdg import shape_of as hypernodes_of
from support.oracle import extensions

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

# A program from scratch, three times, and a sequence take 0.7 s each on two cores: 20 s in all.
FROM_SCRATCH = share(9)
SEQUENCES = share(12)
REOPENED = share(24)

HYPERTREES = (True, False, "auto")
"""Decompose all rules that have a tree, none, or those that promise to gain by it."""


def connect(
    path: Path | None, hypertree: bool | str, strategy: str = "auto", modules: bool = True
) -> KnowledgeBase:
    """`open_kb` of conftest.py does not choose whether rules are decomposed."""
    import zodiac_sql

    return zodiac_sql.connect(
        path or ":memory:", strategy=strategy, modules=modules, hypertree=hypertree
    )


@settings(max_examples=FROM_SCRATCH)
@given(program=hypertree_programs(), modules=st.booleans())
def test_from_scratch(program: Program, modules: bool) -> None:
    note(str(program))
    text = program_text(program.rules, {}, program.style)
    expected = extensions(program.rules, program.facts)
    for hypertree in HYPERTREES:
        note(f"% {hypertree=}, {modules=}")
        large = as_if_large(bool(program.seed % 2))
        with large, connect(None, hypertree, modules=modules) as kb:
            with kb.update() as update:
                insert_all(update, program.facts)
                update.add_rules(text)
            assert_agrees(kb, expected)


@settings(max_examples=SEQUENCES)
@given(case=hypertree_sequences(), modules=st.booleans())
def test_after_every_change(
    strategies: tuple[str, ...], case: tuple[Program, Acts], modules: bool
) -> None:
    with as_if_large(bool(case[0].seed % 2)):
        play(*case, None, strategies[case[0].seed % len(strategies)], modules)


@settings(max_examples=REOPENED)
@given(case=hypertree_sequences(reopened=2), modules=st.booleans())
def test_when_reopened_in_another_way(
    strategies: tuple[str, ...], case: tuple[Program, Acts], modules: bool
) -> None:
    with TemporaryDirectory() as folder, as_if_large(bool(case[0].seed % 2)):
        strategy = strategies[case[0].seed % len(strategies)]
        play(*case, Path(folder) / "kb.duckdb", strategy, modules)


def play(program: Program, acts: Acts, file: Path | None, strategy: str, modules: bool) -> None:
    """Do all of that, with all rules decomposed at first, and compare after each change."""
    note(f"% {strategy}, {modules=}\n{program}")
    state = State.of(program)
    kb = connect(file, True, strategy, modules)
    try:
        with kb.update() as update:
            insert_all(update, program.facts)
            update.add_rules(program_text(program.rules, {}, program.style))
        before = extensions(list(state.rules.values()), state.facts)
        assert_agrees(kb, before)
        for number, act in enumerate(acts, 1):
            note(numbered(number, act) if isinstance(act, tuple) else f"% {act}")
            if isinstance(act, Reopen):
                kb.close()
                kb = connect(file, act.hypertree, strategy, act.modules)
                assert_agrees(kb, before)
                continue
            if isinstance(act, Replace):
                told = kb.replace(act.predicate, list(act.rows))
                state.apply(act.change(state))
            else:
                told = make(kb, act, program.style)
                state.apply(act)
            after = extensions(list(state.rules.values()), state.facts)
            assert_agrees(kb, after)
            assert_told(told, before, after)
            before = after
        found = kb.verify()
        assert bool(found), found
    finally:
        kb.close()


def test_the_programs_are_what_they_promise() -> None:
    """All have a cyclic rule, whose body mostly has solutions; many are recursive through it."""
    shapes: Counter[str | None] = Counter()
    solved = recursive = 0
    for seed in range(60):
        rng = Random(seed)
        program = hypertree_program(rng)
        assert allowed([*program.rules, *program.spare])
        cyclic = [rule for rule in program.rules if shape_of(rule)]
        assert any(is_cyclic(rule.body) for rule in cyclic)
        shapes.update(map(shape_of, cyclic))
        every = extensions(program.rules, program.facts)
        found = [replace(rule, head=Atom("found", ())) for rule in cyclic]
        solved += () in extensions(found, every)["found"]
        recursive += any(rule.name in part for part in _recursive(program) for rule in cyclic)
        assert len(hypertree_acts(rng, program, 3, 1)) == 4
    assert shapes.keys() == SHAPES.keys()
    assert solved >= 40 and recursive >= 15


def _recursive(program: Program) -> frozenset[frozenset[str]]:
    return hypernodes_of(program.rules).recursive
