"""Asks a knowledge base why its facts hold, and lets the checker judge what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import TYPE_CHECKING

import pytest
from generators.programs import Atom
from support import budget
from support.change_checker import Moved, check_change
from support.proof_checker import Checker, WrongProof, check, reached, variable
from support.proof_world import Ground, World, fits, typed
from support.rule_instances import Heights, Instance
from support.spelled import spelled, with_values
from support.why_not_checker import check_why_not

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.change import Change
    from zodiac_sql.read.why.proof import Explanation, Fact, Step

Spell = Callable[[Ground], str]
"""Writes a fact as a goal."""

HIGHER = 2
"""A proof may be so much higher than the lowest one, in a small database."""


@contextmanager
def searched_as_if_large(really: bool, read: int = 20_000) -> Iterator[None]:
    """Proofs are found as in a large database, or not: then they need not be low.

    At most so many facts of a recursive hypernode are read to go down there.
    """
    from zodiac_sql.read.why import all_facts, evaluated_again, find_proof, paths, search

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(all_facts, "MOST_READ", read)
        if really:
            patch.setattr(find_proof, "SMALL", -1)
            patch.setattr(find_proof, "FEW_FACTS", 5)
            patch.setattr(search, "ALL_EDGES", 3)
            for module in (evaluated_again, paths, search):
                patch.setattr(module, "MOST_EDGES", 6)
        yield


def some(rng: Random, facts: Sequence[Ground], most: int) -> list[Ground]:
    """Some facts, of as many predicates as possible."""
    by_predicate: dict[str, list[Ground]] = {}
    for fact in rng.sample(facts, len(facts)):
        by_predicate.setdefault(fact[0], []).append(fact)
    chosen: list[Ground] = []
    while by_predicate and len(chosen) < most:
        for name, left in list(by_predicate.items()):
            chosen.append(left.pop())
            if not left:
                del by_predicate[name]
    return chosen[:most]


def assert_proved(
    kb: KnowledgeBase, world: World, facts: Sequence[Ground], spell: Spell, lowest: Heights | None
) -> None:
    """Each fact has a proof that the checker accepts, and that is low where `lowest` is known."""
    texts = {row["name"]: row["rule"] for row in kb.rules().to_pylist()}
    for fact in facts:
        budget.tried("proofs")
        explanation = kb.why(spell(fact))
        judge(explanation, world, [fact], texts)
        if lowest is not None and explanation.height > lowest[fact] + HIGHER:
            raise WrongProof(f"{spell(fact)}: {explanation.height} high, not {lowest[fact]}")
        if fact is facts[0]:
            again = kb.why(str(explanation.goals[0]))
            assert again.goals == explanation.goals, "the text of the fact is another goal"


def judge(
    explanation: Explanation, world: World, goals: Sequence[Ground], texts: dict[str, str]
) -> None:
    """Whether it explains these facts, by the rules as they are written."""
    checker = Checker(world)
    assert [checker.ground(goal) for goal in explanation.goals] == list(goals)
    check(explanation, world)
    for fact in reached(explanation):
        for step in explanation.derivations.get(fact, ()):
            if step.kind == "rule":
                assert step.text == texts[step.rule], f"the text of {step.rule}"


def assert_all_told(
    kb: KnowledgeBase, world: World, fact: Ground, spell: Spell, every: Sequence[Instance]
) -> None:
    """All instances that derive a fact are told, or as many as were asked for."""
    expected = {ways_of(one) for one in every if one.head == fact}
    texts = {row["name"]: row["rule"] for row in kb.rules().to_pylist()}
    for limit in (None, 2)[: 1 + (len(expected) > 2)]:
        budget.tried("sets of all derivations")
        told = kb.why(spell(fact), limit=limit) if limit else kb.why(spell(fact), all=True)
        judge(told, world, [fact], texts)
        steps = told.derivations.get(told.goals[0], ())
        found = {_way(world, told.goals[0], step) for step in steps}
        count = min(len(expected), limit or 100)
        assert found <= expected and len(found) == len(steps) == count, (
            f"{spell(fact)}, {limit=}: missing {expected - found}, surplus {found - expected}"
        )
        assert told.cut == (frozenset(told.goals) if count < len(expected) else frozenset())
        assert told.every


Way = tuple[str, tuple[Ground, ...], frozenset[tuple[str, object]]]


def ways_of(one: Instance) -> Way:
    """What makes an instance another one."""
    return one.rule, one.uses, frozenset(one.values)


def _way(world: World, fact: Fact, step: Step) -> Way:
    checker = Checker(world)
    uses = tuple(map(checker.ground, step.uses))
    rule = world.rules[step.rule]
    (solution,) = [
        solution
        for solution in world.solutions(rule.body, [row for _, row in uses])
        if all(
            fits((value,), (solution[v],))
            for v in solution
            for name, value in step.values
            if variable(name) == v.name
        )
        and world.head(rule, solution) == checker.ground(fact)[1]
    ]
    return step.rule, uses, frozenset((v.name, value) for v, value in solution.items())


def assert_absent_refused(
    kb: KnowledgeBase, world: World, absent: Sequence[Ground], spell: Spell
) -> None:
    """What does not hold has no proof, and the error says whom to ask."""
    from zodiac_sql.errors import QueryError

    for predicate, row in absent:
        fact = (predicate, typed(row, world.types[predicate]))
        if not world.holds(fact):
            with pytest.raises(QueryError, match="why_not"):
                kb.why(spell((predicate, row)))
            with pytest.raises(QueryError, match="why_not"):
                kb.why(spell((predicate, row)), all=True)


def assert_first_answers(kb: KnowledgeBase, world: World, predicate: str) -> None:
    """A goal with variables explains its first answers."""
    rows = world.known[predicate]
    arity = len(world.types[predicate])
    if not rows or not arity:
        return
    texts = {row["name"]: row["rule"] for row in kb.rules().to_pylist()}
    told = kb.why(f"{predicate}({', '.join(f'V{at}' for at in range(arity))})")
    goals = [Checker(world).ground(goal) for goal in told.goals]
    assert len(goals) == min(3, len(rows))
    judge(told, world, goals, texts)


def assert_lacking(kb: KnowledgeBase, world: World, goals: Sequence[Atom], depth: int) -> None:
    """What why_not says of goals, absent ones or not, the checker confirms."""
    for goal in goals:
        budget.tried("goals that do not hold")
        check_why_not(kb.why_not(with_values(goal, {}), depth=depth), world, goal, depth)


def assert_moves_explained(
    told: Change, before: World, after: World, moved: Sequence[Moved], spell: Spell = spelled
) -> None:
    """Each fact that entered or left has an explanation that ends in the change."""
    for kind, fact in moved:
        budget.tried("facts that moved")
        check_change(told.why(spell(fact)), before, after, (kind, fact))


def assert_stays_refused(told: Change, facts: Sequence[Ground], spell: Spell = spelled) -> None:
    """What stayed, or stayed away, has no such explanation."""
    from zodiac_sql.errors import QueryError

    for fact in facts:
        with pytest.raises(QueryError, match="neither entered nor left"):
            told.why(spell(fact))


def moves(before: World, after: World) -> list[Moved]:
    """All facts that entered or left."""
    return [
        *(("entered", fact) for fact in after.facts() if not before.holds(fact)),
        *(("left", fact) for fact in before.facts() if not after.holds(fact)),
    ]
