"""Recursions that make texts, in one statement: inside it, all symbols are their texts.

A text that a rule makes has no id yet, and a recursive statement cannot give it one. So what the
statement reads is put into tables with texts in the place of ids first, and what it has found gets
its ids in the end.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from sqlglot import exp

from zodiac_sql.database import dictionary
from zodiac_sql.database.statements import create_temp, drop
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.names import RANK
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.relations import Part, Relation, relation_query
from zodiac_sql.storage.extensions import decoded


@dataclass(frozen=True, slots=True)
class Spelling:
    """Makes tables with texts of tables with ids: each once, until they are dropped."""

    store: Store
    stem: str
    made: dict[Hashable, Relation]

    @classmethod
    def begin(cls, store: Store, stem: str) -> Spelling:
        """A spelling that has made no table yet; their names begin with `stem`."""
        return cls(store, f"spelled_{stem}", {})

    def of(self, relation: Relation) -> Relation:
        """The same facts, with texts in the place of ids."""
        if not relation.parts or not symbols_of(relation.stored):
            return relation
        key = relation_key(relation)
        if key not in self.made:
            name = f"{self.stem}_{len(self.made)}"
            rows = self.store.count(create_temp(name, _decoded(relation)))
            part = Part("temp", name, rows, ranked=relation.ranked)
            self.made[key] = replace(relation, parts=(part,))
        return self.made[key]

    def context(self, context: Context) -> Context:
        """The same context, in which all symbols are texts."""

        def relation(name: str, version: Version) -> Relation:
            return self.of(context.relation(name, version))

        return replace(context, relation=relation, spelled=True)

    def drop(self) -> None:
        """Drop the tables."""
        for relation in self.made.values():
            self.store.run(drop(relation.parts[0].table))


def encoded(store: Store, rows: exp.Query, columns: tuple[Column, ...], table: str) -> int:
    """Create a temporary table of rows in which symbols are texts, with ids for them. Returns how
    many rows there are.
    """
    if not (names := symbols_of(columns)):
        return store.count(create_temp(table, rows))
    raw = f"raw_{table}"
    count = store.count(create_temp(raw, rows))
    dictionary.encode(store, raw, names, table, canonical=True)
    store.run(drop(raw))
    return count


def symbols_of(columns: tuple[Column, ...]) -> list[str]:
    """The names of the columns of symbols."""
    return [column.name for column in columns if column.type is Type.SYMBOL]


def _decoded(relation: Relation) -> exp.Select:
    """The rows of a relation with their ranks, symbols as text."""
    query = decoded(relation, relation_query(relation), dictionary.KNOWN)
    rank = exp.column(RANK, table="x", quoted=True)
    return query.select(rank, copy=False) if relation.ranked else query
