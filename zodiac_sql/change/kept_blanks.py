"""The blank nodes that a rule set states facts of, when it is replaced: they keep their names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from zodiac_sql.database.dictionary import KNOWN
from zodiac_sql.database.statements import text
from zodiac_sql.database.store import Store
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Atom, Constant, Program, Type
from zodiac_sql.names import EXPLICIT_SCHEMA
from zodiac_sql.program.blank_nodes import names_from, of_blanks, renamed
from zodiac_sql.program.set_facts import own_predicate
from zodiac_sql.program.state import State
from zodiac_sql.sql.relations import Part, Relation
from zodiac_sql.storage.extensions import decoded, distinct_query


def with_kept_blanks(store: Store, state: State, program: Program, set_name: str) -> Program:
    """A text for a rule set in which blank nodes have the names of those that the set has."""
    facts = of_blanks(program.facts)
    about = {fact.predicate for fact in facts}
    before = [fact for name in sorted(about) for fact in _stated(store, state, name, set_name)]
    names = names_from(before, facts) if before else {}
    if not names:
        return program
    return replace(program, facts=tuple(renamed(fact, names) for fact in program.facts))


def _stated(store: Store, state: State, predicate: str, set_name: str) -> Iterator[Atom]:
    """The facts of a predicate with blank nodes that a set states."""
    known = state.schema.get(own_predicate(predicate, set_name))
    rows = known and state.rows.get((EXPLICIT_SCHEMA, known.sql_name))
    if known is None or not rows:
        return
    for row in _rows(store, known, rows):
        terms = (
            Constant(column.type or Type.SYMBOL, value)
            for column, value in zip(known.columns, row, strict=True)
        )
        yield Atom(predicate, tuple(terms))


def _rows(store: Store, known: Predicate, count: int) -> list[tuple[str, ...]]:
    relation = Relation(known.columns, (Part(EXPLICIT_SCHEMA, known.sql_name, count),))
    facts = decoded(relation, distinct_query(relation), KNOWN).subquery("f", copy=False)
    blank = [
        exp.StartsWith(this=exp.column(column.name, table="f", quoted=True), expression=text("_:"))
        for column in known.columns
        if column.type is Type.SYMBOL
    ]
    if not blank:
        return []
    return store.rows(exp.select(exp.Star()).from_(facts).where(exp.or_(*blank)))
