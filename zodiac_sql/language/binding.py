"""Which variables of a body are bound, by what, and in which order.

A positive atom binds its variables, an aggregate its group and result, and `V = expression` or
BIND binds V once the expression's variables are bound. Everything else must find its variables
bound, except that a variable occurring only under a negation is existential there.

A deep expression is cut: its inner parts become bindings of hidden variables, so that the trees
from which SQL is written, and DuckDB's own, stay shallow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from zodiac_sql.language.syntax import (
    Aggregate,
    Atom,
    Binding,
    Call,
    Comparison,
    Constant,
    Expression,
    Literal,
    Negation,
    Rule,
    Type,
    Variable,
    atoms_of,
)


@dataclass(frozen=True, slots=True)
class Arranged:
    """A body in the order in which it can be evaluated.

    `steps` bind new variables, each after those that it needs; `filters` only test. `unplaced` are
    the literals that could not be placed, because they need a variable that is never bound.
    """

    atoms: tuple[Atom, ...]
    aggregates: tuple[Aggregate, ...]
    steps: tuple[Binding, ...]
    filters: tuple[Comparison, ...]
    negations: tuple[Negation, ...]
    bound: frozenset[str]
    unplaced: tuple[Comparison | Binding, ...]


def arrange(body: tuple[Literal, ...]) -> Arranged:
    """Sort a body's literals into what binds and what tests."""
    atoms = tuple(literal for literal in body if isinstance(literal, Atom))
    aggregates = tuple(literal for literal in body if isinstance(literal, Aggregate))
    bound = {v.name for atom in atoms for v in variables(*atom.terms)}
    for aggregate in aggregates:
        bound |= {v.name for v in (*aggregate.group, aggregate.result)}

    waiting = _shallow([lit for lit in body if isinstance(lit, Comparison | Binding)])
    steps: list[Binding] = []
    filters: list[Comparison] = []
    while True:
        left = [literal for literal in waiting if not _place(literal, bound, steps, filters)]
        if len(left) == len(waiting):
            break
        waiting = left
    negations = tuple(literal for literal in body if isinstance(literal, Negation))
    return Arranged(
        atoms, aggregates, tuple(steps), tuple(filters), negations, frozenset(bound), tuple(left)
    )


def telling(aggregate: Aggregate, body: Arranged) -> frozenset[str]:
    """The variables that tell the solutions of an aggregate's body apart: all that it binds.

    What `_` stands for is among them, but not under a negation, where it is bound to nothing. With
    DISTINCT, it is the value in its group.
    """
    if aggregate.distinct:
        return frozenset({aggregate.argument.name, *(v.name for v in aggregate.group)})
    return body.bound


def _place(
    literal: Comparison | Binding, bound: set[str], steps: list[Binding], filters: list[Comparison]
) -> bool:
    """Place a literal as a test or as a binding, if what it needs is bound."""
    if isinstance(literal, Binding):
        if not _known(literal.expression, bound):
            return False
        if literal.variable.name in bound:
            filters.append(Comparison(literal.variable, "=", literal.expression, literal.span))
        else:
            steps.append(literal)
            bound.add(literal.variable.name)
        return True
    if _known(literal.left, bound) and _known(literal.right, bound):
        filters.append(literal)
        return True
    for target, value in ((literal.left, literal.right), (literal.right, literal.left)):
        if literal.operator == "=" and isinstance(target, Variable) and _known(value, bound):
            steps.append(Binding(value, target, literal.span))
            bound.add(target.name)
            return True
    return False


# --- deep expressions, and bindings that need each other ------------------------------------------

CUT_DEPTH = 24
"""A deeper expression is cut at this depth, and its inner part becomes a binding."""

DEEPEST = 250
"""A deeper expression is refused: Python allows 1,000 nested calls, and our callers need some."""

MOST_LEVELS = 40
"""The longest chain of bindings that each need the one before; parts of cut expressions count."""


def _shallow(literals: Iterable[Comparison | Binding]) -> list[Comparison | Binding]:
    """The literals with deep expressions cut, each after the bindings that it then needs."""
    result: list[Comparison | Binding] = []
    for literal in literals:
        if all(depth(expression) <= CUT_DEPTH for expression in expressions_of(literal)):
            pass
        elif isinstance(literal, Binding):
            literal = replace(literal, expression=_cut(literal.expression, result)[0])
        else:
            left, right = (_cut(side, result)[0] for side in (literal.left, literal.right))
            literal = replace(literal, left=left, right=right)
        result.append(literal)
    return result


def _cut(expression: Expression, made: list[Comparison | Binding]) -> tuple[Expression, int]:
    """The expression cut to CUT_DEPTH, and its depth. Bindings of what is cut out go to `made`."""
    if not isinstance(expression, Call):
        return expression, 0
    arguments, deepest = [], 0
    for argument in expression.arguments:
        shallow, below = _cut(argument, made)
        if below == CUT_DEPTH:
            hidden = Variable(f"_:cut{len(made)}", expression.span)
            made.append(Binding(shallow, hidden, expression.span))
            shallow, below = hidden, 0
        arguments.append(shallow)
        deepest = max(deepest, below)
    return replace(expression, arguments=tuple(arguments)), deepest + 1


def depth(expression: Expression) -> int:
    """How many calls stand one inside the other."""
    if not isinstance(expression, Call):
        return 0
    return 1 + max(map(depth, expression.arguments), default=0)


def levels(arranged: Arranged) -> list[list[Binding]]:
    """The bindings, in groups whose values can be computed side by side.

    A group ends as soon as a test can be made, so that later values are not computed for rows that
    the test excludes. Where that makes too many groups, a binding waits only for the bindings that
    it needs itself.
    """
    tests = [needed(test) for test in arranged.filters]
    tests += [needed(negation.atom) for negation in arranged.negations]
    guarded = _levels(arranged.steps, tests)
    return guarded if len(guarded) <= MOST_LEVELS else _levels(arranged.steps, [])


def _levels(steps: Sequence[Binding], tests: Sequence[set[str]]) -> list[list[Binding]]:
    later = {step.variable.name for step in steps}
    found = []
    while steps:
        waiting = [test & later for test in tests if not test.isdisjoint(later)]
        level, steps = _level(steps, waiting, later)
        later -= {step.variable.name for step in level}
        found.append(level)
    return found


def _level(
    steps: Sequence[Binding], waiting: Sequence[set[str]], later: set[str]
) -> tuple[list[Binding], list[Binding]]:
    """The steps that can be computed now, up to the first after which a test can be made."""
    level: list[Binding] = []
    left: list[Binding] = []
    bound: set[str] = set()
    for place, step in enumerate(steps):
        if any(variable.name in later for variable in variables(step.expression)):
            left.append(step)
            continue
        level.append(step)
        bound.add(step.variable.name)
        if any(step.variable.name in test and test <= bound for test in waiting):
            left += steps[place + 1 :]
            break
    return level, left


def needed(test: Comparison | Binding | Atom) -> set[str]:
    """The variables that a test or a binding needs."""
    terms = test.terms if isinstance(test, Atom) else expressions_of(test)
    return {variable.name for variable in variables(*terms)}


# --- what occurs in bodies ------------------------------------------------------------------------


def variables(*expressions: Expression) -> Iterator[Variable]:
    """Every variable in expressions, from left to right, as often as it occurs."""
    for expression in expressions:
        if isinstance(expression, Variable):
            yield expression
        elif isinstance(expression, Call):
            yield from variables(*expression.arguments)


def variables_needed(head: Atom, body: Arranged) -> Iterator[Variable]:
    """The variables that a head and all but the atoms of a body need, as often as they occur."""
    yield from variables(*head.terms)
    for step in body.steps:
        yield from variables(*expressions_of(step))
    for test in body.filters:
        yield from variables(*expressions_of(test))
    for negation in body.negations:
        yield from variables(*negation.atom.terms)


def expressions_of(literal: Comparison | Binding) -> tuple[Expression, ...]:
    """The expressions whose values a comparison or binding needs."""
    if isinstance(literal, Binding):
        return (literal.expression,)
    return (literal.left, literal.right)


def _known(expression: Expression, bound: set[str]) -> bool:
    return all(variable.name in bound for variable in variables(expression))


def variables_of(body: tuple[Literal, ...]) -> Iterator[Variable]:
    """Every variable in the atoms, comparisons and bindings of a body."""
    for atom in atoms_of(body):
        yield from variables(*atom.terms)
    for literal in body:
        if isinstance(literal, Comparison | Binding):
            yield from variables(*expressions_of(literal))
        if isinstance(literal, Binding):
            yield literal.variable


def symbols_in(rules: Iterable[Rule]) -> set[str]:
    """The text of every symbol that rules mention as a constant."""
    return {
        str(constant.value)
        for rule in rules
        for constant in (
            *_constants(rule.head.terms),
            *constants_of((*rule.assumed, *rule.body)),
        )
        if constant.type is Type.SYMBOL
    }


def constants_of(body: tuple[Literal, ...]) -> Iterator[Constant]:
    """Every constant in a body."""
    for literal in body:
        if isinstance(literal, Atom):
            yield from _constants(literal.terms)
        elif isinstance(literal, Negation):
            yield from _constants(literal.atom.terms)
        elif isinstance(literal, Aggregate):
            yield from constants_of(literal.body)
        else:
            yield from _constants(expressions_of(literal))


def _constants(expressions: Iterable[Expression]) -> Iterator[Constant]:
    for expression in expressions:
        if isinstance(expression, Constant):
            yield expression
        elif isinstance(expression, Call):
            yield from _constants(expression.arguments)


def used_functions(rules: Iterable[Rule]) -> set[str]:
    """Names of all functions and aggregates in rules."""
    return {name for rule in rules for name in functions_in(rule.body)}


def functions_in(body: tuple[Literal, ...]) -> Iterator[str]:
    """Names of the functions and aggregates in a body."""
    for literal in body:
        if isinstance(literal, Aggregate):
            yield literal.function
            yield from functions_in(literal.body)
        elif isinstance(literal, Comparison | Binding):
            yield from (call.function for call in calls(*expressions_of(literal)))


def calls(*expressions: Expression) -> Iterator[Call]:
    """Every call in expressions, the outer before the inner."""
    for expression in expressions:
        if isinstance(expression, Call):
            yield expression
            yield from calls(*expression.arguments)
