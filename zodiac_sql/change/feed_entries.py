"""What a change writes to the change feed: what entered and left the extensions that are in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from sqlglot import exp

from zodiac_sql.change.difference import Difference
from zodiac_sql.change.staged_rows import parameters_of, shape, staged_facts, values_of
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.language.schema import Predicate, Staged
from zodiac_sql.program.state import State
from zodiac_sql.sql.relations import Relation, columns_of
from zodiac_sql.storage.extensions import distinct_query
from zodiac_sql.storage.feed import MovedFacts


def moved_of(state: State, differences: Mapping[str, Difference]) -> list[MovedFacts]:
    """What left and entered extensions, of those that are in the feed in a state."""
    if not state.feed.since:
        return []
    found: list[MovedFacts] = []
    for name, difference in differences.items():
        if state.feed.has(name):
            if difference.deleted_count:
                found.append(_of_relation(name, difference.deleted, inserted=False))
            if difference.inserted_count:
                found.append(_of_relation(name, difference.inserted, inserted=True))
    return found


def _of_relation(predicate: str, facts: Relation, inserted: bool) -> MovedFacts:
    return MovedFacts(
        predicate, facts.columns, inserted, relation_key(facts), partial(_selected, facts)
    )


def _selected(facts: Relation) -> exp.Select:
    """The facts of a relation, each once."""
    inner = distinct_query(facts).subquery("x", copy=False)
    return exp.select(*columns_of(facts, "x"), copy=False).from_(inner, copy=False)


def given_move(
    known: Predicate, rows: Sequence[tuple[object, ...]], inserted: bool, table: str
) -> MovedFacts:
    """The same for facts in memory, whose parameters are named after a table."""
    staged = staged_facts(known, rows, table)
    return MovedFacts(
        known.name,
        known.columns,
        inserted,
        shape(known, [staged]),
        partial(_given, known, staged),
        parameters_of([staged]) or {},
    )


def _given(known: Predicate, staged: Staged) -> exp.Select:
    """Facts that are given as parameters: no table to read from makes it a cheap statement."""
    return exp.select(*values_of(known, staged), copy=False)
