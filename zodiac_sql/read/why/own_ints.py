"""Gives numbers that meet wider ones variables of their own, so that each keeps its value.

If an atom over ints shares a variable with one over floats, the variable is a float, and several
ints beyond 2^53, or several decimals, are equal to the same float. An explanation must name the one that is stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from zodiac_sql.language.decimals import is_widened
from zodiac_sql.language.functions import Functions
from zodiac_sql.language.syntax import Atom, Comparison, Constant, Literal, Term, Type, Variable
from zodiac_sql.language.types import body_types

Types = Mapping[str, Sequence[Type | None]]
"""The types of the columns of all predicates."""


def with_own_ints(
    body: Sequence[Literal], columns: Types, functions: Functions
) -> tuple[Literal, ...]:
    """A body with the same solutions, in which numbers of positive atoms are not widened."""
    types = body_types(tuple(body), columns, functions).types
    found: list[Literal] = []
    ties: list[Literal] = []
    for literal in body:
        if isinstance(literal, Atom):
            terms = list(literal.terms)
            for place, (term, type_) in enumerate(
                zip(terms, columns[literal.predicate], strict=True)
            ):
                if is_widened(type_, _type(term, types)):
                    own = Variable(f"_:zodiac:int{len(ties)}")
                    ties.append(Comparison(own, "=", term))
                    terms[place] = own
            literal = replace(literal, terms=tuple(terms))
        found.append(literal)
    return (*found, *ties)


def _type(term: Term, types: Mapping[str, Type | None]) -> Type | None:
    return term.type if isinstance(term, Constant) else types.get(term.name)
