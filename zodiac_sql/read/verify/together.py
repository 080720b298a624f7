"""Many small tables looked at by few statements.

A statement takes more time than a few rows do. So tables with columns of the same types are looked
at as one, in which each row has the number of its table. That tells only whether all of them are
right; where they are not, each has to be looked at by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sqlglot import exp

from zodiac_sql.database import dictionary
from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.statements import anti_join, create_temp, temp_table, union_all
from zodiac_sql.database.store import Store
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.sql.relations import Relation, columns_of, part_query

T = TypeVar("T")

SMALL = 10_000
"""Relations of more facts are looked at by themselves."""

_MANY = 50
"""So many tables are looked at together."""

_WANTED, _THERE = "zodiac$wanted", "zodiac$there"

_NUMBER = Column("n", Type.INT)


def batches(items: Iterable[T], relation: Callable[[T], Relation]) -> Iterator[Sequence[T]]:
    """Items by the types of the columns of what they are about; a large one by itself."""
    groups: dict[tuple[Type, ...], list[T]] = {}
    for item in items:
        about = relation(item)
        if about.rows > SMALL or any(part.pairs for part in about.parts):
            yield [item]
            continue
        group = groups.setdefault(_types(about), [])
        group.append(item)
        if len(group) == _MANY:
            yield groups.pop(_types(about))
    yield from groups.values()


@dataclass(frozen=True, slots=True)
class Compared:
    """The rows that a table should have, each once, and those that it has: of these, with `as_text`
    symbols are texts."""

    relation: Relation
    wanted: exp.Query
    there: exp.Query


def same(store: Store, compared: Sequence[Compared], as_text: bool = False) -> int | None:
    """How many rows some tables have, if each has exactly those that it should; else None.

    If none is lacking, and there are as many as there should be, there are no others.
    """
    types = _types(compared[0].relation)
    wanted = store.count(create_temp(_WANTED, _numbered((c.relation, c.wanted) for c in compared)))
    there = store.count(create_temp(_THERE, _numbered((c.relation, c.there) for c in compared)))
    if wanted != there or not _has_types(store, types, as_text):
        return None
    columns = [exp.column(column.name, table="c", quoted=True) for column in _columns(types)]
    lacking = exp.select(exp.Count(this=exp.Star())).from_(temp_table(_WANTED).as_("c"))
    rows = _encoded(types) if as_text else temp_table(_THERE)
    key = ("lacking together", types, as_text)
    text = store.cached(key, lambda: anti_join(lacking, columns, rows))
    return None if store.count(text) else wanted


def all_given_once(store: Store, relations: Sequence[Relation]) -> bool:
    """Whether no row of some tables stands twice, and none has a NULL."""
    numbered = _numbered((r, _given(r)) for r in relations)
    rows = exp.select("*").distinct().from_(numbered.subquery("u", copy=False), copy=False)
    count = exp.select(exp.Count(this=exp.Star()))
    count = count.from_(rows.subquery("d", copy=False), copy=False)
    return store.count(count) == sum(relation.rows for relation in relations)


def _given(relation: Relation) -> exp.Query:
    """The rows of the one table of a relation that have no NULL."""
    (part,) = relation.parts
    given = [column.is_(exp.null()).not_() for column in columns_of(relation, "t")]
    return part_query(part, relation).where(*given, copy=False)


def _types(relation: Relation) -> tuple[Type, ...]:
    """The types of its columns. One that is open has no fact, and shows texts."""
    return tuple(column.type or Type.SYMBOL for column in relation.stored)


def _columns(types: Sequence[Type]) -> list[Column]:
    """The columns of a table that holds the rows of several."""
    return [_NUMBER, *(Column(f"c{place}", type_) for place, type_ in enumerate(types))]


def _numbered(rows: Iterable[tuple[Relation, exp.Query]]) -> exp.Query:
    """The rows of several queries, each with the number of its query."""
    numbered = []
    for number, (relation, query) in enumerate(rows):
        columns = [
            exp.alias_(column, f"c{place}", quoted=True, copy=False)
            for place, column in enumerate(columns_of(relation, "q"))
        ]
        first = exp.alias_(exp.Literal.number(number), _NUMBER.name, quoted=True, copy=False)
        one = exp.select(first, *columns, copy=False)
        numbered.append(one.from_(query.subquery("q", copy=False), copy=False))
    return union_all(numbered)


def _has_types(store: Store, types: Sequence[Type], as_text: bool) -> bool:
    """Whether what is there has the types it should have: a union converts what has others."""
    text = store.cached("types", lambda: exp.select("*").from_(temp_table(_THERE)).limit(0))
    found = (store.run(text).description or [])[1:]
    wanted = ["VARCHAR" if as_text and t is Type.SYMBOL else SQL_TYPES[t] for t in types]
    return [str(type_) for _, type_, *_ in found] == wanted


def _encoded(types: Sequence[Type]) -> exp.Subquery:
    """What is there, with ids for symbols."""
    query = exp.select().from_(temp_table(_THERE).as_("x"))
    for column in _columns(types):
        value: exp.Column = exp.column(column.name, table="x", quoted=True)
        if column.type is Type.SYMBOL:
            alias = f"t{column.name}"
            same = exp.column("text", table=alias).eq(value)
            query = query.join(temp_table(dictionary.KNOWN).as_(alias), on=same)
            value = exp.column("id", table=alias)
        query = query.select(value.as_(column.name, quoted=True))
    return query.subquery()
