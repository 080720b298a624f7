"""Gives values that are read otherwise variables of their own, so that each keeps what it is.

If an atom over ints shares a variable with one over floats, the variable is a float, and several
ints beyond 2^53, or several decimals, are equal to the same float. So are several terms of a column
of all kinds to one native value. An explanation must name the one that is stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from zodiac_sql.language.decimals import is_widened
from zodiac_sql.language.functions import Functions
from zodiac_sql.language.syntax import (
    SAME,
    Atom,
    Comparison,
    Literal,
    Type,
    Variable,
)
from zodiac_sql.language.types import body_types, is_narrowed

Types = Mapping[str, Sequence[Type | None]]
"""The types of the columns of all predicates."""


def with_own_ints(
    body: Sequence[Literal], columns: Types, functions: Functions
) -> tuple[Literal, ...]:
    """A body with the same solutions, in which no value of a positive atom is read otherwise."""
    types = body_types(tuple(body), columns, functions).types
    found: list[Literal] = []
    ties: list[Literal] = []
    for literal in body:
        if isinstance(literal, Atom):
            terms = list(literal.terms)
            for place, (term, type_) in enumerate(
                zip(terms, columns[literal.predicate], strict=True)
            ):
                wanted = types.get(term.name) if isinstance(term, Variable) else term.type
                narrowed = is_narrowed(type_, wanted)
                if narrowed or is_widened(type_, wanted):
                    own = Variable(f"_:zodiac:int{len(ties)}")
                    ties.append(Comparison(own, SAME if narrowed else "=", term))
                    terms[place] = own
            literal = replace(literal, terms=tuple(terms))
        found.append(literal)
    return (*found, *ties)
