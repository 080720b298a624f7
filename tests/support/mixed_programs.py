"""The oracle of programs with mixed columns: naive evaluation in plain Python.

Each stratum is applied to itself until nothing new comes, each body by trying every fact for every
atom. Values, types and functions are in mixed_terms.py, mixed_types.py and mixed_functions.py. It
shares no code with zodiac_sql.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from generators.programs import (
    Aggregate,
    Atom,
    Bind,
    Compare,
    Literal,
    Not,
    Rule,
    Var,
    every_column_named,
)
from support.mixed_functions import aggregate, evaluate, order
from support.mixed_literals import Marks, literal_of, mark_made
from support.mixed_terms import (
    Elsewhere,
    MixedValue,
    Term,
    Written,
    as_type,
    compare,
    narrowed,
    same,
)
from support.mixed_types import Types, aggregate_type, best_of, value_type, variable_types
from support.naive import is_ready, reads, telling
from support.naive_types import assignments, given_variables, variables_of
from support.naive_values import NoValue, order_of

Row = tuple[MixedValue, ...]
Environment = dict[Var, MixedValue]
Kinds = Mapping[Var, str | None]


class Violated(Exception):
    """A constraint does not hold."""


def extensions(
    rules: Sequence[Rule],
    facts: Mapping[str, Iterable[Row]],
    types: Types,
    marks: Marks | None = None,
) -> dict[str, set[Row]]:
    """All facts of every predicate that has types. Raises Overflow, and Violated.

    `marks` say which literals native values are (mixed_literals.py).
    """
    known: dict[str, set[Row]] = {name: set() for name in types}
    for name, rows in facts.items():
        known[name] |= {stored(row, types[name]) for row in rows}
    for stratum in _strata([rule for rule in rules if not rule.never]):
        changed = True
        while changed:
            changed = False
            for rule in stratum:
                old = known[rule.head.predicate]
                new = _with_best(rule, old | set(_heads(rule, known, types, marks or {})))
                known[rule.head.predicate] = new
                changed |= new != old
    for rule in rules:
        if rule.never and solutions(rule.body, known, types):
            raise Violated(rule.name)
    return known


def _with_best(rule: Rule, rows: set[Row]) -> set[Row]:
    """The best of rows that differ in the last column alone, if the head has MIN or MAX there."""
    function = best_of(rule.head.terms[-1])
    if function is None:
        return rows
    best: dict[Row, Row] = {}
    better = min if function == "MIN" else max
    for row in rows:
        group = row[:-1]
        best[group] = better(best.get(group, row), row, key=lambda one: _place(one[-1]))
    return set(best.values())


def _place(value: MixedValue) -> Any:
    """Where a value is in the order of its column."""
    return order(value) if isinstance(value, Term) else order_of(value)


def stored(row: Sequence[MixedValue], types: Sequence[str | None]) -> Row:
    """A row as its columns hold it."""
    return tuple(as_type(value, type_) for value, type_ in zip(row, types, strict=True))


def _strata(rules: Sequence[Rule]) -> list[list[Rule]]:
    """Rules by the number of non-monotonic steps below their heads."""
    number = {rule.head.predicate: 0 for rule in rules}
    changed = True
    while changed:
        changed = False
        for rule in rules:
            needed = max([number.get(name, 0) + step for name, step in reads(rule.body)], default=0)
            if needed > number[rule.head.predicate]:
                number[rule.head.predicate] = needed
                changed = True
            assert needed <= len(rules), "not stratified"
    highest = max(number.values(), default=0)
    return [[r for r in rules if number[r.head.predicate] == n] for n in range(highest + 1)]


def _heads(rule: Rule, known: Mapping[str, set[Row]], types: Types, marks: Marks) -> Iterator[Row]:
    variables = variable_types(rule.body, types)
    columns = types[rule.head.predicate]
    made = [
        mark_made(rule, term, variables, types, marks) if marks and column == "any" else None
        for term, column in zip(rule.head.terms, columns, strict=True)
    ]
    for solution in solutions(rule.body, known, types):
        try:
            row = [_told(term, solution) for term in rule.head.terms]
        except NoValue:
            continue
        pairs = zip(row, made, strict=True)
        yield stored([literal_of(v, mark) if mark else v for v, mark in pairs], columns)


def _told(term: Any, solution: Environment) -> MixedValue:
    if isinstance(term, Var):
        return solution[term]
    if isinstance(term, Written):
        return term.value
    return evaluate(term.arguments[0], solution) if best_of(term) else term


# --- bodies --------------------------------------------------------------------------------------


def solutions(
    body: Sequence[Literal], known: Mapping[str, set[Row]], types: Types
) -> list[Environment]:
    """The environments in which a body holds; the same one may come more than once."""
    kinds = variable_types(body, types)
    found: list[Environment] = [{}]
    later = [one for one in body if isinstance(one, Aggregate) and one.otherwise is not None]
    for literal in body:
        if isinstance(literal, Atom):
            found = [e for old in found for e in _matches(literal, known, types, kinds, old)]
        elif isinstance(literal, Aggregate) and literal.otherwise is None:
            found = _with_aggregate(literal, known, types, kinds, found)
    for last in later:
        found = _with_aggregate(last, known, types, kinds, found)
    waiting = [literal for literal in body if isinstance(literal, Bind | Compare)]
    given = given_variables(body)
    while waiting:
        literal = next(w for w in waiting if is_ready(w, given))
        waiting.remove(literal)
        found = [e for old in found if (e := _stepped(literal, old, kinds)) is not None]
        given |= {target for target, _ in assignments(literal)}
    for literal in body:
        if isinstance(literal, Not):
            found = [
                e for e in found
                if next(_matches(literal.atom, known, types, kinds, e), None) is None
            ]  # fmt: skip
    return found


def _matches(
    atom: Atom, known: Mapping[str, set[Row]], types: Types, kinds: Kinds, environment: Environment
) -> Iterator[Environment]:
    columns = types[atom.predicate]
    for row in known[atom.predicate]:
        found = _unified(atom.terms, row, columns, kinds, environment)
        if found is not None:
            yield found


def _unified(
    terms: Sequence[object],
    row: Row,
    columns: Sequence[str | None],
    kinds: Kinds,
    environment: Environment,
) -> Environment | None:
    """The environment in which terms stand for a row, if there is one."""
    found = dict(environment)
    try:
        for term, value, column in zip(terms, row, columns, strict=True):
            if not isinstance(term, Var):
                if not _meets(term, value_type(term), value, column):
                    return None
            elif not term.anonymous:
                kind = kinds[term]
                if term not in found:
                    found[term] = as_type(value, kind)
                elif not _meets(found[term], kind, value, column):
                    return None
    except Elsewhere:
        return None
    return found


def _meets(one: MixedValue, kind: str | None, value: MixedValue, column: str | None) -> bool:
    """Whether a value of a variable or a constant is that of a column: narrowed where one is."""
    if isinstance(one, Term) and not isinstance(value, Term | str):
        return same(narrowed(one, column or "symbol"), value)
    if kind == "symbol":
        return same(one, value)
    return same(one, as_type(value, kind))


def _stepped(literal: Bind | Compare, environment: Environment, kinds: Kinds) -> Environment | None:
    """The environment after a binding or a test; None where it fails."""
    try:
        for target, expression in assignments(literal):
            if target not in environment and variables_of(expression) <= environment.keys():
                value = as_type(evaluate(expression, environment), kinds[target])
                return {**environment, target: value}
        if isinstance(literal, Bind):
            left, operator = environment[literal.variable], "="
            right = evaluate(literal.expression, environment)
        else:
            operator = literal.operator
            left, right = (evaluate(e, environment) for e in (literal.left, literal.right))
        return environment if compare(left, operator, right) else None
    except (NoValue, Elsewhere):
        return None


# --- aggregates ----------------------------------------------------------------------------------


def _with_aggregate(
    literal: Aggregate,
    known: Mapping[str, set[Row]],
    types: Types,
    kinds: Kinds,
    environments: Sequence[Environment],
) -> list[Environment]:
    inside = variable_types(literal.body, types)
    group = [inside[variable] for variable in literal.group]
    columns = [*group, aggregate_type(literal, inside[literal.argument])]
    rows = _aggregated(literal, known, types)
    found: list[Environment] = []
    for old in environments:
        there: Sequence[Row] = rows
        terms: tuple[Any, ...] = (*literal.group, literal.result)
        if literal.otherwise is not None:
            there = [r for r in rows
                     if _unified(literal.group, r[:-1], group, kinds, old) is not None]  # fmt: skip
            if not there:
                there, terms = [(literal.otherwise,)], (literal.result,)
        used = columns if len(terms) == len(columns) else [value_type(there[0][0])]
        found += [e for r in there if (e := _unified(terms, r, used, kinds, old)) is not None]
    return found


def _aggregated(literal: Aggregate, known: Mapping[str, set[Row]], types: Types) -> list[Row]:
    """One row for each group: its variables' values and the result."""
    told: dict[Row, Environment] = {}
    for solution in solutions(every_column_named(literal.body), known, types):
        told.setdefault(telling(literal, solution), solution)
    groups: dict[Row, list[MixedValue]] = {}
    for solution in told.values():
        group = tuple(solution[variable] for variable in literal.group)
        groups.setdefault(group, []).append(solution[literal.argument])
    found = []
    for group, values in groups.items():
        try:
            found.append((*group, aggregate(literal.function, values)))
        except NoValue:
            continue
    return found
