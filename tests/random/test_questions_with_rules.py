"""Random goals, asked with rules of their own: the answer is that over everything derivable.

The rules of a random program are shared out between a knowledge base, which derives all that they
say, and a question. So some rules of a question add to what is there, or are read by rules that are
there. Oracles are clingo and naive evaluation of all rules together.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, Any

from generators import best_programs, typed_language, typed_programs
from generators.drawn_programs import programs
from generators.goals import named_variables, random_goals, shared_out
from generators.programs import (
    PLAIN,
    Atom,
    Literal,
    Not,
    Program,
    Rule,
    Var,
    program_text,
    rule_text,
)
from generators.random_rules import chance
from hypothesis import given, note, settings
from hypothesis import strategies as st
from support import best_values, budget, naive, oracle
from support.agreement import insert_all
from support.examples import share
from support.naive_values import NAN, Overflow

from zodiac_sql.errors import ProgramError, QueryError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

PROGRAMS = share(2)
GOALS = 4


@settings(max_examples=PROGRAMS)
@given(program=programs(), seed=st.integers(0, 2**32 - 1))
def test_against_clingo(open_kb: OpenKb, program: Program, seed: int) -> None:
    rng = Random(seed)
    kept, asked = shared_out(rng, program.rules)
    stated = {name: rows for name, rows in program.facts.items() if chance(rng, 20)}
    there = {name: rows for name, rows in program.facts.items() if name not in stated}
    text = program_text(asked, stated)
    note(f"{program_text(kept, there)}\n% asked:\n{text}")
    world = oracle.extensions(program.rules, program.facts)
    columns = {p.name: [str(k.numeric) for k in p.kinds] for p in program.schema if p.name in world}
    heads = {rule.head.predicate for rule in asked}
    with open_kb() as kb:
        insert_all(kb, there)
        kb.add_rules(program_text(kept, {}))
        for _ in range(GOALS if columns else 0):
            goals = random_goals(rng, columns, _constant(rng, program, world), heads)
            variables = named_variables(goals)
            rule = Rule("goal", Atom("goal", tuple(variables)), goals)
            expected = oracle.extensions((*program.rules, rule), program.facts)["goal"]
            written = rule_text(rule, PLAIN).partition(" :- ")[2].removesuffix(".")
            assert_answer(kb, written, text, variables, expected)


def _constant(rng: Random, program: Program, world: Any) -> Callable[[str, str, int], Any]:
    """Often a value that is there."""

    def constant(kind: str, name: str, place: int) -> Any:
        there = sorted({row[place] for row in world[name]}, key=repr)
        pool = program.integers if kind == "True" else program.symbols
        return rng.choice(there) if there and chance(rng, 80) else rng.choice(pool)

    return constant


def assert_answer(
    kb: KnowledgeBase, goals: str, rules: str, variables: list[Any], expected: set[Any]
) -> None:
    """The answer to goals is as it should be, and nothing is left of the rules."""
    note(f"% {goals}?")
    before = kb.rules().fetchall(), kb.predicates().fetchall()
    answer = kb.query(goals, rules=rules)
    budget.tried("goals with rules of their own")
    if variables:
        assert answer.column_names == [variable.name for variable in variables]
        assert sorted(map(repr, answer)) == sorted(map(repr, expected))
    else:
        assert bool(answer) == bool(expected)
    assert (kb.rules().fetchall(), kb.predicates().fetchall()) == before


@settings(max_examples=PROGRAMS)
@given(seed=st.integers(0, 2**32 - 1))
def test_over_all_types(open_kb: OpenKb, seed: int) -> None:
    rng = Random(seed)
    program = typed_programs.random_program(rng)
    kept, asked = shared_out(rng, program.rules)
    whole = typed_programs.State.empty(program).after(
        typed_language.Change(tuple(program.facts.items()), (), program.rules)
    )
    try:
        world = naive.extensions(program.rules, whole.facts, whole.types)
    except Overflow:
        return
    columns = {name: ["?" if t is None else t for t in ts] for name, ts in whole.types.items()}
    mentioned = {n for rule in program.rules for n in typed_programs.predicates_of(rule)}
    mentioned |= {name for name, rows in whole.facts.items() if rows}
    columns = {n: c for n, c in columns.items() if "?" not in c and n in mentioned}
    text = "".join(f"{typed_language.rule_text(rule)}\n" for rule in asked)
    note(f"{program.declarations}{typed_programs.facts_text(program.facts.items())}")
    note("".join(f"{typed_language.rule_text(rule)}\n" for rule in kept) + f"% asked:\n{text}")
    heads = {rule.head.predicate for rule in asked}

    def constant(kind: str, name: str, place: int) -> Any:
        there = sorted({row[place] for row in world[name]}, key=repr)
        pools = [p for k, p in typed_language.POOLS.items() if k.type == kind]
        return rng.choice(there) if there and chance(rng, 80) else rng.choice(rng.choice(pools))

    with open_kb() as kb:
        kb.add_rules(program.declarations)
        for name, rows in program.facts.items():
            kb.insert(name, typed_language.given_rows(name, rows))
        for rule in kept:
            kb.add_rules(typed_language.rule_text(rule))
        for _ in range(GOALS if columns else 0):
            goals = random_goals(rng, columns, constant, heads)
            variables = named_variables(goals)
            found = naive.solutions(goals, world, whole.types)
            expected = {tuple(one[v] for v in variables) for one in found}
            written = ", ".join(map(typed_language.literal_text, goals))
            assert_typed_answer(kb, written, text, expected)


def assert_typed_answer(kb: KnowledgeBase, goals: str, rules: str, expected: set[Any]) -> None:
    """The same, unless the rules give other types to what is there, which is refused."""
    note(f"% {goals}?")
    try:
        answer = kb.query(goals, rules=rules)
    except QueryError as error:
        assert "let them derive another predicate" in str(error)
        budget.tried("questions that are refused for types")
        return
    budget.tried("goals over all types with rules of their own")
    if answer.column_names == ["holds"]:
        assert bool(answer) == bool(expected)
        return
    actual = [normal(row) for row in answer]
    assert len(actual) == len(set(actual))
    assert set(actual) == {normal(row) for row in expected}


def normal(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """There is one NaN."""
    return tuple(NAN if isinstance(v, float) and math.isnan(v) else v for v in row)


@settings(max_examples=PROGRAMS)
@given(seed=st.integers(0, 2**32 - 1))
def test_best_values(open_kb: OpenKb, seed: int) -> None:
    rng = Random(seed)
    program = best_programs.random_program(rng)
    facts = best_programs.random_facts(rng, program, rng.choice((5, 12, 20)))
    kept, asked = shared_out(rng, program.rules)
    try:
        world = best_values.meaning(program, program.rules, facts)
    except best_values.Endless:
        return
    columns = {n: ["n" if isinstance(v, str) else "w" for v in next(iter(rows))]
               for n, rows in world.items() if rows}  # fmt: skip
    types = {name: (None,) * len(kinds) for name, kinds in columns.items()}
    text = "\n".join(map(str, asked))
    note("\n".join(map(str, kept)) + f"\n% asked:\n{text}\n% {facts}")
    heads = {rule.head.predicate for rule in asked}

    def constant(kind: str, name: str, place: int) -> Any:
        there = sorted({row[place] for row in world[name]}, key=repr)
        return rng.choice(there)

    def plain(goal: Literal) -> str:
        if isinstance(goal, Not):
            return f"not {plain(goal.atom)}"
        assert isinstance(goal, Atom)
        terms = (t.name if isinstance(t, Var) else typed_language.constant_text(t)
                 for t in goal.terms)  # fmt: skip
        return f"{goal.predicate}({', '.join(terms)})"

    with open_kb() as kb:
        for name, rows in facts.items():
            kb.insert(name, sorted(rows, key=repr))
        try:
            kb.add_rules("\n".join(map(str, kept)))
        except (ProgramError, QueryError):
            return  # some rules of a family without the others may be none
        for _ in range(GOALS if columns else 0):
            goals = random_goals(rng, columns, constant, heads)
            variables = named_variables(goals)
            found = naive.solutions(goals, world, types)
            expected = {tuple(one[v] for v in variables) for one in found}
            written = ", ".join(map(plain, goals))
            assert_typed_answer(kb, written, text, expected)
