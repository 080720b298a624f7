"""Random programs over the whole language and all types, and random changes to them.

programs.py draws what clingo can evaluate. This draws the rest, for naive.py: floats with NaN,
infinities, subnormals and -0.0; ints at the ends of their 64 bits and beyond what a float can
hold; texts that need quotes, languages and IRIs; dates and times; ints that meet floats; computed
values in recursion; variables that only a constant binds; names that look like the library's own.

By construction a program is stratified (a predicate has a level; negation and aggregates look at
lower ones only) and finite (a rule that may be recursive applies only functions whose iteration
ends), and no integer overflows but in a SUM: arithmetic on ints reads SMALL columns only and
writes INT columns, which it never reads.

In half of the programs some predicates have no declarations. Their columns get types from the first
facts, or from rules, which may come much later than the rules that read them; and they lose them
again with their last rule.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from generators.programs import Rule
from generators.random_rules import chance, shuffled
from generators.typed_language import (
    DERIVED_NAMES,
    EXPLICIT_NAMES,
    POOLS,
    UNDECLARED,
    Change,
    Kind,
    Predicate,
    Program,
    atom_text,
    constant_text,
    literal_text,
)
from generators.typed_rules import Rules
from support.naive import reads
from support.naive_types import Types, column_types, value_type
from support.naive_values import Row

# --- programs ------------------------------------------------------------------------------------


def random_program(rng: Random) -> Program:
    """A program of two to five derived predicates over two to four explicit ones."""
    favourite = rng.sample(list(Kind), 2)
    predicates: list[Predicate] = []
    names = iter(rng.sample(EXPLICIT_NAMES, 4))
    for _ in range(rng.choice((2, 3, 3, 4))):
        predicates.append(Predicate(next(names), _kinds(rng, favourite), 0))
    names = iter(rng.sample(DERIVED_NAMES, 5))
    for level in range(1, rng.choice((2, 3, 3, 4))):
        for _ in range(rng.choice((1, 1, 2))):
            name = next(names, None)
            if name is not None:
                aggregate = chance(rng, 25)
                predicates.append(Predicate(name, _kinds(rng, favourite), level, aggregate))
    undeclared = chance(rng, 50)
    if undeclared:
        predicates = [p if chance(rng, 30) else _undeclared(p) for p in predicates]
    drawn = Rules(rng, predicates)
    rules = [rule for p in predicates if p.level for rule in _rules_of(drawn, p)]
    # A rule that reads the same as another is passed over when it is added.
    rules = list({_shape(rule): rule for rule in rules}.values())
    facts = {
        p.name: frozenset(random_rows(rng, p, rng.choice((1, 3, 5, 6))))
        for p in predicates
        if not p.aggregate and (p.level == 0 or chance(rng, 20))
        if not undeclared or chance(rng, 50)
    }
    return Program(tuple(predicates), tuple(rules), facts)


def _undeclared(predicate: Predicate) -> Predicate:
    return replace(predicate, name=predicate.name + UNDECLARED)


def _shape(rule: Rule) -> tuple[str, ...]:
    """The same for rules that differ in names of variables or the order of their bodies only."""
    texts = [atom_text(rule.head), *sorted(map(literal_text, rule.body))]
    return tuple(re.sub(r"\b[A-Z]1?\b", "V", text) for text in texts)


def _kinds(rng: Random, favourite: Sequence[Kind]) -> tuple[Kind, ...]:
    """One to three columns, mostly of the program's favourite kinds, so that they join."""
    size = rng.choice((1, 2, 2, 2, 3))
    if chance(rng, 30):
        return (rng.choice(favourite),) * size
    every = list(Kind)
    return tuple(rng.choice(favourite if chance(rng, 75) else every) for _ in range(size))


def _rules_of(drawn: Rules, predicate: Predicate) -> list[Rule]:
    if predicate.aggregate:
        return [drawn.aggregate(predicate)]
    lower = [p for p in drawn.predicates if p.level < predicate.level]
    rng, rules = drawn.rng, []
    if len(set(predicate.kinds)) == 1 and len(predicate.kinds) == 2 and chance(rng, 50):
        rules += drawn.closure(predicate, lower)
    if chance(rng, 25):
        cyclic = drawn.cycle(predicate, lower)
        rules += [cyclic] if cyclic else []
    return rules + [drawn.rule(predicate) for _ in range(rng.choice((1, 2, 2, 3)))]


_NARROWER = {Kind.FLOAT: Kind.INT, Kind.DECIMAL: Kind.INT, Kind.CENT: Kind.SMALL}
"""What goes into columns of other numbers, too."""


def random_rows(rng: Random, predicate: Predicate, count: int) -> list[Row]:
    """Rows from small pools, so that they join; ints go into columns of other numbers, too."""
    rows = []
    for _ in range(count):
        row = []
        for kind in predicate.kinds:
            pool = POOLS[kind]
            value = rng.choice(pool[:3] if chance(rng, 50) else pool)
            if kind in _NARROWER and predicate.declared and chance(rng, 15):
                value = rng.choice(POOLS[_NARROWER[kind]])
            row.append(value)
        rows.append(tuple(row))
    return rows


# --- changes -------------------------------------------------------------------------------------


@dataclass
class State:
    """Rules and facts as the changes so far have left them, and the types that are settled."""

    rules: dict[str, Rule]
    facts: dict[str, list[Row]]
    settled: Types

    @classmethod
    def empty(cls, program: Program) -> State:
        return cls({}, {}, {p.name: p.settled for p in program.schema})

    @property
    def types(self) -> Types:
        return column_types(list(self.rules.values()), self.settled)

    def after(self, change: Change) -> State:
        """What is there after a change. Insertion goes before deletion of the same fact."""
        rules = {n: r for n, r in self.rules.items() if n not in change.drop}
        rules |= {rule.name: rule for rule in change.add}
        facts = {name: list(rows) for name, rows in self.facts.items()}
        for name, rows in change.deletes:
            gone = {_key(row) for row in rows}
            facts[name] = [row for row in facts.get(name, []) if _key(row) not in gone]
        for name, rows in change.inserts:
            facts[name] = facts.get(name, []) + list(rows)
        return State(rules, facts, _settled(self.settled, rules.values(), facts))


def _settled(before: Types, rules: Iterable[Rule], facts: Mapping[str, Sequence[Row]]) -> Types:
    """The types that are settled; those of predicates that nothing mentions are forgotten."""
    mentioned = {name for rule in rules for name in predicates_of(rule)}
    after = dict(before)
    for name, types in before.items():
        rows = facts.get(name, ())
        if rows:
            first = map(value_type, rows[0])
            after[name] = tuple(old or new for old, new in zip(types, first, strict=True))
        elif name.endswith(UNDECLARED) and name not in mentioned:
            after[name] = (None,) * len(types)
    return after


def predicates_of(rule: Rule) -> set[str]:
    """The predicates in a rule."""
    return {rule.head.predicate, *(name for name, _ in reads(rule.body))}


def _key(row: Row) -> tuple[object, ...]:
    """What makes two rows the same fact of one predicate."""
    return tuple("nan" if isinstance(v, float) and math.isnan(v) else v for v in row)


def _all_alike(predicate: Predicate, present: Iterable[Row], some: Iterable[Row]) -> list[Row]:
    """All rows that are the same facts as some of them: a column of floats has no other ints."""

    def fact(row: Row) -> tuple[object, ...]:
        pairs = zip(predicate.kinds, row, strict=True)
        return _key(tuple(float(v) if k is Kind.FLOAT else v for k, v in pairs))  # type: ignore[arg-type]

    facts = set(map(fact, some))
    return [row for row in present if fact(row) in facts]


def random_change(rng: Random, program: Program, state: State) -> Change:
    """A change that is possible in a state."""
    what = rng.choice(("facts", "facts", "facts", "rules", "both"))
    inserts, deletes = {}, {}
    open_ = [p for p in program.schema if not p.aggregate]
    if what != "rules":
        for _ in range(rng.choice((1, 1, 2))):
            predicate = rng.choice([p for p in open_ if p.level == 0] * 4 + open_)
            present = state.facts.get(predicate.name, [])
            if present and chance(rng, 50):
                gone = shuffled(rng, present)[: rng.choice((1, 1, 2, 9))]
                deletes[predicate.name] = _all_alike(predicate, present, gone)
            else:
                inserts[predicate.name] = tuple(random_rows(rng, predicate, rng.choice((1, 2, 4))))
    add: list[Rule] = []
    drop: list[str] = []
    if what != "facts":
        absent = [rule for rule in program.rules if rule.name not in state.rules]
        if absent and chance(rng, 60):
            add.append(rng.choice(absent))
        elif state.rules:
            drop.append(rng.choice(list(state.rules)))
            if chance(rng, 30):  # the predicate loses all of its rules
                head = state.rules[drop[0]].head.predicate
                drop = [n for n, rule in state.rules.items() if rule.head.predicate == head]
    deletes = {n: rows for n, rows in deletes.items() if n not in inserts}
    return Change(tuple(inserts.items()), tuple(deletes.items()), tuple(add), tuple(drop))


def facts_text(facts: Iterable[tuple[str, Iterable[Row]]]) -> str:
    """Facts as a person would write them down."""
    return "\n".join(
        f"{name}({', '.join(map(constant_text, row))})." for name, rows in facts for row in rows
    )
