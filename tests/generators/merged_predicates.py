"""Random programs that are stratified by what stands in a column, and not by their predicates.

Some predicates of a stratified program become one, with a column more that says which one is meant:
`p(X)` and `q(X)` are `m(p, X)` and `m(q, X)`. What is read by another rule than it seems to be, or
read before it is complete, was the error to look for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random

from generators.program_changes import AddRule, Change, Changes, Delete, DropRule, Insert, Step
from generators.programs import (
    Aggregate,
    Atom,
    Kind,
    Literal,
    Not,
    Predicate,
    Program,
    Row,
    Rule,
    Var,
    atoms_of,
)
from generators.random_rules import chance


@dataclass(frozen=True)
class Merged:
    """The strata of a program's predicates, and for each predicate that is merged into another one:
    that, and whether the new column comes first."""

    strata: dict[str, int]
    into: dict[str, tuple[str, bool]]
    rng: Random
    percent: int
    """How often an atom reads all of the merged predicates, where that keeps the levels."""

    def program(self, program: Program) -> Program:
        facts: dict[str, frozenset[Row]] = {}
        for name, rows in program.facts.items():
            new = self.name(name)
            facts[new] = facts.get(new, frozenset()).union(self.rows(name, tuple(rows)))
        return replace(
            program,
            schema=tuple({p.name: p for p in map(self._predicate, program.schema)}.values()),
            rules=tuple(map(self.rule, program.rules)),
            facts=facts,
            spare=tuple(map(self.rule, program.spare)),
        )

    def changes(self, changes: Changes, rules: dict[str, Rule]) -> Changes:
        """Changes of the merged program, whose rules have been made already."""

        def step(step: Step) -> Step:
            if isinstance(step, Insert):
                return Insert(self.name(step.predicate), self.rows(step.predicate, step.rows))
            if isinstance(step, Delete):
                return Delete(self.name(step.predicate), self.rows(step.predicate, step.rows))
            if isinstance(step, AddRule):
                return AddRule(rules[step.rule.name])
            assert isinstance(step, DropRule)
            return step

        def change(change: Change) -> Change:
            return tuple(map(step, change))

        return Changes(map(change, changes))

    def name(self, predicate: str) -> str:
        return self.into[predicate][0] if predicate in self.into else predicate

    def rows(self, predicate: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        if predicate not in self.into:
            return rows
        first = self.into[predicate][1]
        return tuple((tag(predicate), *r) if first else (*r, tag(predicate)) for r in rows)

    def rule(self, rule: Rule) -> Rule:
        level = self.strata[rule.head.predicate]
        body = tuple(self._literal(literal, level, True) for literal in rule.body)
        return replace(rule, head=self._atom(rule.head), body=body)

    def _predicate(self, predicate: Predicate) -> Predicate:
        if predicate.name not in self.into:
            return predicate
        name, first = self.into[predicate.name]
        kinds = (Kind.SYMBOL, *predicate.kinds) if first else (*predicate.kinds, Kind.SYMBOL)
        return replace(predicate, name=name, kinds=kinds)

    def _literal(self, literal: Literal, level: int, positive: bool) -> Literal:
        if isinstance(literal, Atom):
            return self._atom(literal, level if positive else level - 1)
        if isinstance(literal, Not):
            return Not(self._atom(literal.atom, level - 1))
        if isinstance(literal, Aggregate):
            body = tuple(self._literal(one, level, False) for one in literal.body)
            return replace(literal, body=body)
        return literal

    def _atom(self, atom: Atom, highest: int = -1) -> Atom:
        """An atom of the merged predicates; perhaps of all of them, if none is above a level."""
        if atom.predicate not in self.into:
            return atom
        name, first = self.into[atom.predicate]
        alike = [p for p, (other, _) in self.into.items() if other == name]
        every = all(self.strata[p] <= highest for p in alike) and chance(self.rng, self.percent)
        term = Var("_") if every else tag(atom.predicate)
        return Atom(name, (term, *atom.terms) if first else (*atom.terms, term))


def tag(predicate: str) -> str:
    """What stands in the new column: a name that needs no quotes."""
    return f"is_{predicate.lower()}" + "_" * (predicate != predicate.lower())


def strata(schema: Iterable[Predicate], rules: Sequence[Rule]) -> dict[str, int]:
    """The lowest stratum that each predicate can have."""
    found = {predicate.name: 0 for predicate in schema}
    changed = True
    while changed:
        changed = False
        for rule in rules:
            reads = [0]
            for literal in rule.body:
                above = 0 if isinstance(literal, Atom) else 1
                reads += [found[atom.predicate] + above for atom in atoms_of([literal])]
            if found[rule.head.predicate] < max(reads):
                found[rule.head.predicate] = max(reads)
                changed = True
    return found


def merged(program: Program, changes: Changes, rng: Random) -> tuple[Program, Changes]:
    """A program in which predicates with the same columns have become one, and its changes."""
    into: dict[str, tuple[str, bool]] = {}
    rules = (*program.rules, *program.spare)
    fixed = {p.name for p in program.schema if p.aggregate}
    fixed |= {r.head.predicate for r in rules if any(isinstance(x, Aggregate) for x in r.body)}
    groups: dict[tuple[Kind, ...], list[str]] = {}
    for predicate in program.schema:
        if predicate.name not in fixed and chance(rng, 90):
            groups.setdefault(predicate.kinds, []).append(predicate.name)
    for number, names in enumerate(names for names in groups.values() if len(names) > 1):
        first = chance(rng, 50)
        into.update({name: (f"m{number}", first) for name in names})
    for percent in (30, 0):  # a rule that reads the same as another one is not added
        made = Merged(strata(program.schema, rules), into, rng, percent)
        after = made.program(program)
        every = {r.name: r for r in (*after.rules, *after.spare)}
        if len({(r.head, r.body) for r in every.values()}) == len(every):
            break
    return after, made.changes(changes, every)
