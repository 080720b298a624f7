"""Transitive, and symmetric and transitive, relations, which algorithms of their own evaluate:
facts and rules come and go, and after every change all is as clingo says, with these algorithms and
without them.

The programs are those of module_programs.py. Files are opened anew under another strategy, and with
the other value of `modules`. To look for new examples:
    pytest --hypothesis-profile=explore tests/random/test_modules_against_clingo.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Self

import pytest
from generators.islands import closes
from generators.module_acts import Act, Look, ModuleRecipe, Reopen, module_recipes
from generators.program_changes import AddRule, Change, DropRule, Insert, State
from generators.programs import PLAIN, Program, program_text
from generators.rule_changes import rules_after
from hypothesis import given, note, settings
from hypothesis import strategies as st
from support.agreement import assert_agrees, assert_told, insert_all, make, numbered
from support.as_if_large import as_if_large
from support.examples import share
from support.hrdg import allowed, assert_whole
from support.oracle import extensions
from support.strategies import STRATEGIES

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.change import Change as Told

Say = Callable[[str], None]

# A sequence takes 3 s on two cores, one side by side, too, a program from scratch 0.6 s.
SEQUENCES = share(85)
SIDE_BY_SIDE = share(130)
FROM_SCRATCH = share(37)
CHANGES = 9


def connect(path: Path | None, strategy: str, modules: bool) -> KnowledgeBase:
    """`open_kb` of conftest.py does not choose whether there are modules."""
    import zodiac_sql

    return zodiac_sql.connect(path or ":memory:", strategy=strategy, modules=modules)


# --------------------------------------------------------------------------------------- the tests


@dataclass(frozen=True)
class Way:
    """How a knowledge base is opened, at first."""

    strategy: str
    modules: bool
    on_file: bool
    large: bool

    def __str__(self) -> str:
        place = "on a file" if self.on_file else "in memory"
        return f"% {self.strategy}, modules={self.modules}, {place}, large={self.large}"


@settings(max_examples=SEQUENCES)
@given(recipe=module_recipes, modules=st.sampled_from([True, True, False]), large=st.booleans())
def test_rules_and_facts_come_and_go(
    strategy: str, recipe: ModuleRecipe, modules: bool, large: bool
) -> None:
    program, acts = recipe.acts(strategy, STRATEGIES, CHANGES)
    play(program, acts, Way(strategy, modules, on_file=True, large=large), note)


@settings(max_examples=SIDE_BY_SIDE)
@given(recipe=module_recipes, on_file=st.booleans(), large=st.booleans())
def test_with_modules_and_without_them_side_by_side(
    strategy: str, recipe: ModuleRecipe, on_file: bool, large: bool
) -> None:
    program, acts = recipe.acts(f"{strategy}, side by side", STRATEGIES, CHANGES // 2)
    play_side_by_side(program, acts, Way(strategy, True, on_file, large), note)


@settings(max_examples=FROM_SCRATCH)
@given(recipe=module_recipes, large=st.booleans())
def test_from_scratch(recipe: ModuleRecipe, large: bool) -> None:
    program = recipe.program("from scratch")
    note(str(program))
    expected = extensions(program.rules, program.facts)
    with as_if_large(large), connect(None, "auto", True) as kb:
        insert_all(kb, program.facts)
        kb.add_rules(program_text(program.rules, {}, program.style))
        assert_agrees(kb, expected)
        found = kb.verify()
        assert found, found


def test_the_programs_are_what_they_promise() -> None:
    """In most, something is closed within a larger hypernode, and in most sequences more is."""
    sequences = [ModuleRecipe(seed, ()).acts("promise", STRATEGIES, 6) for seed in range(20)]
    came = went = 0
    for program, acts in sequences:
        names = {rule.name for rule in (*program.rules, *program.spare) if closes(rule)}
        steps = [step for act in acts if isinstance(act, tuple) for step in act]
        came += any(isinstance(step, AddRule) and step.rule.name in names for step in steps)
        went += any(isinstance(step, DropRule) and step.name in names for step in steps)
    closed = sum(any(map(closes, program.rules)) for program, _ in sequences)
    assert closed >= 18 and came >= 10 and went >= 10


# ------------------------------------------------------------------------------- one knowledge base


def play(program: Program, acts: Sequence[Act], way: Way, say: Say) -> None:
    """Do all of that, and compare after each change."""
    say(f"{way}\n{program}")
    with TemporaryDirectory() as folder, as_if_large(way.large), ExitStack() as stack:
        session = stack.enter_context(_Session(way, Path(folder) / "one.duckdb"))
        for act in (*_all_acts(program, acts, say), Look()):
            session.do(act)


def _all_acts(program: Program, acts: Sequence[Act], say: Say) -> list[Act]:
    """The program as the first one. Says them, so that a failure can be read."""
    facts = [Insert(name, tuple(sorted(rows, key=repr))) for name, rows in program.facts.items()]
    for number, act in enumerate(acts, 1):
        say(f"% {act}" if isinstance(act, Reopen | Look) else numbered(number, act))
    return [(*facts, *map(AddRule, program.rules)), *acts]


class _Session:
    """A knowledge base, and what should be in it."""

    def __init__(self, way: Way, file: Path) -> None:
        self._file = file if way.on_file else None
        self._modules = way.modules
        self.kb = connect(self._file, way.strategy, way.modules)
        self.state = State({}, {})
        self.expected: dict[str, set[tuple[int | str, ...]]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kb.close()

    def do(self, act: Act) -> Told | None:
        """What a change told, unless it had to be refused."""
        if isinstance(act, Reopen):
            self._reopen(act)
        elif isinstance(act, Look):
            self._look()
        elif allowed(rules_after(self.state, act).values()):
            return self._change(act)
        else:
            self._refuse(act)
        return None

    def _change(self, change: Change) -> Told:
        before = self.expected
        self.state.apply(change)
        told = make(self.kb, change, PLAIN)
        self.expected = extensions(list(self.state.rules.values()), self.state.facts)
        assert_agrees(self.kb, self.expected)
        assert_told(told, before, self.expected)
        return told

    def _refuse(self, change: Change) -> None:
        from zodiac_sql.errors import ProgramError

        with pytest.raises(ProgramError):
            make(self.kb, change, PLAIN)
        assert_agrees(self.kb, self.expected)

    def _reopen(self, how: Reopen) -> None:
        if self._file:
            self.kb.close()
            self._modules ^= how.other_modules
            self.kb = connect(self._file, how.strategy, self._modules)
            assert_agrees(self.kb, self.expected)

    def _look(self) -> None:
        """Everything is as it should be, also where that cannot be seen in an extension."""
        found = self.kb.verify()
        assert found, found
        assert_whole(self.kb, self.state.rules, self.state.facts)


# ------------------------------------------------------------------------------------- side by side


def play_side_by_side(program: Program, acts: Sequence[Act], way: Way, say: Say) -> None:
    """The same with modules and without them, until both change sides at the same time."""
    say(f"{way}, and the other way\n{program}")
    with TemporaryDirectory() as folder, as_if_large(way.large), ExitStack() as stack:
        sessions = [
            stack.enter_context(_Session(one, Path(folder) / f"{one.modules}.duckdb"))
            for one in (way, Way(way.strategy, not way.modules, way.on_file, way.large))
        ]
        for act in (*_all_acts(program, acts, say), Look()):
            told = [session.do(act) for session in sessions]
            assert _counts(told[0]) == _counts(told[1])
            assert _seen(sessions[0].kb) == _seen(sessions[1].kb)


def _counts(told: Told | None) -> object:
    if told is None:
        return None
    hypernodes = told.hypernodes
    moved = (hypernodes.created, hypernodes.dropped, hypernodes.merged, hypernodes.split)
    return told.inserted, told.deleted, moved


def _seen(kb: KnowledgeBase) -> object:
    """What anybody sees of it, but for how it is stored and in which order.

    How much is derived is left out: a transitive closure with an inequality does not derive once
    more what is given and would need its own help (modules/transitive.py).
    """
    listed = kb.hypernodes().to_pylist()
    names = ("hypernode", "stratum", "recursive", "rules", "derives", "reads")
    hypernodes = [{name: row[name] for name in names} for row in listed]
    predicates = [row | {"derived": None} for row in kb.predicates().to_pylist()]
    rules = [(row["name"], row["hypernode"], row["rule"]) for row in kb.rules().to_pylist()]
    return hypernodes, predicates, rules
