"""Texts in rules, facts and goals that stand for dates and timestamps: `T > "2026-01-01T00:00:00"`.

Once the types of columns and variables say so, such a constant becomes a date or timestamp, in the
rule and in its text. So the text can be read again whatever becomes of the types.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from zodiac_sql.errors import Span
from zodiac_sql.language.datatypes import MOMENTS, as_moment
from zodiac_sql.language.functions import COMPARISONS, Functions, signature
from zodiac_sql.language.named_columns import with_pieces
from zodiac_sql.language.symbols import XSD
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
    Term,
    Type,
    Variable,
    atoms_of,
)
from zodiac_sql.language.types import body_types, expression_type

Columns = Mapping[str, Sequence[Type | None]]

_LOOKS_LIKE_ONE = re.compile(r'"[0-9]{4}-[0-9]{2}-[0-9]{2}')


def rule_with_moments(rule: Rule, columns: Columns, functions: Functions) -> Rule:
    """A rule in which texts are dates or timestamps, as far as types say so; the same if none is.

    One that was made of a template has the text of that, and stays as it is.
    """
    if rule.origin or not _LOOKS_LIKE_ONE.search(rule.text) or not _are_known(rule, columns):
        return rule
    head, body, pieces = _read(rule, columns, functions)
    text = _text(rule, columns, functions) if pieces else None
    if text is None:
        return rule
    prefixes = tuple(sorted({**dict(rule.prefixes), "xsd": XSD}.items()))
    return replace(rule, head=head, body=body, text=text, prefixes=prefixes)


def goals_with_moments(
    goals: tuple[Literal, ...], columns: Columns, functions: Functions
) -> tuple[Literal, ...]:
    """The same for the goals of a query."""
    return _Reading(columns, functions).body(goals)


def atom_with_moments(atom: Atom, types: Sequence[Type | None]) -> Atom:
    """The same for a fact, or a goal that is an atom."""
    return _Reading({atom.predicate: types}, {}).atom(atom)


def _are_known(rule: Rule, columns: Columns) -> bool:
    """Whether the columns of all atoms are known: else there are no types yet."""
    return all(
        atom.predicate in columns
        and len(columns[atom.predicate]) == len(atom.terms)
        and not atom.names
        for atom in (rule.head, *atoms_of(rule.body))
    )


def _read(
    rule: Rule, columns: Columns, functions: Functions
) -> tuple[Atom, tuple[Literal, ...], Sequence[tuple[Span, Constant]]]:
    """A rule's head and body with what is read in them, and where that stands."""
    reading = _Reading(columns, functions)
    body = reading.body(rule.body)
    return reading.atom(rule.head), body, reading.pieces


def _text(rule: Rule, columns: Columns, functions: Functions) -> str | None:
    """The text of a rule that says what is read in it; None if there is none.

    It is parsed once more, because it may be another one than the user's, in which columns had
    names, or there were alternatives.
    """
    from zodiac_sql.language.parse import parse_what_can_be  # late: most rules need no parser here

    prefixes = dict(rule.prefixes)
    program, problems = parse_what_can_be(rule.text, "<rule>", prefixes, plain=True)
    if problems or len(program.rules) != 1 or prefixes.get("xsd", XSD) != XSD:
        return None
    _, _, pieces = _read(program.rules[0], columns, functions)
    return with_pieces(program.rules[0], [(span, _written(one)) for span, one in pieces])


def _written(constant: Constant) -> str:
    assert isinstance(constant.value, datetime.date)
    kind = "date" if constant.type is Type.DATE else "dateTime"
    return f'"{constant.value.isoformat()}"^^xsd:{kind}'


@dataclass(slots=True)
class _Reading:
    """Reads the texts of one body, and notes the place of each that it changes."""

    columns: Columns
    functions: Functions
    types: Mapping[str, Type | None] = field(default_factory=dict)
    pieces: list[tuple[Span, Constant]] = field(default_factory=list)

    def body(self, body: tuple[Literal, ...]) -> tuple[Literal, ...]:
        self.types = body_types(body, self.columns, self.functions).types
        self.types = {**self.types, **self.compared_names(body)}
        return tuple(self.literal(literal) for literal in body)

    def compared_names(self, body: tuple[Literal, ...]) -> dict[str, Type | None]:
        """The types of variables that are names of texts, and are compared with moments."""
        tests = [literal for literal in body if isinstance(literal, Comparison)]
        pairs = [(test.left, test.right) for test in tests]
        pairs += [(right, left) for left, right in pairs]
        equal = [(test.left, test.right) for test in tests if test.operator == "="]
        equal += [(right, left) for left, right in equal]
        equal += [(one.variable, one.expression) for one in body if isinstance(one, Binding)]
        named = {name: as_moment(text, MOMENTS) for name, text in equal}
        return {
            name.name: moment.type
            for name, other in pairs
            if isinstance(name, Variable) and self.type_of(other) in MOMENTS
            if (moment := named.get(name)) and self.type_of(name) is Type.SYMBOL
        }

    def literal(self, literal: Literal) -> Literal:
        match literal:
            case Atom():
                return self.atom(literal)
            case Negation():
                return Negation(self.atom(literal.atom))
            case Comparison():
                sides = self.compared((literal.left, literal.right))
                return replace(literal, left=sides[0], right=sides[1])
            case Binding():
                _, value = self.compared((literal.variable, literal.expression))
                return replace(literal, expression=value)
            case Aggregate():
                inside = replace(self)  # its pieces are noted in the same list
                return replace(literal, body=inside.body(literal.body))

    def atom(self, atom: Atom) -> Atom:
        pairs = zip(atom.terms, self.columns[atom.predicate], strict=True)
        return replace(atom, terms=tuple(self.term(term, {type_}) for term, type_ in pairs))

    def term(self, term: Term, wanted: Collection[Type | None]) -> Term:
        found = as_moment(term, wanted)
        if found is None:
            return term
        if found.span is not None:
            self.pieces.append((found.span, found))
        return found

    def expression(self, expression: Expression) -> Expression:
        if not isinstance(expression, Call):
            return expression
        arguments = tuple(self.expression(argument) for argument in expression.arguments)
        builtin = signature(expression.function, False, self.functions)
        if builtin is None:
            return replace(expression, arguments=arguments)
        if expression.function in COMPARISONS:
            return replace(expression, arguments=self.compared(arguments))
        alike = len(arguments) if builtin.alike is None else builtin.alike
        types = {self.type_of(argument) for argument in arguments[alike:]}
        accepted = [builtin.parameter(place, len(arguments)) for place in range(alike)]
        wanted: list[Collection[Type | None]] = [
            () if Type.SYMBOL in one else one for one in accepted
        ]
        wanted += [types] * (len(arguments) - alike)
        return replace(
            expression,
            arguments=tuple(
                self.term(argument, moments) if isinstance(argument, Constant) else argument
                for argument, moments in zip(arguments, wanted, strict=True)
            ),
        )

    def compared(self, sides: tuple[Expression, ...]) -> tuple[Expression, ...]:
        """Two sides of a comparison: a text beside a date may be a timestamp, and the reverse."""
        first, second = (self.expression(side) for side in sides)
        if self.type_of(second) in MOMENTS and isinstance(first, Constant):
            return self.term(first, MOMENTS), second
        if self.type_of(first) in MOMENTS and isinstance(second, Constant):
            return first, self.term(second, MOMENTS)
        return first, second

    def type_of(self, expression: Expression) -> Type | None:
        return expression_type(expression, self.types, self.functions)
