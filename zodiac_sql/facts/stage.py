"""Rows that a program hands over -> staged facts of one predicate.

    rows -> Arrow                             rows.py
    Arrow -> temporary table as it came       here
    columns -> those of the predicate         columns.py
    cells checked                             check_cells.py
    cast, symbols encoded -> Staged           here

All but the first two steps, `stage_table`, also serve the loading of files. A few rows need no
table: they stay in memory (staged_rows.py).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from zodiac_sql.database import dictionary
from zodiac_sql.database.statements import create_temp, temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.facts.check_cells import Place, check_cells, with_terms
from zodiac_sql.facts.columns import (
    SourceColumn,
    aligned,
    columns_of,
    is_apart,
    of_numbers_there,
    plain_columns,
)
from zodiac_sql.facts.python_values import in_64_bits
from zodiac_sql.facts.row_options import AS_THEY_ARE, RowOptions
from zodiac_sql.facts.rows import Offered, as_arrow
from zodiac_sql.facts.terms import is_native_literal, term_of
from zodiac_sql.facts.tuple_columns import is_exact
from zodiac_sql.language.decimals import fitting, is_widened
from zodiac_sql.language.schema import Predicate, Staged
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.names import EXPLICIT_SCHEMA

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class SourceTable:
    """A temporary table whose rows are to become facts, and which is not changed.

    `named` tells whether its column names are meaningful. `untyped` are columns without values, and
    so without a type, whatever DuckDB's type is. `place` tells people where a row is. All cells may
    be known to be `good`. If rows were made of lists, the column NUMBER has the `place` of each.
    """

    table: str
    named: bool
    untyped: Collection[str] = ()
    place: Place = "row {}".format
    good: bool = False
    numbered: bool = False
    terms: Collection[str] = ()
    """The columns with texts of terms of all kinds."""
    zoned: Collection[str] = ()
    """The columns of timestamps in UTC that stand for instants."""


def stage_rows(
    store: Store,
    predicate: str,
    rows: object,
    known: Predicate | None,
    *,
    gone: bool = False,
    options: RowOptions = AS_THEY_ARE,
) -> Staged | None:
    """Stage a list of tuples, an Arrow table or stream, a data frame or a DuckDB relation.

    Returns None for an empty list of an unknown predicate, because it tells nothing. Facts to be
    deleted (`gone`) add no symbols: rows with unknown symbols are left out, and so are rows that
    are no facts, because the predicate's columns are of other types.
    Raises DataError for rows that cannot be facts of the predicate.
    """
    offered = as_arrow(predicate, store.watch.in_time(rows), known, options, gone=gone)
    if offered is None:
        return None if known is None or known.open else _stage_none(store, known)
    if not offered.names:
        return _stage_true(store, predicate)
    if offered.absent and not offered.rows:
        assert known is not None
        return replace(_stage_none(store, known), absent=offered.absent)
    staged = _stage_offered(store, predicate, offered, known, gone)
    left_out, absent = offered.left_out.rows, offered.absent
    if not left_out and not absent:
        return staged
    return replace(staged, left_out=left_out, absent=staged.absent + absent)


def _stage_offered(
    store: Store, predicate: str, offered: Offered, known: Predicate | None, gone: bool
) -> Staged:
    """Stage rows of Arrow."""
    plain = plain_columns(offered.data, offered.numbered, offered.terms)
    if plain is not None:  # no cell needs a check
        columns = aligned(predicate, plain, known, offered.named, widens=True)
        if gone and known and is_apart(columns, known):
            return replace(_stage_none(store, known), absent=offered.rows or 0)
        columns = of_numbers_there(columns, known) if gone and known else columns
        named = offered.named and known is None
        few = 0 < (offered.rows or 0) <= MOST_AS_PARAMETERS
        staged = few and _stage_few(store, predicate, columns, offered.data, known, named, gone)
        if staged:
            return staged
    with store.offered(_OFFERED, offered.data):
        if plain is not None:
            source_table = temp_table(_OFFERED)
            return _staged(store, predicate, columns, source_table, named, gone, offered.rows)
        source = store.temporary.fresh("rows")
        with scratch(store, source):
            store.run(create_temp(source, exp.select(exp.Star()).from_(temp_table(_OFFERED))))
            rows_as_came = SourceTable(
                source,
                offered.named,
                offered.untyped,
                numbered=offered.numbered,
                terms=offered.terms,
            )
            return stage_table(store, predicate, rows_as_came, known, gone=gone)


def stage_table(
    store: Store,
    predicate: str,
    source: SourceTable,
    known: Predicate | None,
    *,
    gone: bool = False,
    of_file: bool = False,
) -> Staged:
    """Stage the rows of a temporary table. Raises DataError.

    Those that are `gone` add no symbols, unless they are `of_file`: then they are counted.
    """
    columns = columns_of(store, source.table, source.untyped, source.numbered, source.terms)
    if source.zoned:
        columns = [replace(c, is_instant=c.source in source.zoned) for c in columns]
    columns = aligned(predicate, columns, known, source.named, widens=True)
    if gone and known and is_apart(columns, known):
        rows = exp.select(exp.Count(this=exp.Star())).from_(temp_table(source.table))
        return replace(_stage_none(store, known), absent=store.count(rows))
    if not gone:
        columns = [*with_terms(store, source.table, columns)]
    elif known:
        columns = of_numbers_there(columns, known)
    if not source.good:
        check_cells(store, predicate, source.table, columns, source.place, source.numbered)
    named = source.named and known is None
    left = gone and not of_file
    return _staged(store, predicate, columns, temp_table(source.table), named, left)


def _staged(
    store: Store,
    predicate: str,
    columns: Sequence[SourceColumn],
    source: exp.Expr,
    named: bool,
    gone: bool,
    rows: int | None = None,
) -> Staged:
    """Cast and encode rows that have passed every check."""
    table = store.temporary.fresh("staged")
    query = exp.select(*_casts(columns)).from_(source)
    exact = [column.cast().is_(exp.null()).not_() for column in columns if column.only_exact]
    query = query.where(*exact) if exact else query
    symbols = [column.name for column in columns if column.type in _SYMBOLS]
    names = [column.name for column in columns]
    if symbols and rows is not None and rows <= MOST_LOOKED_UP_AS_WRITTEN:
        known = dictionary.known_only(query, names, symbols, True)
        if store.count(create_temp(table, known)) == rows:
            return _of(predicate, columns, table, named, rows)
    if symbols:
        texts = store.temporary.fresh("texts")
        with scratch(store, texts):
            count = store.count(create_temp(texts, query))
            if gone:
                every = exp.select(exp.Star()).from_(temp_table(texts))
                known = dictionary.known_only(every, names, symbols, False)
                store.count(create_temp(table, known))
            else:
                dictionary.encode(store, texts, symbols, table)
    else:
        count = store.count(create_temp(table, query))
    return _of(predicate, columns, table, named, None if count else 0)


_SYMBOLS = (Type.SYMBOL, Type.ANY)
"""The types of columns that come as texts and are stored as ids."""


def _casts(columns: Sequence[SourceColumn]) -> list[exp.Expr]:
    return [column.cast().as_(column.name, quoted=True) for column in columns]


def _of(
    predicate: str,
    columns: Sequence[SourceColumn],
    table: str,
    named: bool,
    rows: int | None = None,
) -> Staged:
    staged = tuple(Column(column.name, column.type) for column in columns)
    datatypes = tuple(column.datatype for column in columns)
    return Staged(predicate, staged, datatypes, table, named, rows)


MOST_AS_PARAMETERS = 100
"""At most this many rows are given to DuckDB as parameters of the statements that read them."""

MOST_LOOKED_UP_AS_WRITTEN = 50_000
"""For at most this many rows, a lookup tries first whether all of their symbols are known as they
are written."""


def _stage_few(
    store: Store,
    predicate: str,
    columns: Sequence[SourceColumn],
    data: pa.Table,
    known: Predicate | None,
    named: bool,
    gone: bool,
) -> Staged | None:
    """Keep a few rows to be parameters of the statements that will read them.

    None if that cannot be: a symbol may be known by another text, or there is a NaN, which DuckDB
    treats as NULL in a parameter.
    """
    there = [data.column(column.source).to_pylist() for column in columns]
    if known is not None:
        columns = [*map(_as_known, columns, there, known.columns)]
    values = [*map(_values, columns, there)]
    if any(isinstance(value, float) and math.isnan(value) for column in values for value in column):
        return None
    symbols = [v for v, column in zip(values, columns, strict=True) if column.type in _SYMBOLS]
    texts = {text for column in symbols for text in column}
    ids = dictionary.as_written(store, texts)
    unknown = sorted(texts - ids.keys())
    if not all(map(_stands_as_it_is, unknown)):
        return None
    if unknown and not gone:
        ids |= dictionary.add(store, unknown)
    encoded = [
        [ids.get(text) for text in v] if column.type in _SYMBOLS else v
        for v, column in zip(values, columns, strict=True)
    ]
    rows = dict.fromkeys(row for row in zip(*encoded, strict=True) if None not in row)
    staged = _of(predicate, columns, store.temporary.fresh("staged"), named, len(rows))
    return replace(staged, given=tuple(rows))


def _stands_as_it_is(text: str) -> bool:
    return dictionary.stands_as_it_is(text) or is_native_literal(text)


def _as_known(column: SourceColumn, values: list[Any], known: Column) -> SourceColumn:
    """A column of ints as one of floats or decimals, where the predicate has these and no int is
    lost.
    """
    if column.type is not Type.INT or not is_widened(column.type, known.type):
        return column
    is_lost = known.type is Type.FLOAT and not all(map(is_exact, values))
    return column if is_lost else replace(column, type=known.type)


def _values(column: SourceColumn, values: list[Any]) -> list[Any]:
    """The values of a column as its type has them: equal ones are one value."""
    if column.type is Type.ANY and column.kind != "VARCHAR":
        return [term_of(value, column.declared) for value in values]
    if column.only_exact and column.type is Type.INT:
        return [int(v) if v == v // 1 and in_64_bits(v) else None for v in values]
    if column.only_exact:
        return [float(value) if is_exact(value) else None for value in values]
    if column.type is Type.DECIMAL:
        return [fitting(Decimal(value)) for value in values]
    if column.type is Type.FLOAT:
        return [float(value) + 0.0 for value in values]  # 0.0 for -0.0
    return values


_OFFERED = "zodiac_offered_rows"


@contextmanager
def scratch(store: Store, *tables: str) -> Iterator[None]:
    """Drop these temporary tables at the end of the block, also after an error."""
    try:
        yield
    finally:
        for table in tables:
            store.run(exp.Drop(tables=[temp_table(table)], kind="TABLE", exists=True))


def _stage_none(store: Store, known: Predicate) -> Staged:
    """No facts of a predicate whose types are known."""
    nothing = (None,) * known.arity
    table = store.temporary.fresh("staged")
    return Staged(known.name, known.columns, nothing, table, named=False, rows=0, given=())


def staged_explicit(store: Store, known: Predicate) -> Staged:
    """All explicit facts of a predicate that has some."""
    table = store.temporary.fresh("staged")
    explicit = exp.table_(known.sql_name, db=EXPLICIT_SCHEMA, quoted=True)
    store.run(create_temp(table, exp.select(exp.Star()).from_(explicit)))
    return Staged(known.name, known.columns, known.datatypes, table, named=False)


def _stage_true(store: Store, predicate: str) -> Staged:
    """The one fact of a predicate without columns."""
    table = store.temporary.fresh("staged")
    store.run(create_temp(table, exp.select(exp.true().as_("holds", quoted=True))))
    return Staged(predicate, (), (), table, named=False)
