"""Random streams of updates for hypothesis, and ways in which they arrive.

The programs are those of `programs`, `closures` and `rule_programs`. Of the updates that come one
after the other many delete what the one before has inserted, as windows do that move on: that is
what strategies with marking look ahead for. Some delete what they insert, or what is not there, or
only derived; now and then a rule comes or goes; and some are to be refused.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Any

from generators.drawn_programs import Decisions, decisions, reduced, seeds
from generators.program_changes import (
    AddRule,
    Change,
    Delete,
    DropRule,
    Insert,
    State,
    Step,
    change_text,
    possible_changes,
    random_change,
    random_rule_step,
)
from generators.programs import PLAIN, Program, Row, rule_text
from generators.random_programs import random_program
from generators.random_rules import chance, shuffled
from generators.rule_programs import rule_program
from hypothesis import strategies as st
from support.closures import closure_program

if TYPE_CHECKING:
    from zodiac_sql import UpdateQueue

MAKERS = (random_program, closure_program, closure_program, rule_program)

LENGTH = 30
"""The updates of a stream. Some steps are left out again, and with them some updates."""

GAUGE = "gauge"
"""A predicate of one column with a fact that stays: a row of two columns for it is refused."""


@dataclass(frozen=True)
class Sent:
    """An update of a stream: what it does, if it is not refused."""

    change: Change
    refused: bool = False

    def __str__(self) -> str:
        return change_text(self.change) + ("; to be refused" if self.refused else "")


@dataclass(frozen=True)
class Stream:
    """A program, and the updates that come after it."""

    program: Program
    updates: tuple[Sent, ...]

    def random(self, salt: str) -> Random:
        return Random(f"{self.program.seed} {salt}")

    def __str__(self) -> str:
        lines = [f"% update {number}: {sent}" for number, sent in enumerate(self.updates, 1)]
        return "\n".join([str(self.program), *lines])


@dataclass(frozen=True)
class Recipe:
    """A seed, and what to leave out of what comes of it. With other salt, it is another stream."""

    seed: int
    keep: tuple[int, ...] = field(repr=False)

    def stream(self, salt: str, refusals: int = 0) -> Stream:
        """A stream; so many in a hundred of its updates are to be refused."""
        rng, decide = Random(f"{self.seed} {salt}"), Decisions(list(self.keep))
        program = reduced(rng.choice(MAKERS)(rng), decide, 80)
        changes = random_updates(rng, program, LENGTH)
        refused = [chance(rng, refusals) for _ in changes]
        kept = [tuple(step for step in change if decide.keep()) for change in changes]
        possible = possible_changes(program, kept)
        return Stream(program, tuple(map(_sent, possible, refused)))


recipes = st.builds(lambda seed, decided: Recipe(seed, tuple(decided.remaining)), seeds, decisions)


def _sent(change: Change, refused: bool) -> Sent:
    """Rules of an update that is refused would be missed, or too many, later on."""
    rules = any(isinstance(step, AddRule | DropRule) for step in change)
    return Sent(change, refused and not rules)


# ------------------------------------------------------------------------------------ what they do


def random_updates(rng: Random, program: Program, count: int) -> list[Change]:
    """Each in the light of those before it. In every other stream: of explicit facts alone."""
    window = chance(rng, 50)
    fed = [p for p in program.schema if not (window and p.level)]
    source = replace(program, schema=tuple(fed))
    state = State.of(program)
    gone: dict[str, frozenset[Row]] = {}
    found: list[Change] = []
    arrived: list[Insert] = []
    for _ in range(count):
        steps = list(random_change(rng, source, state, gone, rules=False))
        if chance(rng, 90 if window else 50):
            steps += [_outdated(rng, step) for step in arrived]
        if chance(rng, 15):
            steps += [_outdated(rng, step) for step in steps if isinstance(step, Insert)]
        if chance(rng, 8):
            steps.append(random_rule_step(rng, program, state))
        change = tuple(sorted(steps, key=_rank))
        gone |= {step.predicate: frozenset(step.rows) for step in steps if isinstance(step, Delete)}
        arrived = [step for step in steps if isinstance(step, Insert) and step.rows]
        state.apply(change)
        found.append(change)
    return found


def _outdated(rng: Random, step: Insert) -> Delete:
    """Deletes all that a step inserted, or some of it."""
    count = len(step.rows) if chance(rng, 70) else rng.randint(1, max(1, len(step.rows)))
    return Delete(step.predicate, shuffled(rng, step.rows)[:count])


def _rank(step: Step) -> int:
    """In this order the steps of an update are done: what is deleted and inserted is there."""
    return (Delete, Insert, DropRule, AddRule).index(type(step))


# ----------------------------------------------------------------------------- how they are written


def as_update(sent: Sent, rng: Random, foreign: bool = False) -> dict[str, Any]:
    """An update as `kb.stream` takes it; `foreign` writes the same symbol in several ways."""
    facts: dict[type, dict[str, list[Any]]] = {}
    for kind in (Delete, Insert):
        facts[kind] = defaultdict(list)
        for step in sent.change:
            if isinstance(step, kind):
                rows = [_written(row, rng, foreign) for row in step.rows]
                facts[kind][step.predicate] += rows
    if sent.refused:
        facts[Insert][GAUGE].append([1, 2])
    dropped = [step.name for step in sent.change if isinstance(step, DropRule)]
    added = [rule_text(step.rule, PLAIN) for step in sent.change if isinstance(step, AddRule)]
    found = {
        "delete": dict(facts[Delete]),
        "insert": dict(facts[Insert]),
        "drop_rules": dropped[0] if len(dropped) == 1 and chance(rng, 50) else dropped,
        "add_rules": added[0] if len(added) == 1 and chance(rng, 50) else added,
    }
    return {key: value for key, value in found.items() if value or chance(rng, 10)}


def _written(row: Row, rng: Random, foreign: bool) -> Sequence[Any]:
    values = [
        f'"{value}"' if foreign and isinstance(value, str) and chance(rng, 25) else value
        for value in row
    ]
    return values if chance(rng, 30) else tuple(values)


def as_lines(updates: Sequence[Mapping[str, Any]], rng: Random) -> str:
    """The text of a file of updates; blank lines are none, and a byte order mark may come first."""
    blank = ("", "", "", "\n", "  \n")
    mark = "\ufeff" if chance(rng, 20) else ""
    return mark + "".join(f"{rng.choice(blank)}{_as_line(update, rng)}\n" for update in updates)


def _as_line(update: Mapping[str, Any], rng: Random) -> str:
    """An update as JSON. If it is to be refused, that may be for a key that stands twice."""
    facts = update.get("insert", {})
    if [1, 2] not in facts.get(GAUGE, ()) or chance(rng, 50):
        return json.dumps(update)
    others = {predicate: rows for predicate, rows in facts.items() if predicate != GAUGE}
    return f'{json.dumps({**update, "insert": others})[:-1]}, "insert": {{}}}}'


# --------------------------------------------------------------------------------- when they arrive


class Feed:
    """Fills a queue: some updates before each is asked for, and some while one is applied."""

    def __init__(
        self, updates: Sequence[Mapping[str, Any]], queue: UpdateQueue, rng: Random
    ) -> None:
        self.queue = queue
        self.arrived = 0
        self._left = deque(updates)
        self._rng = rng
        self._later: list[int] = []
        self._closed = False

    def before(self, applied: int) -> None:
        """What arrives before the next update is asked for, when so many have been applied.

        That is one at least, or the end of the stream: else one would wait for ever.
        """
        rng = self._rng
        self._arrive(rng.choice((0, 0, 0, 1, 1, 2, 6)))
        if self.arrived <= applied:
            self._arrive(applied - self.arrived + 1)
        self._later = sorted(rng.choices(range(60), k=rng.choice((0, 0, 1, 2))), reverse=True)

    def during(self, *_: object) -> None:
        """Called before each statement of SQL: an update may arrive right then."""
        self._later = [statements - 1 for statements in self._later]
        while self._later and self._later[-1] < 0:
            self._later.pop()
            self._arrive(1)

    def _arrive(self, count: int) -> None:
        for _ in range(count):
            if self._left:
                self.queue.put(self._left.popleft())
                self.arrived += 1
            elif not self._closed:
                self.queue.close()
                self._closed = True
