"""Random programs, level by level, and their facts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from random import Random

from generators.programs import (
    INTEGERS,
    SYMBOLS,
    Atom,
    Kind,
    Literal,
    Predicate,
    Program,
    Row,
    Rule,
    Style,
    Value,
    Var,
    rule_text,
)
from generators.random_rules import (
    EDB_NAMES,
    IDB_NAMES,
    VARIABLES,
    aggregate_rule,
    chance,
    closure_rules,
    mutual_rules,
    plain_rule,
)


@dataclass
class _ProgramBuilder:
    rng: Random
    schema: list[Predicate] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def explicit_predicates(self) -> None:
        main = self.rng.choice((Kind.INT, Kind.SYMBOL))
        kinds = (main, main, main, Kind.SYMBOL, Kind.INT)
        for name in EDB_NAMES[: self.rng.choice((2, 2, 3, 1))]:
            self.schema.append(Predicate(name, self._kinds(kinds), 0))

    def _kinds(self, kinds: Sequence[Kind]) -> tuple[Kind, ...]:
        arity = self.rng.choice((2, 2, 2, 2, 2, 2, 1, 1, 3, 0))
        return tuple(self.rng.choice(kinds) for _ in range(arity))

    def derived_name(self) -> str:
        return IDB_NAMES[sum(p.level > 0 for p in self.schema)]

    def level(self, level: int, budget: int) -> None:
        """Adds one level of predicates and at most `budget` rules for them."""
        lower = list(self.schema)
        if chance(self.rng, 22):
            self._aggregate_level(level, lower)
            return
        size = self.rng.choice((1, 2, 3, 1))
        kinds = self._derived_kinds(lower)
        group = []
        for _ in range(size if size < budget else 1):
            if not chance(self.rng, 80):
                kinds = self._derived_kinds(lower)
            group.append(Predicate(self.derived_name(), kinds, level))
            self.schema.append(group[-1])
        self._add(self._base_rule(group[0], lower))  # something to start from
        if len(group) > 1:  # around through all of them
            for index, head in enumerate(group):
                self._add(self._ring_rule(head, lower, group[index - 1]))
        for _ in range(self.rng.randint(0, max(0, budget - len(group) - 1))):
            self._add(self._further_rule(self.rng.choice(group), lower, group))

    def copy_of(self, lower: Predicate) -> None:
        """Adds a predicate with one rule, over a predicate below it."""
        head = Predicate(self.derived_name(), lower.kinds, lower.level + 1)
        self.schema.append(head)
        self._add(self._base_rule(head, [lower]))

    def _derived_kinds(self, lower: Sequence[Predicate]) -> tuple[Kind, ...]:
        """Often the kinds of a predicate below, so that rules can copy, close and compare."""
        if chance(self.rng, 60):
            return self.rng.choice(lower).kinds
        numeric = [p.kinds for p in lower if Kind.INT in p.kinds]
        if numeric and chance(self.rng, 50):  # the same with a computed column
            return (*self.rng.choice(numeric)[:2], Kind.BIG)
        return self._kinds((Kind.SYMBOL, Kind.INT, Kind.BIG))

    def _aggregate_level(self, level: int, lower: Sequence[Predicate]) -> None:
        names = (self._rule_name(), self.derived_name())
        found = aggregate_rule(self.rng, names, level, lower)
        if found:
            self.schema.append(found[0])
            self._add(found[1])

    def _base_rule(self, head: Predicate, lower: Sequence[Predicate]) -> Rule:
        alike = [p for p in lower if p.kinds == head.kinds]
        if alike and chance(self.rng, 60):
            terms = tuple(Var(VARIABLES[i]) for i in range(len(head.kinds)))
            body = Atom(self.rng.choice(alike).name, terms)
            return Rule(self._rule_name(), Atom(head.name, terms), (body,))
        return plain_rule(self.rng, self._rule_name(), head, lower, ())

    def _further_rule(
        self, head: Predicate, lower: Sequence[Predicate], group: Sequence[Predicate]
    ) -> Rule:
        bases = [p for p in lower if p.kinds == head.kinds]
        binary = len(head.kinds) == 2 and head.kinds[0] is head.kinds[1]
        if binary and bases and chance(self.rng, 60):
            partners = [p for p in group if p.kinds == head.kinds]
            base, partner = self.rng.choice(bases), self.rng.choice(partners)
            shapes = closure_rules(head, base) + mutual_rules(head, base, partner)
            return replace(self.rng.choice(shapes), name=self._rule_name())
        return plain_rule(self.rng, self._rule_name(), head, lower, group)

    def _ring_rule(self, head: Predicate, lower: Sequence[Predicate], before: Predicate) -> Rule:
        """A rule that derives one predicate of a level from another one of it."""
        bases = [p for p in lower if p.kinds == head.kinds]
        if before.kinds == head.kinds and chance(self.rng, 40):
            body = Atom(before.name, tuple(map(Var, VARIABLES[: len(head.kinds)])))
            return Rule(self._rule_name(), Atom(head.name, body.terms), (body,))
        binary = len(head.kinds) == 2 and head.kinds[0] is head.kinds[1]
        if binary and bases and before.kinds == head.kinds and chance(self.rng, 60):
            shapes = mutual_rules(head, self.rng.choice(bases), before)
            return replace(self.rng.choice(shapes), name=self._rule_name())
        return plain_rule(self.rng, self._rule_name(), head, lower, (before,))

    def _rule_name(self) -> str:
        return f"r{len(self.rules) + 1}"

    def _add(self, rule: Rule) -> None:
        """Leaves out a rule that is there under another name: engines may keep only one of them."""
        key = canonical(rule)
        if key not in self.seen:
            self.seen.add(key)
            self.rules.append(rule)


def canonical(rule: Rule) -> str:
    """The same text for rules that differ only in variable names and the order of the body."""
    return min(_renamed(rule.head, body) for body in permutations(rule.body))


def _renamed(head: Atom, body: Sequence[Literal]) -> str:
    words = rule_text(Rule("r", head, tuple(body)), Style()).split('"')
    numbers: dict[str, str] = {}
    for index in range(0, len(words), 2):  # outside of quotes
        words[index] = _rename(words[index], numbers)
    return '"'.join(words)


def _rename(text: str, numbers: dict[str, str]) -> str:
    def number(found: re.Match[str]) -> str:
        return numbers.setdefault(found[0], f"V{len(numbers)}")

    return re.sub(r"\b[A-Z][0-9]*\b(?!\()", number, text)


def random_program(rng: Random, max_rules: int = 8) -> Program:
    """Levels of predicates, each with rules over those below it, and facts for them."""
    builder = _ProgramBuilder(rng)
    builder.explicit_predicates()
    for level in range(1, 1 + rng.choice((2, 1, 3, 3))):
        budget = max_rules - len(builder.rules)
        if budget > 0:
            builder.level(level, min(budget, 5))
    if not builder.rules:  # an aggregate over a body that binds nothing was all there was
        builder.copy_of(builder.schema[0])
    facts = {p.name: rows for p in builder.schema if (rows := _initial_rows(rng, p))}
    return Program(tuple(builder.schema), tuple(builder.rules), facts, seed=rng.getrandbits(32))


def _initial_rows(rng: Random, predicate: Predicate) -> frozenset[Row]:
    """Many rows for explicit predicates, a few for some derived ones."""
    if predicate.level == 0:
        return frozenset(random_rows(rng, predicate, rng.choice((5, 7, 7, 9, 9, 12, 0))))
    if predicate.aggregate or not chance(rng, 25):
        return frozenset()
    return frozenset(random_rows(rng, predicate, rng.choice((1, 2))))


def random_rows(
    rng: Random,
    predicate: Predicate,
    count: int,
    symbols: tuple[str, ...] = SYMBOLS,
    integers: tuple[int, ...] = INTEGERS,
) -> tuple[Row, ...]:
    """Up to so many rows, each once."""
    domains: list[tuple[Value, ...]] = [
        integers if kind.numeric else symbols for kind in predicate.kinds
    ]
    rows: list[Row] = [tuple(rng.choice(domain) for domain in domains) for _ in range(count)]
    return tuple(dict.fromkeys(rows))
