"""Random changes of the rules and facts of `rule_programs`, possible ones and refused ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from generators.drawn_programs import Decisions, decisions, seeds
from generators.program_changes import (
    AddRule,
    Change,
    Changes,
    Delete,
    DropRule,
    Insert,
    State,
    Step,
)
from generators.programs import (
    Kind,
    Program,
    Row,
    Rule,
    Value,
)
from generators.random_rules import chance, shuffled
from generators.rule_programs import as_many_as_allowed, distinct, rows_for, rule_program
from hypothesis import strategies as st
from support.hrdg import Moved, allowed

# ------------------------------------------------------------------------------------------ changes


def rule_changes(rng: Random, program: Program, count: int) -> list[Change]:
    """Changes of rules and facts together. Some are refused, and do not change the state."""
    state = State.of(program)
    found: list[Change] = []
    for _ in range(count):
        change = _change(rng, program, state)
        found.append(change)
        if allowed(rules_after(state, change).values()):
            state.apply(change)
    return found


def rules_after(state: State, change: Change) -> dict[str, Rule]:
    """The rules after a change, whether or not they are a program."""
    after = State(dict(state.rules), {})
    after.apply(tuple(step for step in change if isinstance(step, AddRule | DropRule)))
    return after.rules


def _change(rng: Random, program: Program, state: State) -> Change:
    pool = (*program.rules, *program.spare)
    if not state.rules:
        kept = [rule for rule in shuffled(rng, pool) if chance(rng, 75)]
        rules: list[Step] = [AddRule(rule) for rule in as_many_as_allowed({}, kept).values()]
        return tuple(_with_facts(rng, program, state, rules, 40))
    what = rng.randrange(100)
    if what < 6:
        steps: list[Step] = [DropRule(name) for name in shuffled(rng, list(state.rules))]
        return tuple(_with_facts(rng, program, state, steps, 40))
    if what < 10:  # all of them go and come within one change, not always the same
        steps = [DropRule(name) for name in state.rules]
        kept = [rule for rule in shuffled(rng, list(state.rules.values())) if chance(rng, 85)]
        steps += [AddRule(rule) for rule in kept]
        return tuple(_with_facts(rng, program, state, steps, 40))
    if what < 20:
        return tuple(_fact_steps(rng, program, state, rng.choice((1, 2, 3))))
    return tuple(_with_facts(rng, program, state, rule_steps(rng, pool, state), 55))


def _with_facts(
    rng: Random, program: Program, state: State, rules: list[Step], percent: int
) -> list[Step]:
    """Steps of rules and facts in any order, but what takes a rule's name after that rule went."""
    count = rng.choice((1, 1, 2, 3)) if chance(rng, percent) or not rules else 0
    steps = list(shuffled(rng, [*rules, *_fact_steps(rng, program, state, count)]))
    for index, step in enumerate(steps):
        if isinstance(step, AddRule) and DropRule(step.rule.name) in steps[index:]:
            other = steps.index(DropRule(step.rule.name))
            steps[index], steps[other] = steps[other], step
    return steps


def rule_steps(rng: Random, pool: Sequence[Rule], state: State) -> list[Step]:
    """Mostly such that hypernodes merge or split; hardly ever such that they must be refused."""
    for _ in range(8):
        steps = _any_rule_steps(rng, pool, state)
        if chance(rng, 65):
            steps = _moving_step(rng, pool, state) + (steps if chance(rng, 40) else [])
            steps = list(dict.fromkeys(steps))
        after = rules_after(state, tuple(steps)).values()
        if steps and distinct(after) and (allowed(after) or chance(rng, 6)):
            return steps
    return [DropRule(rng.choice(list(state.rules)))]


def _moving_step(rng: Random, pool: Sequence[Rule], state: State) -> list[Step]:
    """One rule that comes or goes, if there is one, such that hypernodes merge or split."""
    absent: list[Step] = [AddRule(rule) for rule in absent_rules(pool, state)]
    present: list[Step] = [DropRule(name) for name in state.rules]
    for steps in (absent, present) if chance(rng, 60) else (present, absent):
        for step in shuffled(rng, steps):
            after = rules_after(state, (step,))
            if allowed(after.values()) and Moved.between(state.rules, after):
                return [step]
    return []


def absent_rules(pool: Sequence[Rule], state: State) -> list[Rule]:
    """Rules that could come."""
    return [
        rule
        for rule in pool
        if rule.name not in state.rules and distinct([*state.rules.values(), rule])
    ]


def _any_rule_steps(rng: Random, pool: Sequence[Rule], state: State) -> list[Step]:
    present = shuffled(rng, list(state.rules.values()))
    absent = shuffled(rng, absent_rules(pool, state))
    few = (0, 0, 0, 1, 1, 2, 3) if len(present) > 3 else (0, 0, 1)
    drops = present[: rng.choice(few)]
    adds = list(absent[: rng.choice((0, 1, 1, 2, 3))])
    replaced: Sequence[Rule] = ()
    if chance(rng, 15):  # another rule, or the same one, under a name that is taken
        replaced = present[len(drops) :][:1]
        adds += [replace(rng.choice(pool), name=rule.name) for rule in replaced]
    steps: list[Step] = [*(DropRule(rule.name) for rule in (*drops, *replaced))]
    steps += [AddRule(rule) for rule in adds]
    return steps or _any_rule_steps(rng, pool, state)


def _fact_steps(rng: Random, program: Program, state: State, count: int) -> list[Step]:
    """No fact is in two of them."""
    open_to_facts = [p for p in program.schema if not p.aggregate]
    explicit = [p for p in open_to_facts if p.level == 0]
    steps: list[Step] = []
    touched: set[tuple[str, Row]] = set()
    for _ in range(count):
        predicate = rng.choice([*explicit * 2, *open_to_facts])
        present = sorted(state.rows(predicate.name), key=repr)
        nodes: tuple[Value, ...] = program.integers
        if Kind.SYMBOL in predicate.kinds:
            nodes = program.symbols
        rows = rows_for(rng, predicate, nodes, rng.choice((1, 1, 2, 3)))
        step: Insert | Delete = Insert(predicate.name, rows)
        if present and chance(rng, 55):
            gone = present if chance(rng, 12) else present[: rng.choice((1, 1, 2, 3))]
            step = Delete(predicate.name, tuple(shuffled(rng, gone)))
        if touched.isdisjoint((predicate.name, row) for row in step.rows):
            touched |= {(predicate.name, row) for row in step.rows}
            steps.append(step)
    return steps


# ---------------------------------------------------------------------------- what hypothesis draws


@dataclass(frozen=True)
class Recipe:
    """A seed, and what to leave out of what comes of it. With other salt, it is another program."""

    seed: int
    keep: tuple[int, ...] = field(repr=False)

    def random(self, salt: str) -> Random:
        return Random(f"{self.seed} {salt}")

    def program(self, salt: str) -> Program:
        return self._program(self.random(salt), self._decisions())

    def sequence(self, salt: str, count: int) -> tuple[Program, Changes]:
        """A program, and changes to make to it."""
        rng, decide = self.random(salt), self._decisions()
        program = self._program(rng, decide)
        changes = rule_changes(rng, program, count)
        return program, _possible(program, changes, decide.keep)

    def _decisions(self) -> Decisions:
        return Decisions(list(self.keep))

    def _program(self, rng: Random, decide: Decisions) -> Program:
        """Without the rules and facts that were decided against."""
        program = rule_program(rng)
        kept = [rule for rule in program.rules if decide.keep()] or list(program.rules[:1])
        facts = {
            name: frozenset(row for row in sorted(rows, key=repr) if decide.keep())
            for name, rows in program.facts.items()
        }
        facts = {name: rows for name, rows in facts.items() if rows}
        return replace(program, rules=tuple(kept), facts=facts)


recipes = st.builds(lambda seed, decided: Recipe(seed, tuple(decided.remaining)), seeds, decisions)


def _possible(program: Program, changes: Sequence[Change], keep: Callable[[], bool]) -> Changes:
    """Without the steps decided against, nor those that cannot be done without these."""
    state = State.of(program)
    found = Changes()
    for change in changes:
        names = set(state.rules)
        steps: list[Step] = []
        for step in change:
            if not keep():
                continue
            if isinstance(step, AddRule):
                if step.rule.name in names:
                    continue
                names.add(step.rule.name)
            elif isinstance(step, DropRule):
                if step.name not in names:
                    continue
                names.remove(step.name)
            steps.append(step)
        if not distinct(rules_after(state, tuple(steps)).values()):
            steps = [step for step in steps if not isinstance(step, AddRule)]
        if steps:
            found.append(tuple(steps))
            if allowed(rules_after(state, tuple(steps)).values()):
                state.apply(tuple(steps))
    return found
