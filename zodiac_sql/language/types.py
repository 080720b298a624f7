"""Types of the variables and expressions of a body, once those of the columns are known.

Numbers meet as the widest (INT, DECIMAL, FLOAT). A variable that stands in a column of terms of all
kinds, and in a native one, is of the native type: other terms of the first are not in the second.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from zodiac_sql.errors import Problem, Span
from zodiac_sql.language.binding import arrange
from zodiac_sql.language.datatypes import moment_hint
from zodiac_sql.language.decimals import is_widened, widest, widest_number
from zodiac_sql.language.functions import COMPARISONS, Builtin, Functions, result_type, signature
from zodiac_sql.language.syntax import (
    Aggregate,
    Atom,
    Call,
    Comparison,
    Constant,
    Expression,
    Literal,
    Term,
    Type,
    Variable,
)

TYPE_CLASH, NOT_SYMBOLS = "type clash", "not symbols"
"""How problems of types begin, and how one ends that other facts cannot mend."""


@dataclass(frozen=True, slots=True)
class TypeScope:
    """The types that a body's variables have, and what is wrong with them."""

    types: Mapping[str, Type | None]
    problems: tuple[Problem, ...]


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


def joined(first: Type | None, second: Type | None) -> Type | None:
    """The least type that holds the values of both."""
    if first is None or second is None or first is second:
        return first or second
    return widest((first, second)) if first.numeric and second.numeric else Type.ANY


def _met(first: Type | None, second: Type | None) -> Type | None:
    """The type of a variable that stands in two places; the first where the two clash."""
    if first is None or first is Type.ANY:
        return second or first
    return widest_number({first, second}) or first


def widens(
    terms: Iterable[Term], columns: Iterable[Type | None], types: Mapping[str, Type | None]
) -> bool:
    """Whether a column meets a term of another type, so that two of its values may be the same.

    Ints and decimals become floats; terms of a column of all kinds are read as native values.
    """
    return any(
        (given is Type.FLOAT and is_widened(column, given)) or is_narrowed(column, given)
        for column, given in _pairs(terms, columns, types)
    )


def is_narrowed(column: Type | None, wanted: Type | None) -> bool:
    """Whether terms of a column of all kinds are read as native values."""
    return column is Type.ANY and wanted not in (None, Type.ANY, Type.SYMBOL)


def mixes(
    body: tuple[Literal, ...], columns: Mapping[str, Sequence[Type | None]], functions: Functions
) -> bool:
    """Whether a variable of the whole body would have another type in a part of it."""
    types = body_types(body, columns, functions).types
    arranged = arrange(body)
    return any(
        is_widened(column, given) or is_narrowed(column, given)
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


def described(expression: Expression, type_: Type) -> str:
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
        for step in arranged.steps:
            self.meet(step.variable, self.expression(step.expression), f"{step.expression}")
        for negation in arranged.negations:
            self.atom(negation.atom, binds=False)
        for comparison in arranged.filters:
            self.comparison(comparison)

    def atom(self, atom: Atom, binds: bool = True) -> None:
        for index, term in enumerate(atom.terms):
            where = f"column {index + 1} of {atom}"
            self.meet(term, self.columns[atom.predicate][index], where, binds)

    def meet(self, term: Term, type_: Type | None, where: str, binds: bool = True) -> None:
        """Give a term the type of the place where it stands; the two must fit.

        A place that does not bind a variable is no reason why its terms should be of one kind.
        """
        if isinstance(term, Constant):
            if type_ and not _comparable(term.type, type_):
                hint = moment_hint(term, {type_})
                self.clash(f"{where} is {type_}, {term} is {term.type}", term.span, hint)
            return
        known = self.types.get(term.name)
        if known and type_ and not _comparable(known, type_):
            self.clash(f"{term} is {known} elsewhere, but {where} is {type_}", term.span)
            return
        if binds or known is not Type.ANY:
            self.types[term.name] = _met(known, type_)

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
                f"{described(first, type_)} cannot be compared with "
                f"{described(second, other)}", span,
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
            if type_ and type_ is not Type.ANY and type_ not in accepted:
                wanted = " or ".join(sorted(accepted))
                self.clash(
                    f"{call.function} takes {wanted}, not {described(argument, type_)}",
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
        if argument and argument is not Type.ANY and argument not in builtin.parameter(0, 1):
            wanted = " or ".join(sorted(builtin.parameter(0, 1)))
            self.clash(
                f"{aggregate.function} takes {wanted}, not {aggregate.argument} of type {argument}",
                aggregate.argument.span,
            )
        value, other = result_type(builtin, [argument]), aggregate.otherwise
        else_type = None if other is None else other.type
        # Before what is aggregated has a type, there is none of it, and ELSE gives the value.
        self.meet(aggregate.result, value or else_type, "the value of the AGGREGATE")
        fits = value is Type.ANY or (other and value in (None, other.type))
        if value and other and not fits and not is_widened(other.type, value):
            told = f"the AGGREGATE gives {value}, but ELSE gives {described(other, other.type)}"
            self.clash(told, other.span)

    def clash(self, message: str, span: Span | None, hint: str = "") -> None:
        hint = hint or "One variable or column has one type."
        self.problems.append(Problem(f"{TYPE_CLASH}: {message}", span, hint))


def _comparable(first: Type, second: Type) -> bool:
    if Type.ANY in (first, second):
        return True
    return first == second or (first.numeric and second.numeric)
