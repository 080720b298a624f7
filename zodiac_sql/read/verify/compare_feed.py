"""Compares the change feed with the extensions: the last entry of a fact tells whether it holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.statements import anti_join, decimal_text, semi_join, union_all
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.names import COMMIT, INSERTED, feed_table
from zodiac_sql.program.feed import FeedTable
from zodiac_sql.read.verify.work import VerifiedFile, count_rows
from zodiac_sql.sql.relations import Relation, columns_of, relation_query
from zodiac_sql.storage.feed import entries_table

_LAST = "last"


def compare_feed(work: VerifiedFile) -> None:
    """Note numbers of changes that are missing, and facts whose last entry is wrong."""
    feed = work.state.feed
    if not feed.tables:
        return
    number = exp.column(COMMIT, quoted=True)
    first = max(feed.gone, feed.narrowed)
    numbers = [
        exp.select(number).from_(entries_table(t.number)).where(number > exp.convert(first))
        for t in feed.tables.values()
    ]
    distinct = exp.union(*numbers, distinct=True) if len(numbers) > 1 else numbers[0].distinct()
    there = count_rows(work.store, distinct)
    work.note("zodiac.feed", max(0, feed.last - first - there), 0)
    families: dict[Hashable, list[FeedTable]] = defaultdict(list)
    for (name, columns), table in feed.tables.items():
        families[name, tuple(_kind(column) for column in columns)].append(table)
    for tables in families.values():
        _compare(work, tables)


def _kind(column: Column) -> object:
    """What the values of a column can be compared with."""
    return "number" if _type(column).numeric else _type(column)


def _compare(work: VerifiedFile, tables: Sequence[FeedTable]) -> None:
    """Compare entries of one predicate, of tables whose values can be compared."""
    newest = tables[-1]
    known = work.state.schema.get(newest.predicate)
    columns = _common([*(table.columns for table in tables), *([known.columns] if known else [])])
    there = Relation(newest.columns, ())
    if known is not None and columns is not None:
        there = work.there.relation(newest.predicate)
    facts = Relation(columns or there.stored, ())
    extension = _renamed(relation_query(there), there.stored, facts.columns)
    entries = union_all([_entries(table, facts.columns) for table in tables])
    last = exp.func("arg_max", _column(INSERTED), _column(COMMIT), dialect="duckdb")
    rows = exp.select(*columns_of(facts, "e"), last.as_(_LAST, quoted=True))
    rows = rows.from_(entries.subquery("e", copy=False)).group_by(*columns_of(facts, "e"))
    surplus, missing = (_with_last(rows, facts, inserted) for inserted in (True, False))
    wanted = columns_of(facts, "c")
    work.note(
        f"zodiac.{feed_table(newest.number)}",
        count_rows(work.store, semi_join(missing, wanted, extension.subquery(copy=False))),
        count_rows(work.store, anti_join(surplus, wanted, extension.subquery(copy=False))),
    )


def _with_last(rows: exp.Select, facts: Relation, inserted: bool) -> exp.Select:
    """The facts whose last entry says that they entered, or left."""
    last = exp.column(_LAST, table="c", quoted=True)
    query = exp.select(*columns_of(facts, "c")).from_(rows.copy().subquery("c", copy=False))
    return query.where(last if inserted else exp.not_(last))


def _common(layouts: Sequence[Sequence[Column]]) -> tuple[Column, ...] | None:
    """Columns that all values fit into, without a type where some are int and others float; None
    if there are none.
    """
    stored = [Relation(tuple(layout), ()).stored for layout in layouts]
    kinds = {tuple(_kind(column) for column in layout) for layout in stored}
    if len(kinds) > 1:
        return None
    types = ({_type(column) for column in one} for one in zip(*stored, strict=True))
    return tuple(
        replace(column, type=next(iter(some)) if len(some) == 1 else None)
        for column, some in zip(stored[0], types, strict=True)
    )


def _type(column: Column) -> Type:
    return column.type or Type.SYMBOL


def _entries(table: FeedTable, columns: Sequence[Column]) -> exp.Select:
    """The entries of a table, with values of the types of some columns."""
    stored = Relation(table.columns, ()).stored
    values = (
        _value(exp.column(f"c{place}", quoted=True), column, wanted)
        for place, (column, wanted) in enumerate(zip(stored, columns, strict=True))
    )
    query = exp.select(_column(COMMIT), _column(INSERTED), *values)
    return query.from_(entries_table(table.number))


def _renamed(query: exp.Query, there: Sequence[Column], columns: Sequence[Column]) -> exp.Select:
    """The facts of an extension, with names and types of other columns."""
    values = (
        _value(exp.column(column.name, table="x", quoted=True), column, wanted)
        for column, wanted in zip(there, columns, strict=True)
    )
    return exp.select(*values).from_(query.subquery("x", copy=False))


def _value(value: exp.Expr, column: Column, wanted: Column) -> exp.Expr:
    if wanted.type is None:
        value = _text_of_number(value, column)
    return exp.alias_(value, wanted.name, quoted=True)


def _text_of_number(value: exp.Expr, column: Column) -> exp.Expr:
    """A text that numbers of several types have in common if they are the same number exactly.

    As floats they would be compared inexactly: 2^53 + 1 would be the same as 2^53.
    """
    text = exp.cast(value, "VARCHAR")
    if column.type is Type.INT:
        return text
    own = SQL_TYPES[column.type or Type.FLOAT]
    whole = exp.TryCast(this=value.copy(), to=exp.DataType.build("BIGINT", dialect="duckdb"))
    is_whole = exp.cast(whole, own).eq(value.copy())
    cases = exp.case().when(is_whole, exp.cast(whole.copy(), "VARCHAR"))
    decimal_type = exp.DataType.build(SQL_TYPES[Type.DECIMAL], dialect="duckdb")
    exact = exp.TryCast(this=text.copy(), to=decimal_type)
    return cases.when(exp.cast(exact, own).eq(value.copy()), decimal_text(exact)).else_(text)


def _column(name: str) -> exp.Column:
    return exp.column(name, quoted=True)
