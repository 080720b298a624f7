"""Whole tables that a change takes away: dropped, or set aside, without looking into them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlglot import exp

from zodiac_sql.database.statements import rename
from zodiac_sql.database.together import Together
from zodiac_sql.names import DERIVED_SCHEMA, EXPLICIT_SCHEMA, set_aside
from zodiac_sql.program.state import State
from zodiac_sql.storage.sources import inner_tables

Rows = dict[tuple[str, str], int]


def drop_inner_tables(remover: Remover, old: State, new: State) -> None:
    """Drop the tables of modules and trees that are not at work any more."""
    there, here = (
        {key for keys in inner_tables(state).values() for key in keys} for state in (old, new)
    )
    for key in there - here:
        if key in remover.rows:
            remover.remove(key)


@dataclass(frozen=True, slots=True)
class Remover:
    """Takes tables away without looking into them: drops them, or sets them aside.

    What waits in `writes` is written before that, because it may read these tables.
    """

    writes: Together
    rows: Rows
    put_aside: Collection[str]
    views: set[str]

    def remove(self, key: tuple[str, str]) -> None:
        schema, name = key
        if schema == DERIVED_SCHEMA and name in self.views:
            self.run(exp.Drop(tables=[stored_table(name)], kind="VIEW"))
            self.views.remove(name)
        elif schema == DERIVED_SCHEMA and name in self.put_aside:
            self.run(rename(stored_table(name), set_aside(name)))
        else:
            table = exp.table_(name, db=schema, quoted=True)
            self.run(exp.Drop(tables=[table], kind="TABLE"))
        del self.rows[key]

    def run(self, statement: str | exp.Expr) -> None:
        """Run a statement after those that wait."""
        self.writes.run()
        self.writes.store.run(statement)


def stored_table(name: str) -> exp.Table:
    return exp.table_(name, db=DERIVED_SCHEMA, quoted=True)


def drop_predicates(remover: Remover, old: State, new: State) -> None:
    """Drop the explicit facts of predicates that no longer exist, or have another arity."""
    names = {
        predicate.sql_name
        for name, predicate in new.schema.items()
        if name not in old.schema or old.schema[name].arity == predicate.arity
    }
    for schema, name in list(remover.rows):
        if schema == EXPLICIT_SCHEMA and name not in names:
            remover.remove((schema, name))
