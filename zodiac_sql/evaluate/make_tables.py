"""Temporary tables that every change makes by the same statement: rendered once, run often."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace

from sqlglot import exp

from zodiac_sql.database.connection import Parameters
from zodiac_sql.database.runner import Runner
from zodiac_sql.database.statements import create_temp
from zodiac_sql.database.store import Store
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.relations import Part, Relation, relation_query


def make_table(
    runner: Runner,
    key: Hashable,
    name: str,
    query: Callable[[], exp.Query],
    parameters: Parameters = None,
    as_written: bool = False,
) -> int:
    """Create a temporary table with the rows of a query. Returns how many there are.

    `key` has all that the statement depends on, except the table's name. `as_written` is for
    recursions (Store.run).
    """

    text = runner.text((key, name), lambda: create_temp(name, query()))
    return runner.store.count(text, parameters, as_written)


def make_part(
    runner: Runner,
    key: Hashable,
    name: str,
    query: Callable[[], exp.Query],
    *,
    ranked: bool = False,
    parameters: Parameters = None,
) -> Part | None:
    """As `make_table`, but returns the facts of the table, or None if there are none."""
    rows = make_table(runner, key, name, query, parameters)
    return Part("temp", name, rows, ranked=ranked) if rows else None


def in_one_table(
    store: Store,
    context: Context,
    stem: str,
    pays: Callable[[str, Relation], bool],
    distinct: bool = False,
) -> Context:
    """The context, in which each predicate for which that pays is read from one temporary table.

    A recursive statement would unite its parts anew in each round, or leave out what has gone.
    """
    made: dict[tuple[str, Version], Relation] = {}

    def relation(name: str, version: Version) -> Relation:
        known = context.relation(name, version)
        if not pays(name, known):
            return known
        if (name, version) not in made:
            table = f"{stem}_{len(made)}"
            rows = store.count(create_temp(table, relation_query(known, distinct)))
            made[name, version] = Relation(known.columns, (Part("temp", table, rows),))
        return made[name, version]

    return replace(context, relation=relation)
