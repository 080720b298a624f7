"""The RDF datatypes of native values that a rule passes on, as entries of Predicate.datatypes.

A rule that copies a native value, as one for a subproperty does, makes the same literal of it. What
it computes is the literal that the value's type has by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from zodiac_sql.language.datatypes import datatype_of_constant
from zodiac_sql.language.functions import Functions
from zodiac_sql.language.syntax import (
    Aggregate,
    Atom,
    Binding,
    Comparison,
    Constant,
    Expression,
    Literal,
    Rule,
    Term,
    Type,
    Variable,
)
from zodiac_sql.language.types import body_types
from zodiac_sql.language.zones import common_zone, in_zone, without_zone, zone_of

Datatypes = Mapping[str, Sequence[str | None]]
"""The entries of columns by predicates, without those whose literals are those of their types."""

Types = Mapping[str, Sequence[Type | None]]


Source = tuple[str, int] | Constant
"""Where a value comes from: a column, as predicate and place, or a constant."""


def sources_of_term(body: Sequence[Literal], term: Expression) -> Iterator[Source]:
    """From where a rule has the values of a term that it does not compute."""
    if isinstance(term, Constant):
        yield term
    if not isinstance(term, Variable):
        return
    found = tuple(_read_from(body, term))
    yield from found
    for rest, literal in () if found else _each(body):
        match literal:
            case Comparison(left=one, operator="=", right=other) if term in (one, other):
                yield from sources_of_term(rest, other if term == one else one)


def _read_from(body: Sequence[Literal], term: Variable) -> Iterator[Source]:
    for rest, literal in _each(body):
        match literal:
            case Atom():
                for place, other in enumerate(literal.terms):
                    if other == term:
                        yield literal.predicate, place
            case Binding(variable=variable, expression=other) if variable == term:
                yield from sources_of_term(rest, other)
            case Aggregate():
                if term in literal.group:
                    yield from sources_of_term(literal.body, term)
                elif term == literal.result and literal.function in ("min", "max"):
                    yield from sources_of_term(literal.body, literal.argument)


def _each(body: Sequence[Literal]) -> Iterator[tuple[Sequence[Literal], Literal]]:
    """Each literal, after all others."""
    return (((*body[:place], *body[place + 1 :]), one) for place, one in enumerate(body))


def common_datatype(entries: Collection[str | None]) -> str | None:
    """The entry of a column with values of these."""
    if len(entries) == 1:
        return next(iter(entries))
    zones = [zone_of(entry) for entry in entries]
    plain = {without_zone(entry) for entry in entries if entry}
    if len(plain) > 1 or not all(zones):
        return None
    zone = common_zone([zone for zone in zones if zone])
    return in_zone(plain.pop(), zone) if zone else None


def datatype_passed_on(
    body: Sequence[Literal], term: Term, type_: Type | None, columns: Types, datatypes: Datatypes
) -> str | None:
    """The entry of the literals that a rule makes of a term of a native type."""
    found = set()
    for source in sources_of_term(body, term):
        if isinstance(source, Constant):
            found |= {datatype_of_constant(source)} if source.type is type_ else set()
        elif columns[source[0]][source[1]] is type_:
            found.add(datatypes[source[0]][source[1]] if source[0] in datatypes else None)
    return common_datatype(found) if found else None


def literals_made(
    rule: Rule, columns: Types, datatypes: Datatypes, functions: Functions
) -> tuple[str | None, ...]:
    """The entries of the literals that a rule makes in columns of terms."""
    head = columns.get(rule.head.predicate, ())
    if Type.ANY not in head:
        return ()
    types = body_types(rule.body, columns, functions).types

    def made(term: Term) -> str | None:
        type_ = term.type if isinstance(term, Constant) else types.get(term.name)
        return datatype_passed_on(rule.body, term, type_, columns, datatypes)

    pairs = zip(head, rule.head.terms, strict=True)
    return tuple(made(term) if column is Type.ANY else None for column, term in pairs)
