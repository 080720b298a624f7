"""Looks whether facts that a proof denies are really absent."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import partial

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.render import render
from zodiac_sql.database.statements import union_all
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.language.syntax import Type, Variable
from zodiac_sql.read.why.asked import Known, listed, parameter_name, unnested
from zodiac_sql.sql.relations import Relation, columns_of, relation_query

Pattern = tuple[object | Variable, ...]
"""Values of an atom as they are stored; a variable stands for any, the same in all its places."""

Shape = tuple[str | int, ...]
"""Of a pattern's places, the SQL type of the value, or the first place of the variable."""


def are_absent(known: Known, absent: Mapping[str, Iterable[Pattern]]) -> bool:
    """Whether no fact matches a pattern; they are given by predicate."""
    asked: dict[tuple[str, Shape], list[Pattern]] = defaultdict(list)
    for predicate, patterns in absent.items():
        if known.sources.relation(predicate).rows:
            for pattern in dict.fromkeys(patterns):
                asked[predicate, _shape(known, predicate, pattern)].append(pattern)
    if not asked:
        return True
    relations = {name: relation_key(known.sources.relation(name)) for name, _ in asked}
    key = ("absent", tuple((name, shape, relations[name]) for name, shape in asked))
    text = known.cache.get(key, partial(_statement, known, list(asked)))
    given: dict[str, object] = {}
    for number, ((_, shape), patterns) in enumerate(asked.items()):
        for place, type_ in enumerate(shape):
            if isinstance(type_, str):
                values = [pattern[place] for pattern in patterns]
                given[parameter_name(str(number), f"v{place}")] = listed(values)
    return not known.store.rows(text, given or None)


def _shape(known: Known, predicate: str, pattern: Pattern) -> Shape:
    """Of patterns of the same shape, all are looked for in the same way."""
    types = known.types[predicate]
    return tuple(
        pattern.index(value) if isinstance(value, Variable) else _type(value, type_)
        for value, type_ in zip(pattern, types, strict=True)
    )


def _type(value: object, column: Type | None) -> str:
    """The SQL type of a value that is compared with a column."""
    if column in (Type.INT, Type.DECIMAL) and isinstance(value, float):
        return SQL_TYPES[Type.FLOAT]
    if column is Type.INT and isinstance(value, Decimal):
        return SQL_TYPES[Type.DECIMAL]
    if column is Type.DATE and isinstance(value, datetime.datetime):
        return SQL_TYPES[Type.TIMESTAMP]
    return SQL_TYPES[column or Type.SYMBOL]


def _statement(known: Known, asked: Sequence[tuple[str, Shape]]) -> str:
    queries: list[exp.Query] = [
        _matching(known.sources.relation(name), str(number), shape)
        for number, (name, shape) in enumerate(asked)
    ]
    return render(union_all(queries))


def _matching(relation: Relation, number: str, shape: Shape) -> exp.Select:
    """SELECT a row if there is a fact that matches a pattern of some shape."""
    columns = columns_of(relation, "t")
    places = dict(zip(range(len(shape)), columns, strict=False))
    given = {place: type_ for place, type_ in enumerate(shape) if isinstance(type_, str)}
    query = exp.select(exp.Literal.number(1), copy=False)
    query = query.from_(relation_query(relation).subquery("t", copy=False), copy=False)
    if given:
        values = [
            unnested(number, f"v{place}", type_).as_(f"v{place}") for place, type_ in given.items()
        ]
        patterns = exp.select(*values, copy=False).subquery("p", copy=False)
        same = [exp.column(f"v{place}", table="p").eq(places[place]) for place in given]
        query = query.join(patterns, on=exp.and_(*same, copy=False), copy=False)
    for place, first in enumerate(shape):
        if isinstance(first, int) and first != place:
            query = query.where(places[place].copy().eq(places[first].copy()), copy=False)
    return exp.select(exp.Star()).from_(
        query.limit(1, copy=False).subquery("q", copy=False), copy=False
    )
