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
        types = []
        for column, settled, term in zip(
            predicate.columns, predicate.settled, fact.terms, strict=True
        ):
            given = term.type if isinstance(term, Constant) else Type.SYMBOL
            both = joined(settled, given)
            if predicate.declared and settled not in (None, both):
                assert settled is not None
                problems.append(_fact_clash(fact, column, settled, term))
            types.append(settled if predicate.declared and settled else both)
        columns = tuple(Column(c.name, t) for c, t in zip(predicate.columns, types, strict=True))
        result[fact.predicate] = replace(predicate, columns=columns, settled=tuple(types))
    return result, problems


def facts_with_moments(program: Program, schema: Mapping[str, Predicate]) -> Program:
    """A text in whose facts texts are dates or timestamps, and numbers decimals, where columns are
    known to hold these.

    A column is settled by a declaration, by facts, or in the text by the first fact.
    """
    settled: dict[str, list[Type | None]] = {}
    facts = []
    for fact in program.facts:
        known = schema.get(fact.predicate) or schema.get(stated_of(fact.predicate))
        if known is not None and known.arity == len(fact.terms):
            nothing = [column.meant for column in known.columns]
        else:
            nothing = [None] * len(fact.terms)
        types = settled.setdefault(fact.predicate, nothing)
        if len(types) == len(fact.terms) and not fact.names:
            fact = atom_with_decimals(atom_with_moments(fact, types), types)
            for place, term in enumerate(fact.terms):
                types[place] = types[place] or (term.type if isinstance(term, Constant) else None)
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
