"""The facts of a relation that are the same in the types of other columns.

Where rules come and go, a column of ints can become one of floats, and back. 5 and 5.0 are one
value. But DuckDB compares an int or a decimal with a float as two floats: 2^53 + 1 and 2^53 are the
same then. So facts of other types are converted first, as far as they stand for the same value
exactly.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.statements import create_temp
from zodiac_sql.database.store import Store
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.sql.relations import Part, Relation
from zodiac_sql.storage.extensions import distinct_query


def have_same_types(first: Sequence[Column], second: Sequence[Column]) -> bool:
    """Whether columns have the same types, whatever their names."""
    return [column.meant for column in first] == [column.meant for column in second]


def in_types_of(store: Store, relation: Relation, columns: tuple[Column, ...]) -> Relation:
    """The facts of a relation that can have the types of other columns, each once, in a temporary
    table.

    If it has these types, it is the relation itself. Both must be comparable (extensions.py).
    """
    if have_same_types(relation.columns, columns):
        return relation
    pairs = list(zip(relation.columns, columns, strict=True))
    values = [_converted(a, b).as_(b.name, quoted=True) for a, b in pairs]
    exact = [_is_exact(a, b) for a, b in pairs if a.type is not b.type]
    facts = distinct_query(relation).subquery("v", copy=False)
    query = exp.select(*values).from_(facts).where(*exact)
    table = store.temporary.fresh("same")
    rows = store.count(create_temp(table, query))
    return Relation(columns, (Part("temp", table, rows),) if rows else ())


def _converted(old: Column, new: Column) -> exp.Expr:
    value: exp.Expr = exp.column(old.name, table="v", quoted=True)
    if (old.type, new.type) == (Type.FLOAT, Type.DECIMAL):
        value = exp.cast(value, "VARCHAR")
    return value if old.type is new.type else _as(value, new.type)


def _is_exact(old: Column, new: Column) -> exp.Expr:
    """Whether a number is the same in another type. An int can be more than DOUBLE holds."""
    value = exp.column(old.name, table="v", quoted=True)
    if Type.DECIMAL in (old.type, new.type) and Type.FLOAT in (old.type, new.type):
        return written_alike(value, old.type)
    made = _as(value, new.type)
    if old.type is Type.INT:
        return exp.cast(made, "HUGEINT").eq(exp.cast(value.copy(), "HUGEINT"))
    return _as(made, old.type).eq(value.copy())


def written_alike(value: exp.Expr, type_: Type | None) -> exp.Expr:
    """Whether a decimal is the number as which its float is written, or the reverse."""
    if type_ is Type.DECIMAL:
        text = exp.cast(exp.cast(value.copy(), "DOUBLE"), "VARCHAR")
        return exp.func("coalesce", _as(text, Type.DECIMAL).eq(value.copy()), exp.false())
    there = exp.cast(_as(exp.cast(value.copy(), "VARCHAR"), Type.DECIMAL), "DOUBLE")
    return exp.func("coalesce", there.eq(value.copy()), exp.false())


def _as(value: exp.Expr, type_: Type | None) -> exp.Expr:
    """A number in another type, or NULL if that does not hold it."""
    assert type_ is not None
    return exp.TryCast(this=value.copy(), to=exp.DataType.build(SQL_TYPES[type_], dialect="duckdb"))
