"""Each operator runs first, whatever it expects to take: then facts are what clingo finds.

The operators are those of both registries (evaluate/registry.py, maintain/registry.py): a new one
is among them. If no program here leads to it, its test fails, because it would show nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import TYPE_CHECKING

import pytest
from generators import operator_programs as programs
from generators.hypertree_programs import hypertree_program
from generators.module_programs import module_program
from generators.program_changes import State, random_changes
from generators.programs import Program, program_text
from generators.random_programs import random_program
from support import budget
from support.agreement import assert_agrees, assert_told, insert_all, make
from support.as_if_large import as_if_large
from support.closures import closure_program
from support.earnings import without_earnings
from support.oracle import extensions

from zodiac_sql.cost import closures
from zodiac_sql.evaluate import registry as evaluate
from zodiac_sql.maintain import registry as maintain

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.change import Change

OpenKb = Callable[..., "KnowledgeBase"]
Example = Callable[["KnowledgeBase", Random], Iterator["Change"]]
"""Makes changes, and compares after each of them."""

EVALUATING = [operator.name for operator in evaluate.OPERATORS]
MAINTAINING = [operator.name for operator in maintain.OPERATORS]

RANDOM = (random_program, closure_program, module_program, hypertree_program)
CHANGES = 5
TRIES = 12
"""So often a program that leads to an operator may miss it."""


@pytest.mark.fuzz(share=0.2)
@pytest.mark.parametrize("name", EVALUATING)
def test_from_scratch(open_kb: OpenKb, name: str) -> None:
    def was_reached(change: Change) -> bool:
        return reached(change, "evaluated", name)

    with run_first(evaluate=(name,)):
        play_all(open_kb, name, was_reached)


@pytest.mark.fuzz(share=0.2)
@pytest.mark.parametrize("name", MAINTAINING)
def test_after_changes(open_kb: OpenKb, name: str) -> None:
    def was_reached(change: Change) -> bool:
        return reached(change, "considered", name)

    with run_first(maintain=(name,), evaluate=("layers",) if name == "sets" else ()):
        play_all(open_kb, name, was_reached)


@contextmanager
def run_first(evaluate: tuple[str, ...] = (), maintain: tuple[str, ...] = ()) -> Iterator[None]:
    """Small tables are treated as large ones, some operators run first, and nothing is looked up.

    Closures stay pairs, unless components are to be reached.
    """
    names = {*evaluate, *maintain}
    with as_if_large(True, maintain, evaluate), pytest.MonkeyPatch.context() as patch:
        patch.setattr(closures, "LEAST_PAIRS", 0 if "components" in names else 10**15)
        without_earnings(patch)
        yield


def reached(change: Change, where: str, name: str) -> bool:
    """Whether an operator has done some hypernode's work."""
    stats = change.stats.hypernodes.values()
    return any(one.operator == name and one.did_it for all_ in stats for one in all_[where])


def play_all(open_kb: OpenKb, name: str, was_reached: Callable[[Change], bool]) -> None:
    """Play programs until one has reached an operator, and under `make fuzz` a random one, too."""
    chance = Random(f"{name} {budget.seed(54)}")
    several = LEADS.get(name, ALL)
    if not any(play(open_kb, one, chance, was_reached) for _ in range(TRIES) for one in several):
        pytest.fail(
            f"no program leads to the operator {name}: write one in "
            "tests/generators/operator_programs.py, so that it is seen to be right"
        )
    if budget.FUZZING:
        play(open_kb, of_program(chance.choice(RANDOM)), chance, was_reached)


def play(
    open_kb: OpenKb, example: Example, chance: Random, was_reached: Callable[[Change], bool]
) -> bool:
    """Whether an operator was reached."""
    with open_kb() as kb:
        found = [was_reached(change) for change in example(kb, chance)]
    budget.tried("programs with an operator first")
    return any(found)


def of_program(make_program: Callable[[Random], Program]) -> Example:
    """A program and changes of its facts, as clingo finds them."""

    def play_program(kb: KnowledgeBase, chance: Random) -> Iterator[Change]:
        program = make_program(chance)
        print(program)  # a failure shows it
        state = State.of(program)
        insert_all(kb, program.facts)
        yield kb.add_rules(program_text(program.rules, {}, program.style))
        before = extensions(list(state.rules.values()), state.facts)
        assert_agrees(kb, before)
        for change in random_changes(chance, program, CHANGES, rules=False):
            print(change)
            told = make(kb, change, program.style)
            state.apply(change)
            after = extensions(list(state.rules.values()), state.facts)
            assert_agrees(kb, after)
            assert_told(told, before, after)
            before = after
            yield told

    play_program.__name__ = make_program.__name__
    return play_program


def shortest(kb: KnowledgeBase, chance: Random) -> Iterator[Change]:
    """The lengths of shortest ways, as plain Python finds them."""
    kb.add_rules("""
    far(Y, MIN(W)) :- start(X), way(X, Y, W).
    far(Z, MIN(D)) :- far(Y, E), way(Y, Z, W), D = E + W.
    """)
    kb.insert("start", [(0,)])
    ways: set[tuple[int, int, int]] = set()
    for _ in range(CHANGES):
        come = {(*chance.sample(range(7), 2), chance.randint(1, 9)) for _ in range(5)}
        gone = {way for way in ways if chance.random() < 0.3} - come
        with kb.update() as update:
            update.delete("way", sorted(gone))
            update.insert("way", sorted(come))
        ways = (ways - gone) | come
        best = dict[int, int]()
        for _ in range(7):
            for start, end, length in ways:
                if start == 0 or start in best:
                    known = min(best.get(start, 10**9), 0 if start == 0 else 10**9)
                    best[end] = min(best.get(end, 10**9), known + length)
        assert dict(kb.table("far").fetchall()) == best
        yield update.change


def leads(*makers: Callable[[Random], Program]) -> tuple[Example, ...]:
    return tuple(map(of_program, makers))


ALL = (*leads(*programs.ALL), shortest)

LEADS: dict[str, tuple[Example, ...]] = {
    "best": (shortest,),
    "rules": leads(programs.negation),
    "nothing": leads(programs.nothing),
    "copies": leads(programs.copies),
    "components": leads(programs.closure),
    "classes": leads(programs.classes),
    "dred": leads(programs.classes),
    "tagged": leads(programs.turns),
    "loop": leads(programs.turns),
    "statement": leads(programs.closure),
    "layers": leads(programs.acyclic_closure),
    "sets": leads(programs.acyclic_closure),
    "lost edge": leads(programs.tree),
    "support": leads(programs.closure),
    "candidates": leads(programs.negation),
    "products": leads(programs.product),
    "recompute": leads(programs.closure),
}
"""The programs that lead to an operator. Of others, any may."""
