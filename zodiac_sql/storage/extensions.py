"""Extensions: X(p) = explicit facts of p, united with what each hypernode derives of it.

The functions count, compare and show them. `Sources` knows which tables make up each one
(storage/sources.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from zodiac_sql.database.statements import (
    anti_join,
    create_temp,
    joining,
    minus,
    semi_join,
    union_all,
)
from zodiac_sql.database.store import Store
from zodiac_sql.language.syntax import Type
from zodiac_sql.sql.class_pairs import joined
from zodiac_sql.sql.relations import Part, Relation, columns_of, part_query, relation_query, table
from zodiac_sql.sql.set_difference import unknown

MOST_DISJOINT_PARTS = 4
"""With at most this many parts, anti joins are cheaper than removing duplicates."""


_COUNTED_TOGETHER = 50
"""How many extensions one statement counts, if they have few facts together: a statement takes time
even if there is nothing to count, and what it holds of all of them has to fit the memory."""

_FEW = 100_000


def count(store: Store, relation: Relation) -> int:
    """The exact number of facts of an extension."""
    return counts(store, [relation])[0]


def counts(store: Store, relations: Sequence[Relation]) -> list[int]:
    """The exact numbers of facts of several extensions."""
    found = [0] * len(relations)
    for some in _batches(relations):
        queries = []
        for number in some:
            for query in _apart(relations[number]):
                if isinstance(query, int):
                    found[number] += query
                else:
                    queries.append(_counted(number, query))
        for number, rows in store.rows(union_all(queries)) if queries else ():
            found[number] += rows
    return found


def _batches(relations: Sequence[Relation]) -> Iterator[list[int]]:
    """The places of the relations, those of small ones together."""
    batch: list[int] = []
    facts = 0
    for place, relation in enumerate(relations):
        if batch and (facts + relation.rows > _FEW or len(batch) == _COUNTED_TOGETHER):
            yield batch
            batch, facts = [], 0
        batch.append(place)
        facts += relation.rows
    if batch:
        yield batch


def _apart(relation: Relation) -> list[exp.Query | int]:
    """Queries for the facts of an extension that have no fact in common, or how many they have."""
    if len(relation.parts) > MOST_DISJOINT_PARTS:
        return [relation_query(relation, distinct=True)]
    if not relation.parts:
        return []
    largest, *_ = _by_size(relation)
    first, *others = _disjoint(relation)
    # The rows of a temporary table are known: its statement told how many it wrote.
    return [largest.rows if largest.schema == "temp" else first, *others]


def _counted(number: int, query: exp.Query) -> exp.Select:
    first = exp.Literal.number(number)
    counting = exp.select(first, exp.Count(this=exp.Star()), copy=False)
    return counting.from_(query.subquery("x", copy=False), copy=False)


def _by_size(relation: Relation) -> list[Part]:
    """The parts of a relation, the largest first."""
    return sorted(relation.parts, key=lambda part: -part.rows)


def distinct_query(relation: Relation) -> exp.Query:
    """The facts of an extension, each once."""
    if len(relation.parts) in range(2, MOST_DISJOINT_PARTS + 1):
        return exp.union(*_disjoint(relation), distinct=False, copy=False)
    return relation_query(relation, distinct=True)


def _disjoint(relation: Relation) -> list[exp.Select]:
    """The parts from the largest down, each without the facts of larger ones.

    DuckDB hashes the small side of such an anti join and scans the large one: 0.14 s for 100,000
    rows against 22 million, where removing duplicates from their union takes 2.7 s.
    """
    parts = _by_size(relation)
    queries = []
    for index, part in enumerate(parts):
        inner = part_query(part, relation)
        for larger in parts[:index]:
            columns = columns_of(relation, "y")
            query = exp.select(*columns, copy=False)
            query = query.from_(inner.subquery("y", copy=False), copy=False)
            inner = anti_join(query, columns, part_query(larger, relation).subquery(copy=False))
        queries.append(inner)
    return queries


def difference(store: Store, name: str, new: Relation, old: Relation) -> Part | None:
    """Temporary table `name` with the facts of one extension that are not in another, if any."""
    if not new.rows:
        return None
    if len(new.parts) == 1 and new.parts[0].read.pairs:
        return apart(store, name, new, old)
    query = distinct_query(new)
    if old.rows:
        query = lacking(relation_query(new), old)
    rows = store.count(create_temp(name, query))
    return Part("temp", name, rows) if rows else None


def lacking(facts: exp.Query, known: Relation) -> exp.Query:
    """The facts of a query that a relation does not have, each once."""
    if any(part.read.pairs for part in known.parts):
        return unknown(facts, known)  # EXCEPT would make all pairs, and hash them
    return minus(facts, relation_query(known))


def apart(store: Store, name: str, pairs: Relation, others: Relation) -> Part | None:
    """The facts of a relation of pairs that do not stand in another, without making them.

    Temporary table `name` gets those facts of the other that are among the pairs.
    """
    (part,) = pairs.parts
    rows = 0
    if others.rows:
        names = zip(columns_of(others, "o"), pairs.columns, strict=True)
        named = exp.select(*(column.as_(new.name, quoted=True) for column, new in names))
        named = named.from_(distinct_query(others).subquery("o", copy=False))
        columns = columns_of(pairs, "c")
        facts = exp.select(*columns).from_(named.subquery("c", copy=False))
        rows = store.count(create_temp(name, _among(facts, columns, part, pairs)))
    left = replace(part.without(name if rows else None), rows=part.rows - rows, covers=False)
    return left if left.rows else None


def _among(
    facts: exp.Select, columns: Sequence[exp.Column], part: Part, relation: Relation
) -> exp.Select:
    """Only those facts that are among some pairs."""
    assert part.read.pairs is not None
    if part.read.pairs.lacks or part.read.minus:
        return semi_join(facts, columns, part_query(part, relation).subquery(copy=False))
    return joined(facts, part.read.pairs, table(part), columns, "y", holds=True)


def comparable(first: Relation, second: Relation) -> bool:
    """Whether equal values in two relations' tables mean the same: an id is not a number."""
    if len(first.columns) != len(second.columns):
        return False
    pairs = zip(first.stored, second.stored, strict=True)
    return all(
        a.type == b.type
        or (a.type is not None and b.type is not None and a.type.numeric and b.type.numeric)
        for a, b in pairs
    )


def decoded(
    relation: Relation,
    facts: exp.Query,
    dictionary: str,
    *,
    unknown: bool = False,
    numbers: Mapping[str, str] | None = None,
) -> exp.Select:
    """Facts as people see them: symbols as text. `dictionary` names the table of symbols.

    An id that stands for nothing leaves its fact out, or with `unknown` becomes NULL. `numbers`
    names the columns, by the columns of terms after which they come, of the values of numbers.
    """
    query = exp.select().from_(facts.subquery("x", copy=False), copy=False)
    for index, column in enumerate(relation.stored):
        value: exp.Column = exp.column(column.name, table="x", quoted=True)
        if column.type is Type.SYMBOL:
            alias = f"t{index}"
            same = exp.column("id", table=alias).eq(value)
            kind = "LEFT" if unknown else ""
            symbols = exp.to_table(dictionary).as_(alias, copy=False)
            query = query.join(joining(symbols, kind), on=same, copy=False)
            value = exp.column("text", table=alias)
        query = query.select(value.as_(column.name, quoted=True, copy=False), copy=False)
        if numbers and column.name in numbers:
            number = exp.column("number", table=f"w{index}")
            query = query.select(number.as_(numbers[column.name], quoted=True), copy=False)
    for index, column in enumerate(relation.stored):
        if numbers and column.name in numbers:
            query = _with_values(query, column.name, f"w{index}")
    return query


def _with_values(query: exp.Select, column: str, alias: str) -> exp.Select:
    """A query of facts x with the values of the terms in a column; NULL where there is none."""
    same = exp.column("id", table=alias).eq(exp.column(column, table="x", quoted=True))
    values = exp.to_table("zodiac.symbol_value").as_(alias, copy=False)
    return query.join(joining(values, "LEFT"), on=same, copy=False)
