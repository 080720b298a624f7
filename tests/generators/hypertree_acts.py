"""Random changes to programs with cyclic rules, and what hypothesis draws of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from generators.drawn_programs import Decisions, decisions, seeds
from generators.hypertree_programs import hypertree_program
from generators.hypertree_shapes import distinct, shape_of, variables_of
from generators.program_changes import (
    AddRule,
    Change,
    Delete,
    DropRule,
    Insert,
    State,
    Step,
    random_change,
)
from generators.programs import (
    Atom,
    Literal,
    Program,
    Row,
    Rule,
    Var,
)
from generators.random_programs import random_rows
from generators.random_rules import chance
from generators.rule_changes import rules_after
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from support.oracle import binding_variables

# ------------------------------------------------------------------------------------------ changes


@dataclass(frozen=True)
class Replace:
    """Let these be all explicit facts of a predicate."""

    predicate: str
    rows: tuple[Row, ...]

    def change(self, state: State) -> Change:
        """The same as what goes and what comes."""
        gone = state.rows(self.predicate).difference(self.rows)
        return Delete(self.predicate, tuple(gone)), Insert(self.predicate, self.rows)

    def __str__(self) -> str:
        return f"replace all of {self.predicate} by {self.rows}"


@dataclass(frozen=True)
class Reopen:
    """Close the file and open it in another way."""

    hypertree: bool | str
    modules: bool

    def __str__(self) -> str:
        return f"reopen: hypertree={self.hypertree}, modules={self.modules}"


Act = Change | Replace | Reopen


class Acts(list[Act]):
    """What to do, one after the other."""

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(f"<{len(self)} acts, see the text below>")


REOPENED = (False, "auto", True)
"""What a file that was opened with True is opened with next."""


def hypertree_acts(rng: Random, program: Program, count: int, reopened: int) -> Acts:
    """So many changes, each in the light of those before it, and so many pauses among them."""
    state = State.of(program)
    gone: dict[str, frozenset[Row]] = {}
    found = Acts()
    for _ in range(count):
        act = _act(rng, program, state, gone)
        change = act.change(state) if isinstance(act, Replace) else act
        for step in change:
            if isinstance(step, Delete):
                gone[step.predicate] = frozenset(step.rows)
        state.apply(change)
        found.append(act)
    for number in range(reopened):
        place = (number + 1) * (count + reopened) // (reopened + 1)
        found.insert(place, Reopen(REOPENED[number % len(REOPENED)], chance(rng, 50)))
    return found


def _act(
    rng: Random, program: Program, state: State, gone: dict[str, frozenset[Row]]
) -> Change | Replace:
    """Facts or rules as in all programs; cyclic rules, or those they meet beside; or all facts."""
    what = rng.randrange(100)
    steps: list[Step] = []
    pool = (*program.rules, *program.spare)
    if what < 18:
        steps = _come_or_go(rng, [rule for rule in pool if shape_of(rule)], state)
    elif what < 30:
        heads = {rule.head.predicate for rule in pool if shape_of(rule)}
        steps = _come_or_go(rng, [r for r in pool if r.name[0] == "r" and _reads(r, heads)], state)
    elif what < 45:
        steps = _another(rng, pool, state)
    elif what < 57:
        return _replaced(rng, program, state)
    if steps and distinct(rules_after(state, tuple(steps)).values()):
        if chance(rng, 35):  # with facts in the same change
            steps += random_change(rng, program, state, gone, False)
        return tuple(steps)
    change = random_change(rng, program, state, gone, True)
    if distinct(rules_after(state, change).values()):
        return change
    return random_change(rng, program, state, gone, False)


def _reads(rule: Rule, predicates: set[str]) -> bool:
    """Whether a rule beside the cyclic ones, not one above them, reads one of these."""
    below = {"d", *predicates}
    atoms = [literal for literal in rule.body if isinstance(literal, Atom)]
    return rule.head.predicate in below and any(a.predicate in predicates for a in atoms)


def _come_or_go(rng: Random, pool: Sequence[Rule], state: State) -> list[Step]:
    """One of these rules, rather one that is not there."""
    absent: list[Step] = [AddRule(rule) for rule in pool if rule.name not in state.rules]
    present: list[Step] = [DropRule(rule.name) for rule in pool if rule.name in state.rules]
    options = absent * 2 + present
    return [rng.choice(options)] if options else []


def _another(rng: Random, pool: Sequence[Rule], state: State) -> list[Step]:
    """In the place of a cyclic rule, under its name, one that lost a literal, or a spare one."""
    present = [rule for name, rule in state.rules.items() if shape_of(rule)]
    if not present:
        return []
    rule = rng.choice(present)
    alike = [r for r in pool if r.head.predicate == rule.head.predicate and r.name != rule.name]
    alike = [r for r in alike if shape_of(r) and r.name not in state.rules]
    shorter = [replace(rule, body=body) for body in _shorter(rule)]
    options = alike if alike and chance(rng, 50) else shorter or alike
    if not options:
        return []
    return [DropRule(rule.name), AddRule(replace(rng.choice(options), name=rule.name))]


def _shorter(rule: Rule) -> list[tuple[Literal, ...]]:
    """The body without a literal, where every variable that is left is bound as before."""
    bound = set(binding_variables(rule.body))
    found: list[tuple[Literal, ...]] = []
    for place in range(len(rule.body)):
        body = (*rule.body[:place], *rule.body[place + 1 :])
        left = {Var(name) for name in variables_of((rule.head, *body))}
        atoms = any(isinstance(literal, Atom) for literal in body)
        if atoms and left & bound <= set(binding_variables(body)):
            found.append(body)
    return found


def _replaced(rng: Random, program: Program, state: State) -> Replace:
    open_to_facts = [p for p in program.schema if p.kinds and not p.aggregate and p.level < 3]
    given = [p for p in open_to_facts if p.level == 0]
    predicate = rng.choice(given * 2 + open_to_facts)
    kept = [row for row in sorted(state.rows(predicate.name), key=repr) if chance(rng, 70)]
    count = rng.choice((1, 2, 4))
    more = random_rows(rng, predicate, count, program.symbols, program.integers)
    return Replace(predicate.name, tuple(dict.fromkeys((*kept, *more))))


# ---------------------------------------------------------------------------- what hypothesis draws


@st.composite
def hypertree_programs(draw: DrawFn) -> Program:
    """A program with cyclic rules, and its facts."""
    return _reduced(hypertree_program(Random(draw(seeds))), draw(decisions), 96)


@st.composite
def hypertree_sequences(
    draw: DrawFn, min_changes: int = 3, max_changes: int = 6, reopened: int = 0
) -> tuple[Program, Acts]:
    """A program and what to do to it; where it is reopened, that is a part of it."""
    rng = Random(draw(seeds))
    decide = draw(decisions)
    program = _reduced(hypertree_program(rng), decide, 88)
    acts = hypertree_acts(rng, program, rng.randint(min_changes, max_changes), reopened)
    return program, _possible(program, acts, decide)


def _reduced(program: Program, decide: Decisions, percent: int) -> Program:
    """Without the rules and facts that were decided against; these rules are spare."""
    decided = [(rule, decide.keep(percent)) for rule in program.rules]
    kept = [rule for rule, keep in decided if keep] or list(program.rules[:1])
    facts = {
        name: frozenset(row for row in sorted(rows, key=repr) if decide.keep(98))
        for name, rows in program.facts.items()
    }
    facts = {name: rows for name, rows in facts.items() if rows}
    spare = tuple(rule for rule in program.rules if rule not in kept)
    return replace(program, rules=tuple(kept), facts=facts, spare=spare + program.spare)


def _possible(program: Program, acts: Acts, decide: Decisions) -> Acts:
    """Without the steps decided against, nor those that cannot be done without these."""
    state = State.of(program)
    found = Acts()
    for act in acts:
        if not isinstance(act, tuple):
            if decide.keep():
                found.append(act)
                state.apply(act.change(state) if isinstance(act, Replace) else ())
            continue
        steps = _possible_steps([step for step in act if decide.keep(97)], set(state.rules))
        if not distinct(rules_after(state, tuple(steps)).values()):
            steps = [step for step in steps if isinstance(step, Insert | Delete)]
        if steps:
            found.append(tuple(steps))
            state.apply(tuple(steps))
    return found


def _possible_steps(steps: Sequence[Step], names: set[str]) -> list[Step]:
    found: list[Step] = []
    for step in steps:
        name = step.rule.name if isinstance(step, AddRule) else getattr(step, "name", None)
        if isinstance(step, AddRule | DropRule):
            if isinstance(step, AddRule) == (name in names):
                continue
            names ^= {name}
        found.append(step)
    return found
