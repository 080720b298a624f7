"""Staged facts whose columns have become columns of terms of all kinds since they were staged.

A later verb of the update has made the column wider, or a rule does.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from zodiac_sql.change.alter import have_same_tables
from zodiac_sql.change.collected import Collected
from zodiac_sql.change.staged_rows import parameters_of, staged_query
from zodiac_sql.database import dictionary
from zodiac_sql.database.statements import create_temp, temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.facts.native_text import term_text
from zodiac_sql.facts.stage import scratch
from zodiac_sql.language.schema import Predicate, Schema, Staged
from zodiac_sql.language.syntax import Column, Type


def as_settled(collected: Collected, schema: Schema) -> None:
    """Give the facts that an update inserts and deletes the columns of terms that a schema has."""
    store, request = collected.before.store, collected.request
    for gone, staged in ((False, request.inserts), (True, request.deletes)):
        for name, each in staged.items():
            known, before = schema.get(name), collected.before.state.schema.get(name)
            if known is not None and any(column.mixed for column in known.columns):
                # The dictionary has no terms of facts in the file that become terms now.
                only_known = gone and before is not None and have_same_tables(before, known)
                staged[name] = [_as_terms(store, known, one, only_known) for one in each]


def _as_terms(store: Store, known: Predicate, staged: Staged, only_known: bool) -> Staged:
    """Facts with terms where their predicate has these; `only_known`: those with known terms."""
    places = [
        place
        for place, (column, target) in enumerate(zip(staged.columns, known.columns, strict=True))
        if target.mixed and column.meant is not Type.ANY
    ]
    if not places:
        return staged
    columns = tuple(
        Column(c.name, Type.ANY if place in places else c.meant)
        for place, c in enumerate(staged.columns)
    )
    texts = [place for place in places if staged.columns[place].type is not Type.SYMBOL]
    datatypes = tuple(None if p in places else d for p, d in enumerate(staged.datatypes))
    found = replace(staged, columns=columns, datatypes=datatypes)
    if not texts or staged.given == ():
        return found
    if staged.given is not None:
        staged = _in_table(store, staged)
    named = [staged.columns[place].name for place in texts]
    picked = []
    for column, datatype in zip(staged.columns, staged.datatypes, strict=True):
        value: exp.Expr = exp.column(column.name, quoted=True)
        if column.name in named:
            assert column.type is not None
            value = term_text(value, column.type, datatype, known.declared)
        picked.append(value.as_(column.name, quoted=True))
    query = exp.select(*picked).from_(temp_table(staged.table))
    table, temporary = store.temporary.fresh("staged"), store.temporary.fresh("texts")
    with scratch(store, temporary):
        store.run(create_temp(temporary, query))
        if only_known:
            every = exp.select(exp.Star()).from_(temp_table(temporary))
            names = [column.name for column in columns]
            store.run(create_temp(table, dictionary.known_only(every, names, named, False)))
        else:
            dictionary.encode(store, temporary, named, table)
    return replace(found, table=table, given=None, rows=None)


def _in_table(store: Store, staged: Staged) -> Staged:
    """Facts that were given in memory, in a temporary table."""
    nothing = (None,) * len(staged.columns)
    known = Predicate(staged.predicate, "", staged.columns, nothing, nothing)
    table = store.temporary.fresh("staged")
    store.run(create_temp(table, staged_query(known, [staged])), parameters_of([staged]))
    return replace(staged, table=table, given=None)
