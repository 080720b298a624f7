"""Random changes to a program: of its facts and of its rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from generators.programs import PLAIN, Atom, Program, Row, Rule, atom_text
from generators.random_programs import random_rows
from generators.random_rules import chance, shuffled


@dataclass(frozen=True)
class Insert:
    predicate: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Delete:
    predicate: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class AddRule:
    rule: Rule


@dataclass(frozen=True)
class DropRule:
    name: str


Step = Insert | Delete | AddRule | DropRule
Change = tuple[Step, ...]
"""One atomic change. No fact is both inserted and deleted in it, so the order does not matter."""


class Changes(list[Change]):
    """Changes to make one after the other."""

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(f"<{len(self)} changes, see the text below>")


@dataclass
class State:
    """The rules and explicit facts that hold after the changes so far."""

    rules: dict[str, Rule]
    facts: dict[str, frozenset[Row]]

    @classmethod
    def of(cls, program: Program) -> State:
        return cls({rule.name: rule for rule in program.rules}, dict(program.facts))

    def apply(self, change: Change) -> None:
        for step in change:
            if isinstance(step, Insert):
                self.facts[step.predicate] = self.rows(step.predicate) | set(step.rows)
            elif isinstance(step, Delete):
                self.facts[step.predicate] = self.rows(step.predicate) - set(step.rows)
            elif isinstance(step, AddRule):
                self.rules[step.rule.name] = step.rule
            else:
                del self.rules[step.name]

    def possible(self, change: Change) -> Change:
        """The steps of a change that can be done, although earlier ones were refused."""
        return tuple(
            step
            for step in change
            if not (isinstance(step, AddRule) and step.rule.name in self.rules)
            and not (isinstance(step, DropRule) and step.name not in self.rules)
        )

    def rows(self, predicate: str) -> frozenset[Row]:
        return self.facts.get(predicate, frozenset())


def change_text(change: Change) -> str:
    """A change as a person would write it down."""
    return "; ".join(map(_step_text, change))


def _step_text(step: Step) -> str:
    if isinstance(step, AddRule):
        return f"add {step.rule}"
    if isinstance(step, DropRule):
        return f"drop {step.name}"
    verb = "insert" if isinstance(step, Insert) else "delete"
    facts = ", ".join(atom_text(Atom(step.predicate, row), PLAIN, "") for row in step.rows)
    return f"{verb} {facts}"


def random_changes(rng: Random, program: Program, count: int, rules: bool = True) -> list[Change]:
    """Changes of a program's facts and, with `rules`, of its rules and spare ones.

    Each is generated in the light of those before it: what is deleted is mostly there, and what
    was just deleted often comes back.
    """
    state = State.of(program)
    gone: dict[str, frozenset[Row]] = {}
    changes: list[Change] = []
    for _ in range(count):
        change = random_change(rng, program, state, gone, rules)
        for step in change:
            if isinstance(step, Delete):
                gone[step.predicate] = frozenset(step.rows)
        state.apply(change)
        changes.append(change)
    return changes


def possible_changes(program: Program, changes: Iterable[Change]) -> Changes:
    """Without what cannot be done now that earlier steps are gone: rules to add twice or drop."""
    names = {rule.name for rule in program.rules}
    found = Changes()
    for change in changes:
        steps: list[Step] = []
        for step in change:
            if isinstance(step, AddRule) and step.rule.name not in names:
                names.add(step.rule.name)
            elif isinstance(step, DropRule) and step.name in names:
                names.remove(step.name)
            elif isinstance(step, AddRule | DropRule):
                continue
            steps.append(step)
        if steps:
            found.append(tuple(steps))
    return found


def random_change(
    rng: Random,
    program: Program,
    state: State,
    gone: Mapping[str, frozenset[Row]],
    rules: bool,
) -> Change:
    what = rng.choice(("facts", "facts", "facts", "mixed", "rule", "rule") if rules else ("facts",))
    if what == "rule":
        return (random_rule_step(rng, program, state),)
    size = rng.choice((1, 1, 1, 2, 3))
    steps: list[Step] = []
    touched: set[tuple[str, Row]] = set()
    for _ in range(size):
        step = _fact_step(rng, program, state, gone)
        facts = {(step.predicate, row) for row in step.rows}
        if touched.isdisjoint(facts):
            touched |= facts
            steps.append(step)
    if what == "mixed":
        steps.append(random_rule_step(rng, program, state))
    return tuple(steps)


def random_rule_step(rng: Random, program: Program, state: State) -> AddRule | DropRule:
    absent = [r for r in program.rules + program.spare if r.name not in state.rules]
    if absent and (not state.rules or chance(rng, 60)):
        return AddRule(rng.choice(absent))
    return DropRule(rng.choice(list(state.rules)))


def _fact_step(
    rng: Random, program: Program, state: State, gone: Mapping[str, frozenset[Row]]
) -> Insert | Delete:
    """A single fact, a batch, all of a predicate, what was just deleted, or a change of nothing."""
    open_to_facts = [p for p in program.schema if not p.aggregate]
    explicit = [p for p in open_to_facts if p.level == 0]
    predicate = rng.choice(explicit * 3 + open_to_facts)
    present = sorted(state.rows(predicate.name), key=repr)
    missing = sorted(gone.get(predicate.name, frozenset()) - set(present), key=repr)
    count = rng.choice((1, 1, 2, 4))
    some_rows = random_rows(rng, predicate, count, program.symbols, program.integers)
    if missing and chance(rng, 50):
        return Insert(predicate.name, tuple(missing))
    if not present and predicate.level and chance(rng, 30):
        return Delete(predicate.name, some_rows)  # at most derived
    if not present or chance(rng, 40):
        return Insert(predicate.name, some_rows)
    what = rng.choice(("one", "one", "one", "some", "all", "any"))
    if what == "one":
        return Delete(predicate.name, (rng.choice(present),))
    if what == "some":
        return Delete(predicate.name, shuffled(rng, present)[: rng.randint(2, 4)])
    if what == "all":
        return Delete(predicate.name, tuple(present))
    return Delete(predicate.name, some_rows)  # most of these were never there
