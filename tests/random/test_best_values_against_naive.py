"""Random programs with MIN and MAX in heads, and random changes, against plain Python and clingo.

After each change, the tables are what the program means, the Change tells exactly the difference,
and `verify` agrees; a change that is refused, by a limit too, leaves all as it was. To look for new
examples:
    pytest --hypothesis-profile=explore tests/random/test_best_values_against_naive.py
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from generators.best_programs import SCHEMA, Program, Rule, random_facts, random_program
from hypothesis import given, note, settings
from hypothesis import strategies as st
from support.as_if_large import as_if_large
from support.best_by_clingo import FAR, by_clingo
from support.best_values import Endless, World, meaning
from support.examples import share
from support.strategies import STRATEGIES

from zodiac_sql.errors import EvaluationError, LimitError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.change import Change

OpenKb = Callable[..., "KnowledgeBase"]

PROGRAMS = share(5)
CHANGES = 6
VERIFIED = 3


@settings(max_examples=PROGRAMS)
@given(seed=st.integers(0, 2**32 - 1))
def test_programs_with_best_values(open_kb: OpenKb, seed: int) -> None:
    play(open_kb, Random(seed))


def play(open_kb: OpenKb, rng: Random) -> None:
    """A program and some changes of its facts and rules; the file is opened anew now and then."""
    program, strategy = random_program(rng), rng.choice(STRATEGIES)
    reopened = rng.random() < 0.4
    large = rng.random() < 0.5  # then one statement goes through many rounds
    told = f"% {strategy}, large {large}{', reopened' if reopened else ''}\n"
    note(told + "\n".join(map(str, program.rules)))
    with TemporaryDirectory() as folder, ExitStack() as closing, as_if_large(large):
        place = Path(folder) / "best.duckdb" if reopened else ":memory:"
        kb = closing.enter_context(open_kb(place, strategy=strategy))
        if rng.random() < 0.5:  # else types come with the first facts, perhaps after the rules
            kb.add_rules(declarations(program))
        played = Played(program, {name: set() for name in SCHEMA})
        for number in range(CHANGES):
            if reopened and rng.random() < 0.4:
                note("% reopened")
                kb.close()
                kb = closing.enter_context(open_kb(place, strategy=rng.choice(STRATEGIES)))
            before = played.world
            if told := changed(kb, rng, played, number):
                assert_told(told, before, played.world)
                explained(kb, rng, told, before, played.world)
            if number % VERIFIED == 0:
                assert kb.verify()
        if played.is_small:
            derived = {name: rows for name, rows in played.world.items() if rows}
            assert by_clingo(program, played.rules.values(), played.facts) == derived


@dataclass
class Played:
    """A program, and what there is of it."""

    program: Program
    facts: World
    rules: dict[str, Rule] = field(default_factory=dict)
    world: World = field(default_factory=dict)
    is_small: bool = True
    """Whether clingo can say what it means."""


def changed(kb: KnowledgeBase, rng: Random, played: Played, number: int) -> Change | None:
    """Make a change, unless values get better for ever. Maybe it is refused by a limit first."""
    change = random_change(rng, played.program, played.facts, played.rules, number)
    note(f"% change {number}: {change}")
    after, left = change.facts_after(played.facts), change.rules_after(played.rules)
    seen: set[object] = set()
    try:
        world = meaning(played.program, left.values(), after, seen)
    except Endless:
        with pytest.raises(EvaluationError):
            change.make(kb)
        assert_holds(kb, played.world)
        return None
    told = None
    if limits := random_limits(rng):
        note(f"% with {limits}")
        try:
            told = change.make(kb, **limits)
        except LimitError:
            assert_holds(kb, played.world)
    told = told or change.make(kb)
    played.facts, played.rules, played.world = after, left, world
    values = [one for one in (*seen, *played.program.weights) if not isinstance(one, str)]
    played.is_small = all(isinstance(one, int) and abs(one) <= FAR for one in values)
    assert_holds(kb, world)
    return told


def random_limits(rng: Random) -> dict[str, float]:
    """Mostly none, else one that many changes come to."""
    name = rng.choice(["max_rows", "max_iterations", "timeout", *[""] * 6])
    if name == "timeout":
        return {name: rng.uniform(0.001, 0.05)}
    return {name: rng.randint(1, 4)} if name else {}


def explained(kb: KnowledgeBase, rng: Random, told: Change, before: World, world: World) -> None:
    """A fact has a proof, unless it rests on a value that has got better, and a move a reason."""
    derived = sorted(name for name in world if name not in SCHEMA and world[name])
    for name in rng.sample(derived, min(2, len(derived))):
        row = rng.choice(sorted(world[name], key=repr))
        tell(kb.why, written(name, row))
    moved = [
        (name, row)
        for name in sorted(before.keys() | world.keys())
        for row in sorted(before.get(name, set()) ^ world.get(name, set()), key=repr)
    ]
    for name, row in rng.sample(moved, min(2, len(moved))):
        tell(told.why, written(name, row))


def tell(why: Callable[[str], object], fact: str) -> None:
    told = str(why(fact)).split("\n")[0]
    assert _read(told.split(")")[0]) == _read(fact.rstrip(")"))


def _read(fact: str) -> list[object]:
    """The predicate and values of a fact; a value can be written 1 or 1.0."""
    name, _, values = fact.partition("(")
    return [name, *(_number(value) for value in values.split(", "))]


def _number(value: str) -> object:
    try:
        return float(value)
    except ValueError:
        return value


def written(name: str, row: tuple[object, ...]) -> str:
    return f"{name}({', '.join(map(str, row))})"


def declarations(program: Program) -> str:
    kind = "float" if isinstance(program.weights[0], float) else "int"
    types = {"node": "symbol", "weight": kind}
    lines = []
    for name, kinds in SCHEMA.items():
        columns = ", ".join(f"c{n}: {types[k]}" for n, k in enumerate(kinds))
        lines.append(f".decl {name}({columns})")
    return "\n".join(lines)


class Changed:
    """Facts and rules that come and go."""

    def __init__(self, come: World, go: World, new: list[Rule], dropped: list[str]) -> None:
        self.come, self.go, self.new, self.dropped = come, go, new, dropped

    def __str__(self) -> str:
        return f"+{self.come} -{self.go} +{list(map(str, self.new))} -{self.dropped}"

    def facts_after(self, facts: World) -> World:
        return {
            n: (rows - self.go.get(n, set())) | self.come.get(n, set()) for n, rows in facts.items()
        }

    def rules_after(self, rules: dict[str, Rule]) -> dict[str, Rule]:
        left = {name: rule for name, rule in rules.items() if name not in self.dropped}
        return left | {rule.name: rule for rule in self.new}

    def make(self, kb: KnowledgeBase, **limits: float) -> Change:
        with kb.update(**limits) as u:  # type: ignore[arg-type]
            for name in self.dropped:
                u.drop_rules(name)
            for name, rows in self.go.items():
                u.delete(name, sorted(rows))
            for name, rows in self.come.items():
                u.insert(name, sorted(rows))
            if self.new:
                u.add_rules("\n".join(map(str, self.new)))
        assert u.change is not None
        return u.change


def random_change(
    rng: Random, program: Program, facts: World, rules: dict[str, Rule], number: int
) -> Changed:
    if number == 0:
        early = [name for name in SCHEMA if rng.random() < 0.7]
        first = {n: set(r) for n, r in random_facts(rng, program, 12).items() if r and n in early}
        chosen = [rule for rule in program.rules if rng.random() < 0.8]
        return Changed(first, {}, chosen, [])
    count = rng.choice([0, 1, 2, 3, 8])
    come = {n: set(r) for n, r in random_facts(rng, program, count).items() if r}
    there = [(n, row) for n, rows in facts.items() for row in sorted(rows, key=repr)]
    go: World = {}
    for name, row in rng.sample(there, min(len(there), rng.randint(0, 3))):
        if row not in come.get(name, ()):
            go.setdefault(name, set()).add(row)
    absent = [rule for rule in program.rules if rule.name not in rules]
    new = rng.sample(absent, min(len(absent), rng.choice([0, 0, 1])))
    dropped = rng.sample(sorted(rules), min(len(rules), rng.choice([0, 0, 0, 1])))
    if dropped and rng.random() < 0.3:  # the predicate loses all of its rules
        head = rules[dropped[0]].head.predicate
        dropped = [name for name, rule in rules.items() if rule.head.predicate == head]
    return Changed(come, go, new, dropped)


def assert_holds(kb: KnowledgeBase, world: World) -> None:
    there = {row["predicate"] for row in kb.predicates().to_pylist()}
    for name in there | {name for name, rows in world.items() if rows}:
        rows = kb.table(name).fetchall() if name in there else []
        assert len(rows) == len(set(rows)), name
        assert set(rows) == world.get(name, set()), name


def assert_told(told: Change, before: World, after: World) -> None:
    for name in before.keys() | after.keys():
        old, new = before.get(name, set()), after.get(name, set())
        assert told.inserted.get(name, 0) == len(new - old), name
        assert told.deleted.get(name, 0) == len(old - new), name
        if new - old:
            rows = told.inserted_facts(name).to_pylist()
            assert {tuple(row.values()) for row in rows} == new - old
        if old - new:
            rows = told.deleted_facts(name).to_pylist()
            assert {tuple(row.values()) for row in rows} == old - new
