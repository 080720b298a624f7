"""Random programs and changes: every fact has a proof that an independent checker accepts.

The checker is proof_checker.py; it has the rules of the generators, the facts that were inserted,
and all extensions as clingo has them, or naive evaluation. In a small database a proof is at most 2
higher than the lowest one, which brute force finds. To look for new examples:
    pytest --hypothesis-profile=explore tests/random/test_why.py
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from generators.drawn_programs import programs_with_changes
from generators.hypertree_acts import Acts as HypertreeActs
from generators.hypertree_acts import Replace, hypertree_sequences
from generators.module_acts import ModuleRecipe, module_recipes
from generators.program_changes import AddRule, Change, Insert, State
from generators.programs import PLAIN, Atom, Program, Var
from generators.random_programs import random_rows
from generators.random_rules import chance
from generators.rule_changes import Recipe, recipes, rules_after
from hypothesis import given, note, settings
from support.agreement import make, numbered, preview
from support.as_if_large import as_if_large
from support.examples import share
from support.explained import (
    assert_absent_refused,
    assert_all_told,
    assert_first_answers,
    assert_lacking,
    assert_moves_explained,
    assert_proved,
    assert_stays_refused,
    moves,
    searched_as_if_large,
    some,
)
from support.hrdg import allowed
from support.oracle import extensions
from support.proof_world import world_of
from support.rule_instances import Heights, all_instances, is_small, minimum_heights
from support.spelled import spelled
from support.strategies import STRATEGIES

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.change import Change as Told

PLAIN_PROGRAMS = share(16)
RULES = share(30)
MODULES = share(24)
HYPERTREES = share(30)

FACTS = 6
"""So many facts are explained after a change."""

MOVED = 3
"""So many facts that entered or left are explained."""


@dataclass(frozen=True)
class Way:
    """How a knowledge base is opened, and how proofs are looked for."""

    strategy: str
    modules: bool
    hypertree: bool | str
    large: bool
    """Whether tables are treated as large ones."""
    high: bool
    """Whether proofs are looked for as in a large database."""
    read: int
    """How many facts are read at most to go down through a recursive hypernode."""

    @classmethod
    def of(cls, rng: Random) -> Way:
        return cls(
            rng.choice(STRATEGIES),
            chance(rng, 75),
            rng.choice((True, True, False, "auto")),
            chance(rng, 30),
            chance(rng, 40),
            rng.choice((3, 20_000)),
        )

    @contextmanager
    def open(self, path: Path, read_only: bool = False) -> Iterator[KnowledgeBase]:
        import zodiac_sql

        note(f"% {self}{', read only' * read_only}")
        with (
            as_if_large(self.large),
            searched_as_if_large(self.high, self.read),
            zodiac_sql.connect(
                path,
                strategy=self.strategy,
                modules=self.modules,
                hypertree=self.hypertree,
                read_only=read_only,
                threads=1,
            ) as kb,
        ):
            yield kb


@settings(max_examples=PLAIN_PROGRAMS)
@given(case=programs_with_changes(min_changes=2, max_changes=4, merging=20))
def test_all_kinds_of_programs(case: tuple[Program, list[Change]]) -> None:
    play(*case, Random(case[0].seed))


@settings(max_examples=RULES)
@given(recipe=recipes)
def test_rules_come_and_go(recipe: Recipe) -> None:
    play(*recipe.sequence("why", 4), recipe.random("way of why"))


@settings(max_examples=MODULES)
@given(recipe=module_recipes)
def test_closed_relations(recipe: ModuleRecipe) -> None:
    program, acts = recipe.acts("why", STRATEGIES, 4)
    changes = [act for act in acts if isinstance(act, tuple)]
    play(program, changes, recipe.random("way of why"))


@settings(max_examples=HYPERTREES)
@given(case=hypertree_sequences())
def test_cyclic_rules(case: tuple[Program, HypertreeActs]) -> None:
    play(*case, Random(case[0].seed))


def play(program: Program, acts: Sequence[object], rng: Random) -> None:
    """Do all of that; after each change, explain some facts, and at last in other ways, too."""
    note(str(program))
    facts = [Insert(name, tuple(sorted(rows, key=repr))) for name, rows in program.facts.items()]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "kb.duckdb"
        look = _Look(program, State({}, {}), rng)
        with Way.of(rng).open(path) as kb:
            for number, act in enumerate([(*facts, *map(AddRule, program.rules)), *acts]):
                change = act.change(look.state) if isinstance(act, Replace) else act
                assert isinstance(change, tuple)
                if number:
                    note(numbered(number, change))
                if change and allowed(rules_after(look.state, change).values()):
                    look = _do(kb, look, change, number)
        with Way.of(rng).open(path, read_only=chance(rng, 50)) as kb:
            look.at(kb)


def _do(kb: KnowledgeBase, look: _Look, change: Change, number: int) -> _Look:
    """Make a change, sometimes after a preview, and explain what it did, and what there is then."""
    state = State(dict(look.state.rules), dict(look.state.facts))
    state.apply(change)
    after = _Look(look.program, state, look.rng)
    if number % 3 == 2:
        look.moved(preview(kb, change, PLAIN), after)
        look.at(kb)
    look.moved(make(kb, change, PLAIN), after)
    after.at(kb)
    return after


class _Look:
    """Looks at what a knowledge base says in one state."""

    def __init__(self, program: Program, state: State, rng: Random) -> None:
        rules = list(state.rules.values())
        self.program, self.state, self.rng = program, state, rng
        known = extensions(rules, state.facts)
        self.world = world_of(rules, state.facts, program.schema, known)

    def at(self, kb: KnowledgeBase) -> None:
        from zodiac_sql.read.why import find_proof

        known = self.world.known.keys() & _predicates(kb)
        facts = some(self.rng, list(self.world.facts()), FACTS)
        lowest: Heights | None = None
        if is_small(self.world):
            every = all_instances(self.world)
            if find_proof.SMALL > 0:
                lowest = minimum_heights(every, self.world)
            for fact in facts[:2]:
                assert_all_told(kb, self.world, fact, spelled, every)
        assert_proved(kb, self.world, facts, spelled, lowest)
        for name in self.rng.sample(sorted(known), min(1, len(known))):
            assert_first_answers(kb, self.world, name)
        goals = self._random_goals(known, 3)
        absent = [(goal.predicate, goal.terms) for goal in goals if _is_ground(goal)]
        assert_absent_refused(kb, self.world, absent[:2], spelled)
        assert_lacking(kb, self.world, goals, self.rng.choice((1, 1, 2, 3)))

    def moved(self, told: Told, after: _Look) -> None:
        """What a change told, which led to another state."""
        facts = moves(self.world, after.world)
        chosen = self.rng.sample(facts, min(MOVED, len(facts)))
        assert_moves_explained(told, self.world, after.world, chosen)
        stayed = [fact for fact in after.world.facts() if self.world.holds(fact)]
        assert_stays_refused(told, self.rng.sample(stayed, min(1, len(stayed))))

    def _random_goals(self, known: Collection[str], count: int) -> list[Atom]:
        """Goals that mostly do not hold, some of them with variables."""
        open_ = [p for p in self.program.schema if p.name in known]
        derived = [p for p in open_ if p.level] or open_
        found = []
        for _ in range(count if open_ else 0):
            predicate = self.rng.choice(self.rng.choice((derived, derived, open_)))
            symbols, integers = self.program.symbols, self.program.integers
            for row in random_rows(self.rng, predicate, 1, symbols, integers):
                terms = (Var(f"V{n}") if chance(self.rng, 12) else v for n, v in enumerate(row))
                found.append(Atom(predicate.name, tuple(terms)))
        return found


def _is_ground(goal: Atom) -> bool:
    return not any(isinstance(term, Var) for term in goal.terms)


def _predicates(kb: KnowledgeBase) -> set[str]:
    return {row["predicate"] for row in kb.predicates().to_pylist()}
