"""Types of columns and variables: declared, taken from facts, or inferred through the rules.

Inference goes up from bodies to heads until nothing changes. A column is open (None) until a fact
or a rule settles it, numbers join to the widest (INT, DECIMAL, FLOAT), and all else is a clash.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from zodiac_sql.errors import Problem, Span
from zodiac_sql.language.binding import arrange
from zodiac_sql.language.datatypes import MOMENTS, as_moment, moment_hint
from zodiac_sql.language.decimals import is_widened, widest
from zodiac_sql.language.functions import COMPARISONS, Builtin, Functions, result_type, signature
from zodiac_sql.language.syntax import (
    Aggregate,
    Atom,
    Call,
    Comparison,
    Constant,
    Expression,
    Literal,
    Rule,
    Term,
    Type,
    Variable,
    atoms_of,
)

TYPE_CLASH, NOT_SYMBOLS = "type clash", "not symbols"
"""How problems of types begin, and how one ends that other facts cannot mend."""

Columns = dict[str, list[Type | None]]
"""Types by predicate and column."""


@dataclass(frozen=True, slots=True)
class TypeScope:
    """The types that a body's variables have, and what is wrong with them."""

    types: Mapping[str, Type | None]
    problems: tuple[Problem, ...]


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
    before: Inferred | None = None,
) -> tuple[Columns, list[Problem]]:
    """The type of every column of every predicate, and every clash.

    `settled` are the types that declarations and facts fix, for all predicates of the rules. With
    `before`, only what the change can have touched is inferred again, and looked at for clashes.
    """
    before = before or Inferred(changed=frozenset(settled), new=frozenset(r.name for r in rules))
    open_ = _reached(rules, settled, before)
    columns: Columns = {
        name: list(types if name in open_ else before.columns.get(name, types))
        for name, types in settled.items()
    }
    concerned = [rule for rule in rules if rule.head.predicate in open_]
    if any(as_moment(term, MOMENTS) for rule in concerned for term in rule.head.terms):
        # They are moments if another rule says so, whichever of the two comes first.
        _grow(columns, concerned, settled, functions, moments=False)
    _grow(columns, concerned, settled, functions)
    doubtful = [rule for rule in rules if rule.name in before.new or _has_any(rule, open_)]
    problems = [problem for rule in doubtful for problem in _clashes(rule, columns, functions)]
    return columns, problems


def _reached(
    rules: Sequence[Rule], settled: Mapping[str, Sequence[Type | None]], before: Inferred
) -> set[str]:
    """The predicates whose types may have changed: types go up from bodies to heads."""
    if not before.changed:
        return set()
    above: dict[str, set[str]] = defaultdict(set)
    for rule in rules:
        if None in settled[rule.head.predicate]:
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
    settled: Mapping[str, Sequence[Type | None]],
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
        if _grown(columns, rules[place], settled, functions, moments):
            for other in readers.get(rules[place].head.predicate, ()):
                turn = (round_ if other > place else round_ + 1, other)
                if turn not in known:
                    known.add(turn)
                    heappush(waiting, turn)


def _grown(
    columns: Columns,
    rule: Rule,
    settled: Mapping[str, Sequence[Type | None]],
    functions: Functions,
    moments: bool,
) -> bool:
    """Let a rule give types to the columns of its head. Return whether any type changed."""
    head, changed = rule.head.predicate, False
    for index, given in enumerate(_head_types(rule, columns, functions)):
        if not moments and as_moment(rule.head.terms[index], MOMENTS):
            continue
        old = columns[head][index]
        new = _joined(old, given)
        if settled[head][index] is None and new != old:
            columns[head][index] = new
            changed = True
    return changed


def body_types(
    body: tuple[Literal, ...], columns: Mapping[str, Sequence[Type | None]], functions: Functions
) -> TypeScope:
    """The types of a body's variables: of numbers the widest that a variable has anywhere."""
    typing = _Typing(columns, functions)
    typing.body(body)
    return TypeScope(typing.types, tuple(typing.problems))


def expression_type(
    expression: Expression, types: Mapping[str, Type | None], functions: Functions
) -> Type | None:
    """The type of an expression's value; None while it is open."""
    if isinstance(expression, Constant):
        return expression.type
    if isinstance(expression, Variable):
        return types.get(expression.name)
    builtin = signature(expression.function, False, functions)
    if builtin is None:
        return None
    return result_type(
        builtin, [expression_type(a, types, functions) for a in expression.arguments]
    )


def _joined(first: Type | None, second: Type | None) -> Type | None:
    """The least type that holds both; the first where there is none (a clash, reported later)."""
    if first is None or second is None:
        return first or second
    return widest((first, second)) if _mixed_numbers(first, second) else first


def _mixed_numbers(first: Type, second: Type) -> bool:
    return first != second and first.numeric and second.numeric


def widens(
    terms: Iterable[Term], columns: Iterable[Type | None], types: Mapping[str, Type | None]
) -> bool:
    """Whether ints or decimals meet a term of type float: two may then become the same float."""
    return any(
        given is Type.FLOAT and is_widened(column, given)
        for column, given in _pairs(terms, columns, types)
    )


def mixes(
    body: tuple[Literal, ...], columns: Mapping[str, Sequence[Type | None]], functions: Functions
) -> bool:
    """Whether a variable would have a narrower type of numbers in a part of the body."""
    types = body_types(body, columns, functions).types
    arranged = arrange(body)
    return any(
        is_widened(column, given)
        for a in arranged.atoms
        for column, given in _pairs(a.terms, columns[a.predicate], types)
    ) or any(
        is_widened(
            expression_type(step.expression, types, functions), types.get(step.variable.name)
        )
        for step in arranged.steps
    )


def _pairs(
    terms: Iterable[Term], columns: Iterable[Type | None], types: Mapping[str, Type | None]
) -> Iterator[tuple[Type | None, Type | None]]:
    """The types of columns, and those of the terms that stand there."""
    for term, column in zip(terms, columns, strict=True):
        yield column, types.get(term.name) if isinstance(term, Variable) else term.type


def _head_types(rule: Rule, columns: Columns, functions: Functions) -> Iterator[Type | None]:
    types = body_types(rule.body, columns, functions).types
    for term in rule.head.terms:
        yield expression_type(term, types, functions)


def _clashes(rule: Rule, columns: Columns, functions: Functions) -> Iterator[Problem]:
    """What is ill-typed in a rule, once the types of all columns are known."""
    scope = body_types(rule.body, columns, functions)
    yield from scope.problems
    for index, term in enumerate(rule.head.terms):
        given = expression_type(term, scope.types, functions)
        wanted = columns[rule.head.predicate][index]
        if given and wanted and given != wanted and not is_widened(given, wanted):
            yield Problem(
                f"{TYPE_CLASH}: column {index + 1} of {rule.head.predicate} is {wanted}, but rule "
                f"{rule.name} gives it {_described(term, given)}",
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
            f"A rule of its own with AGGREGATE(..) WITH {function}(V) takes symbols, too.",
        )  # fmt: skip


def _described(expression: Expression, type_: Type) -> str:
    return f"{expression} of type {type_}"


@dataclass(slots=True)
class _Typing:
    """Collects the types of one body's variables, literal by literal."""

    columns: Mapping[str, Sequence[Type | None]]
    functions: Functions
    types: dict[str, Type | None] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def body(self, body: tuple[Literal, ...]) -> None:
        arranged = arrange(body)
        for atom in arranged.atoms:
            self.atom(atom)
        for aggregate in arranged.aggregates:
            self.aggregate(aggregate)
        for negation in arranged.negations:
            self.atom(negation.atom)
        for step in arranged.steps:
            self.meet(step.variable, self.expression(step.expression), f"{step.expression}")
        for comparison in arranged.filters:
            self.comparison(comparison)

    def atom(self, atom: Atom) -> None:
        for index, term in enumerate(atom.terms):
            self.meet(term, self.columns[atom.predicate][index], f"column {index + 1} of {atom}")

    def meet(self, term: Term, type_: Type | None, where: str) -> None:
        """Give a term the type of the place where it stands; the two must fit."""
        if isinstance(term, Constant):
            if type_ and not _comparable(term.type, type_):
                hint = moment_hint(term, {type_})
                self.clash(f"{where} is {type_}, {term} is {term.type}", term.span, hint)
            return
        known = self.types.get(term.name)
        if known and type_ and not _comparable(known, type_):
            self.clash(f"{term} is {known} elsewhere, but {where} is {type_}", term.span)
            return
        self.types[term.name] = _joined(known, type_)

    def comparison(self, comparison: Comparison) -> None:
        left, right = self.expression(comparison.left), self.expression(comparison.right)
        self.alike(comparison.left, left, comparison.right, right, comparison.span)

    def alike(
        self,
        first: Expression,
        type_: Type | None,
        second: Expression,
        other: Type | None,
        span: Span | None,
        moments: bool = True,
    ) -> None:
        """Two values must be of types that compare. With `moments`, dates and times do."""
        if moments and {type_, other} == {Type.DATE, Type.TIMESTAMP}:
            return
        if type_ and other and not _comparable(type_, other):
            self.clash(
                f"{_described(first, type_)} cannot be compared with "
                f"{_described(second, other)}", span,
                moment_hint(first, {other}) or moment_hint(second, {type_}),
            )  # fmt: skip

    def expression(self, expression: Expression) -> Type | None:
        if not isinstance(expression, Call):
            return expression_type(expression, self.types, self.functions)
        arguments = [self.expression(argument) for argument in expression.arguments]
        builtin = signature(expression.function, False, self.functions)
        if builtin is None:
            return None
        if builtin.accepts(len(arguments)):
            self.arguments(expression, arguments, builtin)
        return result_type(builtin, arguments)

    def arguments(self, call: Call, types: Sequence[Type | None], builtin: Builtin) -> None:
        for index, (argument, type_) in enumerate(zip(call.arguments, types, strict=True)):
            accepted = builtin.parameter(index, len(types))
            if type_ and type_ not in accepted:
                wanted = " or ".join(sorted(accepted))
                self.clash(
                    f"{call.function} takes {wanted}, not {_described(argument, type_)}",
                    argument.span or call.span,
                    moment_hint(argument, accepted),
                )
        if builtin.alike is not None:
            compares, first = call.function in COMPARISONS, builtin.alike
            for argument, type_ in zip(
                call.arguments[first + 1 :], types[first + 1 :], strict=True
            ):
                pair = call.arguments[first], types[first], argument, type_
                self.alike(*pair, call.span, compares)

    def aggregate(self, aggregate: Aggregate) -> None:
        inside = _Typing(self.columns, self.functions)
        inside.body(aggregate.body)
        self.problems += inside.problems
        for variable in aggregate.group:
            self.meet(variable, inside.types.get(variable.name), "the group of the AGGREGATE")
        builtin = signature(aggregate.function, True, self.functions)
        argument = inside.types.get(aggregate.argument.name)
        if builtin is None:
            return
        if argument and argument not in builtin.parameter(0, 1):
            wanted = " or ".join(sorted(builtin.parameter(0, 1)))
            self.clash(
                f"{aggregate.function} takes {wanted}, not {aggregate.argument} of type {argument}",
                aggregate.argument.span,
            )
        value, other = result_type(builtin, [argument]), aggregate.otherwise
        else_type = None if other is None else other.type
        # Before what is aggregated has a type, there is none of it, and ELSE gives the value.
        self.meet(aggregate.result, value or else_type, "the value of the AGGREGATE")
        if value and other and value is not other.type and not is_widened(other.type, value):
            told = f"the AGGREGATE gives {value}, but ELSE gives {_described(other, other.type)}"
            self.clash(told, other.span)

    def clash(self, message: str, span: Span | None, hint: str = "") -> None:
        hint = hint or "One variable or column has one type."
        self.problems.append(Problem(f"{TYPE_CLASH}: {message}", span, hint))


def _comparable(first: Type, second: Type) -> bool:
    return first == second or (first.numeric and second.numeric)
