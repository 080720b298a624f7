"""The types that facts in texts of rules give to columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from zodiac_sql.errors import Problem
from zodiac_sql.language.datatypes import moment_hint
from zodiac_sql.language.decimals import atom_with_decimals, widest
from zodiac_sql.language.moment_constants import atom_with_moments
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Atom, Column, Constant, Program, Term, Type
from zodiac_sql.language.types import TYPE_CLASH, joined
from zodiac_sql.program.set_facts import stated_of


def settle_facts(
    schema: Mapping[str, Predicate], facts: Sequence[Atom]
) -> tuple[dict[str, Predicate], list[Problem]]:
    """A schema in which the facts of a text have settled types, and those that do not fit."""
    result = dict(schema)
    problems = []
    for fact in facts:
        predicate = result[fact.predicate]
        if predicate.awaits_facts:
            predicate = predicate.without_told()
        types = []
        for column, settled, term in zip(
            predicate.columns, predicate.settled, fact.terms, strict=True
        ):
            given = term.type if isinstance(term, Constant) else Type.SYMBOL
            both = joined_facts(settled, given)
            if predicate.declared and settled not in (None, both):
                assert settled is not None
                problems.append(_fact_clash(fact, column, settled, term))
            types.append(settled if predicate.declared and settled else both)
        columns = tuple(Column(c.name, t) for c, t in zip(predicate.columns, types, strict=True))
        result[fact.predicate] = replace(predicate, columns=columns, settled=tuple(types))
    return result, problems


def joined_facts(settled: Type | None, given: Type) -> Type:
    """The type of a column that gets a fact: a decimal and a float are terms of two datatypes."""
    both = joined(settled, given)
    assert both is not None
    return Type.ANY if {settled, given} == {Type.DECIMAL, Type.FLOAT} else both


def facts_with_moments(program: Program, schema: Mapping[str, Predicate]) -> Program:
    """A text in whose facts texts are dates or timestamps where columns are known to hold these,
    and numbers decimals where they are declared so.

    A column is known by a declaration, by facts, or in the text by the first fact.
    """
    types: dict[str, list[Type | None]] = {}
    facts = []
    for fact in program.facts:
        known = schema.get(fact.predicate) or schema.get(stated_of(fact.predicate))
        if known is None or known.arity != len(fact.terms) or known.awaits_facts:
            nothing: list[Type | None] = [None] * len(fact.terms)
        else:
            nothing = [column.meant for column in known.columns]
        found = types.setdefault(fact.predicate, nothing)
        if len(found) == len(fact.terms) and not fact.names:
            fact = atom_with_moments(fact, found)
            if known and known.declared:
                fact = atom_with_decimals(fact, found)
            for place, term in enumerate(fact.terms):
                found[place] = found[place] or (term.type if isinstance(term, Constant) else None)
        facts.append(fact)
    return replace(program, facts=tuple(facts)) if facts else program


def _fact_clash(fact: Atom, column: Column, settled: Type, term: Term) -> Problem:
    given = term.type if isinstance(term, Constant) else Type.SYMBOL
    name = fact.predicate
    return Problem(
        f"{TYPE_CLASH}: column {column.name} of {name} is {settled}, {fact} gives {given}",
        term.span,
        f".decl {name}(..., {column.name}: {widest((settled, given))}) before the first facts "
        "makes room for both."
        if settled.numeric and given.numeric
        else moment_hint(term, {settled}) or "One column has one type.",
    )
