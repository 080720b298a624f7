"""Mixed columns of a scan, read as native values."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.dictionary import KNOWN
from zodiac_sql.database.known_symbols import KNOWN_VALUES
from zodiac_sql.database.statements import temp_table
from zodiac_sql.facts.native_text import datatype_of, literal_text
from zodiac_sql.language.syntax import Type
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.terms import native, parts_of_symbol, parts_of_text


def native_name(column: str) -> str:
    """The name of the native values of a mixed column, which no user can give to a column."""
    return f"zodiac$value of {column}"


def with_native(
    context: Context,
    item: exp.Expr,
    alias: str,
    read: Mapping[str, Type],
    exactly: Mapping[str, str | None] | None = None,
) -> exp.Expr:
    """An item of FROM, with the native values of some mixed columns beside its own columns.

    Its rows are those whose terms have such values. If they are read `exactly`, terms must be the
    literals of some datatypes that a rule makes of the values: 5 is not "5.0"^^xsd:decimal then.
    """
    if not read:
        return item
    query = exp.select(exp.Column(this=exp.Star(), table=exp.to_identifier(alias)))
    query = query.from_(item, copy=False)
    for place, (column, type_) in enumerate(read.items()):
        shown: exp.Expr = exp.column(column, table=alias, quoted=True)
        parts = parts_of_text(shown) if context.spelled else parts_of_symbol(f"w{place}")
        if not context.spelled:
            query = _with_rows(query, KNOWN_VALUES, f"w{place}", shown)
        if exactly is not None and not context.spelled:
            query = _with_rows(query, KNOWN, f"s{place}", shown)
            shown = exp.column("text", table=f"s{place}")
        value = context.left(native(parts, type_), SQL_TYPES[type_])
        query = query.select(value.as_(native_name(column), quoted=True), copy=False)
        if exactly is not None:
            written = literal_text(value.copy(), type_, datatype_of(type_, exactly[column]))
            query = query.where(shown.copy().eq(context.left(written, "TEXT")), copy=False)
    return query.subquery(alias, copy=False)


def _with_rows(query: exp.Select, name: str, alias: str, id_: exp.Expr) -> exp.Select:
    """A query joined with what a temporary view has of symbols."""
    same = exp.column("id", table=alias).eq(id_.copy())
    return query.join(temp_table(name).as_(alias), on=same, copy=False)
