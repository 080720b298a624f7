"""Which literals the native values of columns are: the oracle's own reading.

A property of RDF whose literals have one datatype, and one time zone, has a native column that
knows both. What a rule passes on of it is the same literal: in a column of terms, and in a native
one, unless others come there, too. A mark is the datatype's local name, with the zone if there is
one: `float`, `dateTime`, `dateTimeZ`, `dateTimeStamp+01:00`. None stands for the datatype of the
type.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from generators.programs import Aggregate, Atom, Bind, Compare, Literal, Rule, Var
from support.mixed_terms import XSD, MixedValue, Term, Written, term_of
from support.mixed_types import Types, best_of, value_type, variable_types
from support.naive_values import Call

Source = Any
"""Where a value comes from: a column, by predicate and place, or a constant."""

Marks = Mapping[tuple[str, int], str | None]
"""What is known of columns, by predicate and place."""

_ZONED = re.compile(r"(dateTime|dateTimeStamp)(Z|[+-]\d\d:\d\d)")


def literal_of(value: MixedValue, mark: str | None) -> Term:
    """The term that a value of a native column with a mark is."""
    term = term_of(value)
    if mark is None or isinstance(value, Term | str):
        return term
    zoned = _ZONED.fullmatch(mark)
    if zoned is None:
        form = term.text[1 : term.text.rindex('"')]
        return Term(f'"{form}"^^<{XSD}{mark}>')
    datatype, zone = zoned.groups()
    assert isinstance(value, datetime.datetime)
    form = term_of(value + _offset(zone)).text
    form = form[1 : form.rindex('"')]
    return Term(f'"{form}{zone}"^^<{XSD}{datatype}>')


def _offset(zone: str) -> datetime.timedelta:
    if zone == "Z":
        return datetime.timedelta()
    found = datetime.timedelta(hours=int(zone[1:3]), minutes=int(zone[4:]))
    return -found if zone[0] == "-" else found


def marks_of(rules: Sequence[Rule], types: Types, settled: Types, stated: Marks) -> Marks:
    """The marks of all native columns. Facts and declarations say them (`stated`), else rules."""
    own = {
        (name, place): stated.get((name, place))
        for name, columns in settled.items()
        for place, type_ in enumerate(columns)
        if type_ is not None
    }
    found: dict[tuple[str, int], str | None] = dict(own)
    while True:
        given: dict[tuple[str, int], set[str | None]] = {}
        for rule in rules:
            if rule.never:
                continue
            variables = variable_types(rule.body, types)
            for place, term in enumerate(rule.head.terms):
                column = rule.head.predicate, place
                type_ = types[column[0]][place]
                if column in own or type_ in (None, "any", "symbol"):
                    continue
                passed = _passed_on(rule, term, variables, types, type_)
                if passed is None:
                    given.setdefault(column, set()).add(None)
                elif known := {_mark(one, found) for one in passed if _is_known(one, found)}:
                    given.setdefault(column, set()).add(_common(known))
        after = {**own, **{column: _common(marks) for column, marks in given.items()}}
        if after == found:
            return found
        found = after


def mark_made(
    rule: Rule, term: object, variables: Mapping[Var, str | None], types: Types, marks: Marks
) -> str | None:
    """The mark of the literals that a rule makes of a term of its head in a column of terms."""
    value = term.arguments[0] if best_of(term) else term  # type: ignore[attr-defined]
    if isinstance(value, Call):
        return None
    type_ = variables.get(value) if isinstance(value, Var) else value_type(value)
    passed = _passed_on(rule, term, variables, types, type_)
    return _common({_mark(one, marks) for one in passed}) if passed else None


def _mark(source: Source, marks: Marks) -> str | None:
    if not isinstance(source, tuple):
        return source.mark if isinstance(source, Written) else None
    return marks.get(source)


def _is_known(source: Source, marks: Marks) -> bool:
    return not isinstance(source, tuple) or source in marks


def _passed_on(
    rule: Rule,
    term: object,
    variables: Mapping[Var, str | None],
    types: Types,
    type_: str | None,
) -> list[Source] | None:
    """The columns of a type, or constants, from which a rule has what it puts into a head; None if
    it has not.
    """
    if best_of(term):
        term = term.arguments[0]  # type: ignore[attr-defined]
    if isinstance(term, Var) and variables.get(term) != type_:
        return None
    found = [one for one in _columns(rule.body, term) if _type(one, types) == type_]
    return found or None


def _type(source: Source, types: Types) -> str | None:
    if not isinstance(source, tuple):
        return value_type(source)
    name, place = source
    return types[name][place]


def _columns(body: Sequence[Literal], variable: Any) -> Iterator[Source]:
    """The columns in which a variable stands, or else what it is said to be; a constant itself."""
    if isinstance(variable, Call):
        return
    if not isinstance(variable, Var):
        yield variable
        return
    for literal in body:
        if isinstance(literal, Atom):
            yield from (
                (literal.predicate, p) for p, t in enumerate(literal.terms) if t == variable
            )
        elif isinstance(literal, Aggregate):
            if variable in literal.group:
                yield from _columns(literal.body, variable)
            if variable == literal.result and literal.function in ("MIN", "MAX"):
                yield from _columns(literal.body, literal.argument)
        elif isinstance(literal, Bind) and literal.variable == variable:
            yield from _columns([x for x in body if x is not literal], literal.expression)
    if not _stands_in_atoms(body, variable):
        for literal in body:
            if isinstance(literal, Compare) and literal.operator == "=":
                sides = literal.left, literal.right
                if variable in sides and sides[0] != sides[1]:
                    (other,) = (x for x in sides if x != variable)
                    yield from _columns([x for x in body if x is not literal], other)


def _stands_in_atoms(body: Sequence[Literal], variable: Var) -> bool:
    return any(isinstance(x, Atom) and variable in x.terms for x in body)


def _common(marks: Collection[str | None]) -> str | None:
    """The mark of values that have several: of zones, UTC."""
    if len(marks) == 1:
        return next(iter(marks))
    zoned = [_ZONED.fullmatch(mark or "") for mark in marks]
    datatypes = {one[1] for one in zoned if one}
    return f"{datatypes.pop()}Z" if all(zoned) and len(datatypes) == 1 else None
