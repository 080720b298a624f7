"""Compares many small tables by few statements.

For small tables the time of a statement hardly depends on the rows. So tables with the same types
of columns are compared as one table, in which each row has the number of its own table. The result
tells only whether all of them are right; if not, the caller has to compare each by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sqlglot import exp

from zodiac_sql.database import dictionary
from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.statements import anti_join, temp_table, union_all
from zodiac_sql.database.store import Store
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.sql.relations import Relation, columns_of, part_query

T = TypeVar("T")

SMALL = 10_000
"""Larger relations are compared by themselves."""

_MANY = 50
"""How many tables are compared together."""

_WANTED, _THERE = (exp.to_table(name) for name in ("wanted", "there"))

_NUMBER = Column("n", Type.INT)


def batches(items: Iterable[T], relation: Callable[[T], Relation]) -> Iterator[Sequence[T]]:
    """The items in batches whose relations have the same types; large ones come by themselves."""
    groups: dict[tuple[Type, ...], list[T]] = {}
    for item in items:
        about = relation(item)
        if about.rows > SMALL or any(part.read.pairs for part in about.parts):
            yield [item]
            continue
        group = groups.setdefault(_types(about), [])
        group.append(item)
        if len(group) == _MANY:
            yield groups.pop(_types(about))
    yield from groups.values()


@dataclass(frozen=True, slots=True)
class ComparedRows:
    """The rows that a table should have, each once, and those that it has (in which symbols are
    texts if `same` gets `as_text`)."""

    relation: Relation
    wanted: exp.Query
    there: exp.Query


def same(store: Store, compared: Sequence[ComparedRows], as_text: bool = False) -> int | None:
    """How many rows some tables have, if each has exactly those that it should; else None.

    Rows are counted, and missing rows searched: if the number is right and none is missing, there
    are no others. The types of what is there are those of the answer's last columns: a union
    converts differing types.
    """
    types = _types(compared[0].relation)
    columns = [exp.column(column.name, table="c", quoted=True) for column in _columns(types)]
    rows = _encoded(types) if as_text else _THERE.copy()
    lacking = anti_join(_counted(_WANTED.as_("c")), columns, rows)
    firsts = [_first(column) for column in _columns(types)[1:]]
    numbers = [_counted(_WANTED).subquery(), _counted(_THERE).subquery(), lacking.subquery()]
    query = exp.select(*numbers, *firsts, copy=False)
    for name, rows_of in (
        (_WANTED.name, _numbered((c.relation, c.wanted) for c in compared)),
        (_THERE.name, _numbered((c.relation, c.there) for c in compared)),
    ):
        query = query.with_(name, as_=rows_of, materialized=True, copy=False)
    result = store.run(query)
    found = [str(type_) for _, type_, *_ in (result.description or [])[len(numbers) :]]
    expected = ["VARCHAR" if as_text and t is Type.SYMBOL else SQL_TYPES[t] for t in types]
    wanted, there, missing, *_ = result.fetchone() or (0, 1, 0)
    return wanted if wanted == there and not missing and found == expected else None


def _counted(rows: exp.Expr) -> exp.Select:
    return exp.select(exp.Count(this=exp.Star())).from_(rows.copy())


def _first(column: Column) -> exp.Subquery:
    """One value of a column of what is there."""
    value = exp.column(column.name, quoted=True)
    return exp.select(value).from_(_THERE.copy()).limit(1).subquery()


def all_given_once(store: Store, relations: Sequence[Relation]) -> bool:
    """Whether some tables have no duplicate row and no NULL."""
    numbered = _numbered((r, _given(r)) for r in relations)
    rows = exp.select(exp.Star()).distinct().from_(numbered.subquery("u", copy=False), copy=False)
    count = exp.select(exp.Count(this=exp.Star()))
    count = count.from_(rows.subquery("d", copy=False), copy=False)
    return store.count(count) == sum(relation.rows for relation in relations)


def _given(relation: Relation) -> exp.Query:
    """The rows without NULL of a relation that has only one table."""
    (part,) = relation.parts
    given = [column.is_(exp.null()).not_() for column in columns_of(relation, "t")]
    return part_query(part, relation).where(*given, copy=False)


def _types(relation: Relation) -> tuple[Type, ...]:
    """The types of a relation's columns. An open column has no facts, and its view shows texts."""
    return tuple(column.type or Type.SYMBOL for column in relation.stored)


def _columns(types: Sequence[Type]) -> list[Column]:
    """The columns of the table that holds the rows of several tables."""
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


def _encoded(types: Sequence[Type]) -> exp.Subquery:
    """The rows that are there, with ids for symbols."""
    query = exp.select().from_(_THERE.as_("x"))
    for column in _columns(types):
        value: exp.Column = exp.column(column.name, table="x", quoted=True)
        if column.type is Type.SYMBOL:
            alias = f"t{column.name}"
            same = exp.column("text", table=alias).eq(value)
            query = query.join(temp_table(dictionary.KNOWN).as_(alias), on=same)
            value = exp.column("id", table=alias)
        query = query.select(value.as_(column.name, quoted=True))
    return query.subquery()
