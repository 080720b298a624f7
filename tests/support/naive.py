"""The second independent engine: naive evaluation in plain Python, from the language's page alone.

It knows every type and function of the language, where clingo knows integers and names only. It is
slow and simple on purpose: each stratum is applied to itself until nothing new comes, each body by
trying every fact for every atom. It shares no code with zodiac_sql.

Values: a symbol is a `str` (its text as people see it), the rest are Python's int, float, bool,
date and datetime. There is one NaN, which equals itself, and no -0.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

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
from support.naive_functions import AGGREGATES, evaluate, finished
from support.naive_types import Types, assignments, given_variables, variable_types, variables_of
from support.naive_values import (
    Environment,
    NoValue,
    Row,
    Value,
    as_type,
    compared,
    equal,
)

Facts = Mapping[str, Iterable[Row]]


def extensions(rules: Sequence[Rule], facts: Facts, types: Types) -> dict[str, set[Row]]:
    """All facts of every predicate that has types. Raises Overflow."""
    known: dict[str, set[Row]] = {name: set() for name in types}
    for name, rows in facts.items():
        known[name] |= {_stored(row, types[name]) for row in rows}
    for stratum in _strata(rules):
        changed = True
        while changed:
            changed = False
            for rule in stratum:
                new = set(_heads(rule, known, types)) - known[rule.head.predicate]
                known[rule.head.predicate] |= new
                changed |= bool(new)
    return known


def _stored(row: Sequence[Value], types: Sequence[str | None]) -> Row:
    """A row as its columns hold it: an int becomes a float in a column of floats."""
    return tuple(as_type(value, type_) for value, type_ in zip(row, types, strict=True))


# --- strata --------------------------------------------------------------------------------------


def _strata(rules: Sequence[Rule]) -> list[list[Rule]]:
    """Rules by the number of non-monotonic steps below their heads."""
    number: dict[str, int] = {rule.head.predicate: 0 for rule in rules}
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


def reads(body: Iterable[Literal], step: int = 0) -> Iterator[tuple[str, int]]:
    for literal in body:
        if isinstance(literal, Atom):
            yield literal.predicate, step
        elif isinstance(literal, Not):
            yield literal.atom.predicate, 1
        elif isinstance(literal, Aggregate):
            yield from reads(literal.body, 1)


# --- bodies --------------------------------------------------------------------------------------


def _heads(rule: Rule, known: Mapping[str, set[Row]], types: Types) -> Iterator[Row]:
    for solution in solutions(rule.body, known, types):
        row = [solution[t] if isinstance(t, Var) else t for t in rule.head.terms]
        yield _stored(row, types[rule.head.predicate])


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
            rows = _aggregated(literal, known, types)
            terms = (*literal.group, literal.result)
            found = [e for old in found for row in rows if (e := _unified(terms, row, kinds, old))]
    for last in later:
        rows = _aggregated(last, known, types)
        found = [e for old in found for e in _found_or_else(last, rows, kinds, old)]
    waiting = [literal for literal in body if isinstance(literal, Bind | Compare)]
    given = given_variables(body)
    while waiting:
        literal = next(w for w in waiting if is_ready(w, given))
        waiting.remove(literal)
        found = [e for old in found if (e := _stepped(literal, old, kinds)) is not None]
        given |= {target for target, _ in assignments(literal)}
    for literal in body:
        if isinstance(literal, Not):
            found = [e for e in found if not _holds(literal.atom, known, types, kinds, e)]
    return found


def is_ready(literal: Bind | Compare, given: set[Var]) -> bool:
    if (
        isinstance(literal, Compare)
        and variables_of(literal.left) | variables_of(literal.right) <= given
    ):
        return True
    return any(variables_of(value) <= given for _, value in assignments(literal))


def _matches(
    atom: Atom, known: Mapping[str, set[Row]], types: Types, kinds: Mapping[Var, str | None],
    environment: Environment,
) -> Iterator[Environment]:  # fmt: skip
    for row in known[atom.predicate]:
        found = _unified(atom.terms, row, kinds, environment)
        if found is not None:
            yield found


def _holds(
    atom: Atom, known: Mapping[str, set[Row]], types: Types, kinds: Mapping[Var, str | None],
    environment: Environment,
) -> bool:  # fmt: skip
    """Whether an atom has a match: one without any variable is an empty environment."""
    return next(_matches(atom, known, types, kinds, environment), None) is not None


def _unified(
    terms: Sequence[object], row: Row, kinds: Mapping[Var, str | None], environment: Environment
) -> Environment | None:
    """The environment in which terms stand for a row, if there is one."""
    found = dict(environment)
    for term, value in zip(terms, row, strict=True):
        if not isinstance(term, Var):
            if not equal(term, value):  # type: ignore[arg-type]
                return None
        elif not term.anonymous:
            here = as_type(value, kinds[term])
            if not equal(found.setdefault(term, here), here):
                return None
    return found


def _stepped(
    literal: Bind | Compare, environment: Environment, kinds: Mapping[Var, str | None]
) -> Environment | None:
    """The environment after a binding or a test; None where it fails."""
    try:
        for target, expression in assignments(literal):
            if target not in environment and variables_of(expression) <= environment.keys():
                value = as_type(evaluate(expression, environment), kinds[target])
                return {**environment, target: value}
        if isinstance(literal, Bind):
            value = evaluate(literal.expression, environment)
            return environment if equal(environment[literal.variable], value) else None
        left, right = (evaluate(e, environment) for e in (literal.left, literal.right))
    except NoValue:
        return None
    return environment if compared(left, literal.operator, right) else None


# --- aggregates ----------------------------------------------------------------------------------


def _aggregated(literal: Aggregate, known: Mapping[str, set[Row]], types: Types) -> list[Row]:
    """One row for each group: its variables' values and the result."""
    groups: dict[Row, list[Value]] = {}
    for solution, *_ in told_apart(literal, known, types).values():
        group = tuple(solution[variable] for variable in literal.group)
        groups.setdefault(group, []).append(solution[literal.argument])
    function = AGGREGATES[literal.function]
    return [(*group, _finished_result(function(values))) for group, values in groups.items()]


def told_apart(
    literal: Aggregate, known: Mapping[str, set[Row]], types: Types
) -> dict[Row, list[Environment]]:
    """The solutions that an aggregate is over, by what tells them apart."""
    found: dict[Row, list[Environment]] = {}
    for solution in solutions(every_column_named(literal.body), known, types):
        found.setdefault(telling(literal, solution), []).append(solution)
    return found


def telling(literal: Aggregate, solution: Environment) -> Row:
    """What tells a solution apart: every column of the body's atoms, and what is computed.

    With DISTINCT, it is the value of the argument in its group.
    """
    names = sorted(solution, key=lambda variable: variable.name)
    told = [*literal.group, literal.argument] if literal.distinct else names
    return tuple(solution[variable] for variable in told)


def _found_or_else(
    literal: Aggregate,
    rows: Sequence[Row],
    kinds: Mapping[Var, str | None],
    environment: Environment,
) -> Iterator[Environment]:
    """The environments in which an aggregate has its value, for groups without solutions, too."""
    there = [row for row in rows if _unified(literal.group, row[:-1], kinds, environment)
             is not None]  # fmt: skip
    terms: tuple[Var, ...] = (*literal.group, literal.result)
    if not there:
        assert literal.otherwise is not None
        there, terms = [(literal.otherwise,)], (literal.result,)
    for row in there:
        found = _unified(terms, row, kinds, environment)
        if found is not None:
            yield found


def _finished_result(value: Value) -> Value:
    return value if isinstance(value, str) else finished(value)
