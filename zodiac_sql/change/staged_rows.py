"""Staged facts in a statement: rows of a temporary table, or a few as parameters.

A statement costs a millisecond before it looks at a row, and the more it joins, the longer. So a
few facts get no table of their own: the statements that need them take them as parameters. One fact
alone needs no join either: then its values stand in conditions.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.statements import parameter, temp_table, union_all
from zodiac_sql.language.schema import Predicate, Staged
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.sql.relations import Relation, columns_of


def staged_facts(predicate: Predicate, rows: Sequence[tuple[object, ...]], table: str) -> Staged:
    """Facts in memory, with the types of their predicate. Parameters are named after `table`."""
    nothing = (None,) * len(predicate.columns)
    return Staged(predicate.name, predicate.columns, nothing, table, False, len(rows), tuple(rows))


def staged_query(predicate: Predicate, staged: Sequence[Staged]) -> exp.Query:
    """Staged facts as one query with the predicate's column names and types.

    It is run with `parameters_of` the same.
    """
    return union_all([_rows(predicate, one) for one in staged])


def parameters_of(staged: Iterable[Staged]) -> dict[str, object] | None:
    """The parameters of a statement that reads staged facts."""
    found: dict[str, object] = {}
    for one in staged:
        columns = zip(*one.given or (), strict=True)
        for place, values in enumerate(columns):
            found[_name(one, place)] = values[0] if is_one(one) else list(values)
    return found or None


def without_none(staged: Mapping[str, list[Staged]]) -> dict[str, list[Staged]]:
    """Staged facts by predicate, without those of which there are none."""
    some = {name: [one for one in each if one.rows != 0] for name, each in staged.items()}
    return {name: each for name, each in some.items() if each}


def is_each_once(predicate: Predicate, staged: Sequence[Staged]) -> bool:
    """Whether no fact is repeated: those given at once are not, but converted ones can be."""
    if len(staged) > 1 or staged[0].given is None:
        return False
    return [c.meant for c in staged[0].columns] == [c.meant for c in predicate.columns]


def is_one(staged: Staged) -> bool:
    """Whether just one fact is given, so that its parameters are values, and not lists."""
    return staged.given is not None and len(staged.given) == 1


def values_of(predicate: Predicate, staged: Staged) -> list[exp.Expr]:
    """The columns of staged facts, with the types of the predicate's tables."""
    targets = Relation(predicate.columns, ()).stored
    given = Relation(staged.columns, ()).stored
    return [
        _converted(_value(staged, place), column, target)
        for place, (column, target) in enumerate(zip(given, targets, strict=True))
    ]


def is_the_fact(predicate: Predicate, staged: Staged, alias: str) -> exp.Expr:
    """Whether a row of a table of the predicate is the one fact that is given."""
    columns = Relation(predicate.columns, ()).stored
    values = values_of(predicate, staged)
    return exp.and_(
        *(
            exp.column(column.name, table=alias, quoted=True).eq(value)
            for column, value in zip(columns, values, strict=True)
        ),
        copy=False,
    )


def deletion(table: exp.Table, predicate: Predicate, staged: Staged) -> exp.Delete:
    """DELETE of those rows of a table that are given facts."""
    target = exp.alias_(table, "t", table=True)
    if is_one(staged):
        where = exp.Where(this=is_the_fact(predicate, staged, "t"))
        return exp.Delete(this=target, where=where)
    given = staged_query(predicate, [staged]).subquery("c", copy=False)
    relation = Relation(predicate.columns, ())
    pairs = zip(columns_of(relation, "t"), columns_of(relation, "c"), strict=True)
    same = exp.and_(*(one.eq(other) for one, other in pairs))
    return exp.Delete(this=target, using=[given], where=exp.Where(this=same))


def shape(predicate: Predicate, staged: Iterable[Staged]) -> Hashable:
    """All that the SQL for staged facts depends on."""
    each = ((one.table, one.columns, one.given is None, is_one(one)) for one in staged)
    return predicate.columns, tuple(each)


def _rows(predicate: Predicate, staged: Staged) -> exp.Select:
    columns = Relation(predicate.columns, ()).stored
    query = exp.select(
        *(
            value.as_(column.name, quoted=True)
            for value, column in zip(values_of(predicate, staged), columns, strict=True)
        )
    )
    return query if staged.given is not None else query.from_(temp_table(staged.table))


def _value(staged: Staged, place: int) -> exp.Expr:
    """A column of staged facts as it was given."""
    column = Relation(staged.columns, ()).stored[place]
    if staged.given is None:
        return exp.column(column.name, quoted=True)
    value: exp.Expr = parameter(_name(staged, place))
    if not is_one(staged):
        value = exp.func("unnest", value, dialect="duckdb")
    return exp.cast(value, SQL_TYPES[column.type or Type.SYMBOL])


def _converted(value: exp.Expr, column: Column, target: Column) -> exp.Expr:
    if column.type is target.type or target.type is None:
        return value
    return exp.cast(value, SQL_TYPES[target.type])


def _name(staged: Staged, place: int) -> str:
    """The name of the parameter with the values of a column."""
    return f"{staged.table}_{place}"
