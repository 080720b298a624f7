"""Random changes to programs with closed relations, and what hypothesis draws of both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

from generators.drawn_programs import Decisions, decisions, seeds
from generators.islands import closes, symmetric, transitive
from generators.module_programs import module_program
from generators.program_changes import AddRule, Change, Delete, DropRule, Insert, State, Step
from generators.programs import (
    Compare,
    Predicate,
    Program,
    Row,
)
from generators.random_programs import random_rows
from generators.random_rules import chance, shuffled
from generators.rule_changes import Recipe, absent_rules, rule_steps, rules_after
from generators.rule_programs import as_many_as_allowed, distinct
from hypothesis import strategies as st
from support.hrdg import allowed
from support.oracle import extensions

# ---------------------------------------------------------------------------------------- changes


@dataclass(frozen=True)
class Reopen:
    """Close the file and open it in another way."""

    strategy: str
    other_modules: bool

    def __str__(self) -> str:
        return f"reopen: {self.strategy}{', modules the other way' * self.other_modules}"


@dataclass(frozen=True)
class Look:
    """Verify, and look at all tables."""

    def __str__(self) -> str:
        return "look at everything"


Act = Change | Reopen | Look


class Acts(list[Act]):
    """What to do, one after the other."""

    def _repr_pretty_(self, printer: object, cycle: bool) -> None:
        printer.text(f"<{len(self)} acts, see the text below>")  # type: ignore[attr-defined]


def module_acts(
    rng: Random, program: Program, strategies: Sequence[str], count: int
) -> tuple[Act, ...]:
    """So many changes, and pauses between them."""
    script = _Script(rng, program)
    found: list[Act] = []
    for number in range(count):
        change = script.change()
        found.append(change)
        if chance(rng, 15) or number == count // 2:
            found.append(Reopen(rng.choice(strategies), chance(rng, 80)))
        if chance(rng, 12):
            found.append(Look())
        if allowed(rules_after(script.state, change).values()):
            script.apply(change)
    return tuple(found)


class _Script:
    """Writes changes, each in the light of those before it."""

    def __init__(self, rng: Random, program: Program) -> None:
        self.rng, self.program = rng, program
        self.pool = (*program.rules, *program.spare)
        self.closed = {rule.head.predicate for rule in self.pool if closes(rule)}
        self.state = State.of(program)
        self.gone: dict[str, tuple[Row, ...]] = {}

    def apply(self, change: Change) -> None:
        for step in change:
            if isinstance(step, Delete):
                self.gone[step.predicate] = step.rows
        self.state.apply(change)

    def change(self) -> Change:
        rng = self.rng
        if not self.state.rules:
            rules = as_many_as_allowed({}, [r for r in shuffled(rng, self.pool) if chance(rng, 75)])
            return self._mixed([AddRule(rule) for rule in rules.values()], 40)
        if chance(rng, 38):
            return self._mixed([], 100)
        for _ in range(8):
            steps = self._rule_steps()
            after = rules_after(self.state, tuple(steps)).values()
            if steps and distinct(after) and (allowed(after) or chance(rng, 5)):
                return self._mixed(steps, 50)
        return self._mixed([], 100)

    def _mixed(self, rules: list[Step], percent: int) -> Change:
        """Steps of rules and facts in any order, but what takes a name after that rule went."""
        count = self.rng.choice((1, 1, 1, 2, 3)) if chance(self.rng, percent) else 0
        steps = list(shuffled(self.rng, [*rules, *self._fact_steps(count)]))
        for index, step in enumerate(steps):
            if isinstance(step, AddRule) and DropRule(step.rule.name) in steps[index:]:
                other = steps.index(DropRule(step.rule.name))
                steps[index], steps[other] = steps[other], step
        return tuple(steps) or self._mixed(rules, 100)

    # Rules

    def _rule_steps(self) -> list[Step]:
        what = self.rng.randrange(100)
        if what < 42:
            return self._closing(self.rng.choice((1, 1, 1, 2, 2, 3)))
        if what < 52:
            return self._replaced()
        if what < 55:
            return [DropRule(name) for name in shuffled(self.rng, list(self.state.rules))]
        if what < 60 and self.closed:  # only what closes a relation stays, or all but that
            relation = self.rng.choice(sorted(self.closed))
            told = chance(self.rng, 50)
            return [
                DropRule(rule.name)
                for rule in self.state.rules.values()
                if rule.head.predicate == relation and closes(rule) == told
            ]
        return rule_steps(self.rng, self.pool, self.state)

    def _closing(self, count: int) -> list[Step]:
        """Rules that close relations come or go."""
        possible: list[Step] = [
            AddRule(r) for r in absent_rules(self.pool, self.state) if closes(r)
        ]
        possible += possible  # mostly they are there
        possible += [DropRule(rule.name) for rule in self.state.rules.values() if closes(rule)]
        return list(dict.fromkeys(shuffled(self.rng, possible)))[:count]

    def _replaced(self) -> list[Step]:
        """A rule that closes a relation gets an inequality under the same name, or loses it."""
        present = [rule for rule in self.state.rules.values() if closes(rule)]
        if not present:
            return []
        rule = self.rng.choice(present)
        relation = Predicate(rule.head.predicate, (), 1)
        unequal = any(isinstance(literal, Compare) for literal in rule.body)
        make = transitive if rule.name[0] == "t" else symmetric
        return [
            DropRule(rule.name),
            AddRule(replace(make(self.rng, relation, not unequal), name=rule.name)),
        ]

    # Facts

    def _fact_steps(self, count: int) -> list[Step]:
        """No fact is in two of them."""
        if not count:
            return []
        every = extensions(list(self.state.rules.values()), self.state.facts)
        open_to_facts = [p for p in self.program.schema if not p.aggregate]
        given = [p for p in open_to_facts if p.level == 0]
        closed = [p for p in open_to_facts if p.name in self.closed]
        steps: list[Step] = []
        touched: set[tuple[str, Row]] = set()
        for _ in range(count):
            among = self.rng.choice((given, closed, given, closed, open_to_facts)) or given
            predicate = self.rng.choice(among)
            step = self._fact_step(predicate, every.get(predicate.name, set()))
            facts = {(step.predicate, row) for row in step.rows}
            if facts and touched.isdisjoint(facts):
                touched |= facts
                steps.append(step)
        return steps

    def _fact_step(self, predicate: Predicate, extension: set[Row]) -> Insert | Delete:
        rng, name = self.rng, predicate.name
        present = sorted(self.state.rows(name), key=repr)
        derived = sorted(extension.difference(present), key=repr)
        if derived and chance(rng, 5):
            return Delete(name, (rng.choice(derived),))  # which changes nothing
        if present and chance(rng, 50):
            return Delete(name, self._some_of(present))
        what = rng.randrange(100)
        gone = tuple(row for row in self.gone.get(name, ()) if row not in present)
        if gone and what < 25:
            return Insert(name, gone)
        if derived and what < 50:
            return Insert(name, shuffled(rng, derived)[: rng.choice((1, 1, 2))])
        rows = random_rows(
            rng, predicate, rng.choice((1, 1, 2, 3)), self.program.symbols, self.program.integers
        )
        alike = len(predicate.kinds) == 2 and predicate.kinds[0] is predicate.kinds[1]
        if alike and what < 65:
            return Insert(name, tuple(dict.fromkeys((row[0], row[0]) for row in rows)))
        if alike and present and what < 75:
            there = rng.choice(present)
            return Insert(name, ((there[1], there[0]),))
        return Insert(name, rows)

    def _some_of(self, present: Sequence[Row]) -> tuple[Row, ...]:
        rng = self.rng
        loops = [row for row in present if len(set(row)) < len(row)]
        if loops and chance(rng, 25):
            return tuple(loops)
        if chance(rng, 12):
            return tuple(present)
        return shuffled(rng, present)[: rng.choice((1, 1, 1, 2, 3))]


# ---------------------------------------------------------------------------- what hypothesis draws


@dataclass(frozen=True)
class ModuleRecipe(Recipe):
    """A seed, and what to leave out of what comes of it."""

    def acts(self, salt: str, strategies: Sequence[str], count: int) -> tuple[Program, Acts]:
        """A program, and what to do with it."""
        rng, decide = self.random(salt), self._decisions()
        program = self._program(rng, decide)
        return program, possible(program, module_acts(rng, program, strategies, count), decide.keep)

    def _program(self, rng: Random, decide: Decisions) -> Program:
        program = module_program(rng)
        kept = [rule for rule in program.rules if decide.keep()] or list(program.rules[:1])
        facts = {
            name: frozenset(row for row in sorted(rows, key=repr) if decide.keep())
            for name, rows in program.facts.items()
        }
        facts = {name: rows for name, rows in facts.items() if rows}
        return replace(program, rules=tuple(kept), facts=facts)


module_recipes = st.builds(
    lambda seed, decided: ModuleRecipe(seed, tuple(decided.remaining)), seeds, decisions
)


def possible(program: Program, acts: Sequence[Act], keep: Callable[[], bool]) -> Acts:
    """Without the steps decided against, nor those that cannot be done without these."""
    state = State.of(program)
    found = Acts()
    for act in acts:
        if isinstance(act, Reopen | Look):
            found += [act] if keep() else []
            continue
        steps = tuple(_possible_steps([step for step in act if keep()], set(state.rules)))
        if not distinct(rules_after(state, steps).values()):
            steps = tuple(step for step in steps if not isinstance(step, AddRule))
        if steps:
            found.append(steps)
            if allowed(rules_after(state, steps).values()):
                state.apply(steps)
    return found


def _possible_steps(steps: Sequence[Step], names: set[str]) -> list[Step]:
    found: list[Step] = []
    for step in steps:
        if isinstance(step, AddRule):
            if step.rule.name in names:
                continue
            names.add(step.rule.name)
        elif isinstance(step, DropRule):
            if step.name not in names:
                continue
            names.remove(step.name)
        found.append(step)
    return found
