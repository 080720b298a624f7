"""What programs with MIN and MAX mean, in plain Python: round by round until nothing changes."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from generators.best_programs import Atom, Expression, Program, Row, Rule

MOST_ROUNDS = 700
"""A value that still changes then gets better for ever: bounded ones take fewer rounds."""

_FUNCTIONS = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "least": min, "greatest": max,
    "abs": abs, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "=": operator.eq, "!=": operator.ne,
}  # fmt: skip

World = dict[str, set[Row]]


class Endless(Exception):
    """The values of a program get better for ever."""


def meaning(
    program: Program,
    rules: Iterable[Rule],
    facts: Mapping[str, Iterable[Row]],
    seen: set[Any] | None = None,
) -> World:
    """All facts, explicit and derived. Raises Endless. Adds all best values of rounds to `seen`."""
    world: World = {name: set(rows) for name, rows in facts.items()}
    rules = list(rules)
    for level in _levels(program):
        mine = [rule for rule in rules if rule.head.predicate in level]
        for _ in range(MOST_ROUNDS):
            after = _applied(mine, world)
            if seen is not None:
                seen |= {v for rows in after.values() for row in rows for v in row}
            if all(world.get(name, set()) == rows for name, rows in after.items()):
                break
            world |= after
        else:
            raise Endless
    return world


def _levels(program: Program) -> Iterator[tuple[str, ...]]:
    for number, family in enumerate(program.families, 1):
        yield family
        yield (f"q{number}",)


def _applied(rules: Iterable[Rule], world: World) -> World:
    """What rules derive: of each group only the best value, also among those that it had."""
    found: World = {}
    best: dict[tuple[str, Row], Any] = {}
    kinds: dict[str, tuple[str, int]] = {}
    for rule in rules:
        name = rule.head.predicate
        rows = found.setdefault(name, set())
        for solution in _solutions(rule, world):
            group = tuple(_value(term, solution) for term in rule.head.terms)
            if not rule.function:
                rows.add(group)
                continue
            kinds[name] = rule.function.lower(), rule.place
            better = min if rule.function.lower() == "min" else max
            value = _value(rule.value, solution)
            best[name, group] = better(best.get((name, group), value), value)
    for (name, group), value in best.items():
        place = kinds[name][1]
        found[name].add((*group[:place], value, *group[place:]))
    return found


def _solutions(rule: Rule, world: World) -> Iterator[dict[str, Any]]:
    atoms = [atom for atom in rule.body if not atom.negated]
    for solution in _joined(atoms, world, {}):
        if any(_holds(atom, world, solution) for atom in rule.body if atom.negated):
            continue
        if all(_value(test, solution) for test in rule.tests):
            yield solution


def _joined(atoms: list[Atom], world: World, known: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if not atoms:
        yield known
        return
    for row in world.get(atoms[0].predicate, ()):
        solution = dict(known)
        if all(
            _same(term, value, solution) for term, value in zip(atoms[0].terms, row, strict=True)
        ):
            yield from _joined(atoms[1:], world, solution)


def _same(term: object, value: Any, solution: dict[str, Any]) -> bool:
    if _is_variable(term):
        return bool(solution.setdefault(str(term), value) == value)
    return bool(term == value)


def _holds(atom: Atom, world: World, solution: dict[str, Any]) -> bool:
    return tuple(_value(t, solution) for t in atom.terms) in world.get(atom.predicate, ())


def _is_variable(term: object) -> bool:
    return isinstance(term, str) and term[0].isupper()


def _value(expression: Expression | object, solution: dict[str, Any]) -> Any:
    if isinstance(expression, tuple):
        function, *parts = expression
        return _FUNCTIONS[str(function)](*(_value(part, solution) for part in parts))
    return solution[str(expression)] if _is_variable(expression) else expression
