"""The types of columns: declared, taken from facts, or inferred through the rules.

Inference goes up from bodies to heads until nothing changes. A column is open (None) until a fact
or a rule settles it. INT and FLOAT join to FLOAT, and all other types to ANY, unless a declaration
says what the column is: then a rule must fit it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from zodiac_sql.errors import Problem
from zodiac_sql.language.datatypes import MOMENTS, as_moment, moment_hint
from zodiac_sql.language.decimals import is_widened
from zodiac_sql.language.functions import Functions
from zodiac_sql.language.syntax import Rule, Type, atoms_of
from zodiac_sql.language.types import (
    NOT_SYMBOLS,
    TYPE_CLASH,
    body_types,
    described,
    expression_type,
    joined,
)

Columns = dict[str, list[Type | None]]
"""Types by predicate and column."""


@dataclass(frozen=True, slots=True)
class Inferred:
    """The types inferred before a change of some rules and facts, and what the change touches.

    `changed` are the predicates whose types may differ now: those that facts or declarations have
    settled since, and heads of rules that came or went. `new` are the names of rules that came.
    """

    columns: Mapping[str, Sequence[Type | None]] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()
    new: frozenset[str] = frozenset()


def infer(
    rules: Sequence[Rule],
    settled: Mapping[str, Sequence[Type | None]],
    functions: Functions,
    strict: Collection[str] = (),
    before: Inferred | None = None,
) -> tuple[Columns, list[Problem]]:
    """The type of every column of every predicate, and every clash.

    `settled` are the types that declarations and facts give, for all predicates of the rules. Rules
    widen them, but those of the predicates in `strict`. With `before`, only what the change can
    have touched is inferred again, and looked at for clashes.
    """
    before = before or Inferred(changed=frozenset(settled), new=frozenset(r.name for r in rules))
    open_ = _reached(rules, strict, before)
    columns: Columns = {
        name: list(types if name in open_ else before.columns.get(name, types))
        for name, types in settled.items()
    }
    concerned = [rule for rule in rules if rule.head.predicate in open_]
    if any(as_moment(term, MOMENTS) for rule in concerned for term in rule.head.terms):
        # They are moments if another rule says so, whichever of the two comes first.
        _grow(columns, concerned, strict, functions, moments=False)
    _grow(columns, concerned, strict, functions)
    doubtful = [rule for rule in rules if rule.name in before.new or _has_any(rule, open_)]
    problems = [problem for rule in doubtful for problem in clashes_of(rule, columns, functions)]
    return columns, problems


def _reached(rules: Sequence[Rule], strict: Collection[str], before: Inferred) -> set[str]:
    """The predicates whose types may have changed: types go up from bodies to heads."""
    if not before.changed:
        return set()
    above: dict[str, set[str]] = defaultdict(set)
    for rule in rules:
        if rule.head.predicate not in strict:
            for predicate in (*rule.positive(), *rule.negative()):
                above[predicate].add(rule.head.predicate)
    reached: set[str] = set()
    more = set(before.changed)
    while more:
        reached |= more
        more = {head for name in more for head in above.get(name, ())} - reached
    return reached


def _has_any(rule: Rule, predicates: set[str]) -> bool:
    """Whether some predicates are in a rule."""
    return (
        rule.head.predicate in predicates
        or not predicates.isdisjoint(rule.positive())
        or not predicates.isdisjoint(rule.negative())
    )


def _grow(
    columns: Columns,
    rules: Sequence[Rule],
    strict: Collection[str],
    functions: Functions,
    moments: bool = True,
) -> None:
    """Let rules give types to the columns of their heads until nothing changes.

    Without `moments`, texts in heads that may stand for moments give none. Rules run round by
    round, in their order; from the second round on, only those that read a predicate whose types
    have changed.
    """
    readers: dict[str, list[int]] = defaultdict(list)
    for place, rule in enumerate(rules):
        for predicate in {atom.predicate for atom in atoms_of(rule.body)}:
            readers[predicate].append(place)
    waiting = [(1, place) for place in range(len(rules))]  # sorted, so it is a heap
    known = set(waiting)
    while waiting:
        round_, place = heappop(waiting)
        if _grown(columns, rules[place], strict, functions, moments):
            for other in readers.get(rules[place].head.predicate, ()):
                turn = (round_ if other > place else round_ + 1, other)
                if turn not in known:
                    known.add(turn)
                    heappush(waiting, turn)


def _grown(
    columns: Columns,
    rule: Rule,
    strict: Collection[str],
    functions: Functions,
    moments: bool,
) -> bool:
    """Let a rule give types to the columns of its head. Return whether any type changed.

    A text that can be read as a moment does not widen a column of moments: it is read as one.
    """
    head, changed = rule.head.predicate, False
    if head in strict:
        return False
    for index, given in enumerate(_head_types(rule, columns, functions)):
        old = columns[head][index]
        if as_moment(rule.head.terms[index], (old,) if moments else MOMENTS):
            continue
        new = joined(old, given)
        if new != old:
            columns[head][index] = new
            changed = True
    return changed


def _head_types(rule: Rule, columns: Columns, functions: Functions) -> Iterator[Type | None]:
    types = body_types(rule.body, columns, functions).types
    for term in rule.head.terms:
        yield expression_type(term, types, functions)


def clashes_of(rule: Rule, columns: Columns, functions: Functions) -> Iterator[Problem]:
    """What is ill-typed in a rule, once the types of all columns are known."""
    scope = body_types(rule.body, columns, functions)
    yield from scope.problems
    for index, term in enumerate(rule.head.terms):
        given = expression_type(term, scope.types, functions)
        wanted = columns[rule.head.predicate][index]
        if given and wanted and given != wanted and not _fits(given, wanted):
            yield Problem(
                f"{TYPE_CLASH}: column {index + 1} of {rule.head.predicate} is {wanted}, but rule "
                f"{rule.name} gives it {described(term, given)}",
                term.span or rule.span,
                f"Declare it as {given} (or use alter, if it has facts), or let {rule.name} derive "
                "another predicate."
                if given.numeric and wanted.numeric
                else moment_hint(term, {wanted})
                or "One column has one type: let one of the two be another predicate.",
            )

    if rule.best and columns[rule.head.predicate][rule.best.place] is Type.SYMBOL:
        function = rule.best.function.upper()
        yield Problem(
            f"{TYPE_CLASH}: {function} in the head of {rule.name} takes numbers, dates and times, "
            f"{NOT_SYMBOLS}", rule.head.span,
            f"A rule of its own with AGGREGATE(..) WITH {function}(V) takes symbols, too. So does "
            f"{function} in a head whose column is declared as any.",
        )  # fmt: skip


def _fits(given: Type, wanted: Type) -> bool:
    """Whether values of a type can be in a column of another one."""
    return wanted is Type.ANY or is_widened(given, wanted)
