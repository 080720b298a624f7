"""Rows of many predicates in one table, which a tag tells apart.

Each column of such a table holds values of one type, so a predicate's first column is in the same
one as that of another predicate only if both have the same type. The other columns are NULL, or
always the same if they are part of a key: no row would have the key of another, where NULL is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES, TEXT_TYPES
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.names import RANK, ROUND, TAG
from zodiac_sql.sql.relations import Part, Picked, Reading


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of such a table, and what each predicate has of it."""

    types: Mapping[str, str]
    """The columns besides the tag, with their SQL types."""
    picked: Mapping[str, Picked]
    key: tuple[str, ...] = ()
    """The columns that tell rows apart in a recursion with a key; it also has the tag."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns."""
        return TAG, *self.types

    def put(self, name: str, rows: exp.Query) -> exp.Select:
        """Rows of a predicate, as rows of the table."""
        picked = self.picked[name]
        there = {column: own for own, column in picked.columns}
        query = exp.select(exp.Literal.number(picked.tag).as_(TAG, quoted=True))
        for column, type_ in self.types.items():
            nothing = _ALWAYS[type_] if column in self.key else exp.null()
            value: exp.Expr = exp.cast(nothing, type_)
            if column in there:
                value = exp.column(there[column], table="t", quoted=True)
            query = query.select(value.as_(column, quoted=True), copy=False)
        return query.from_(rows.subquery("t", copy=False), copy=False)

    def part(self, name: str, table: str, schema: str = "temp", ranked: bool = False) -> Part:
        """The rows of a predicate in such a table, `ranked` if that has a column of ranks."""
        picked = self.picked[name]
        if ranked and RANK not in dict(picked.columns):
            picked = replace(picked, columns=(*picked.columns, (RANK, RANK)))
        return Part(schema, table, 1, ranked, Reading(picked=picked))

    def put_counter(self, number: exp.Expr) -> exp.Select:
        """The row that counts rounds, if there is a column for it. Its tag is that of no predicate.

        Whoever calls this says where the number is from.
        """
        query = exp.select(exp.Literal.number(0).as_(TAG, quoted=True))
        for column, type_ in self.types.items():
            value = number if column == ROUND else exp.cast(exp.null(), type_)
            query = query.select(value.as_(column, quoted=True), copy=False)
        return query


def layout_of(
    names: Mapping[str, Sequence[tuple[str, str]]], counts_rounds: bool = False
) -> Layout:
    """A layout for predicates with these columns, each with its SQL type. It may have a column of
    the row that counts rounds (counted_rounds.py).
    """
    layout = _laid_out(names, {}, is_key=False)
    return replace(layout, types={**layout.types, ROUND: "BIGINT"}) if counts_rounds else layout


def layout_by_key(
    names: Mapping[str, Sequence[tuple[str, str]]], values: Mapping[str, str] | None = None
) -> Layout:
    """The same with a key: all columns but those of the `values` of some predicates."""
    return _laid_out(names, values or {}, is_key=True)


def _laid_out(
    names: Mapping[str, Sequence[tuple[str, str]]], values: Mapping[str, str], is_key: bool
) -> Layout:
    types: dict[str, str] = {}
    picked, key = {}, dict[str, None]()
    for tag, (name, columns) in enumerate(names.items(), 1):
        own = []
        for place, (column, type_) in enumerate(columns):
            there = f"{type_} value" if values.get(name) == column else f"{type_} {place}"
            own.append((column, there))
            types[there] = type_
            if is_key and values.get(name) != column:
                key[there] = None
        picked[name] = Picked(tag, tuple(own))
    return Layout(types, picked, (TAG, *key) if is_key else ())


_ALWAYS: Mapping[str, exp.Expr] = {
    "INTEGER": exp.Literal.number(0),
    "BIGINT": exp.Literal.number(0),
    "DECIMAL(38,18)": exp.Literal.number(0),
    "DOUBLE": exp.Literal.number(0),
    "BOOLEAN": exp.false(),
    "DATE": exp.Literal.string("1970-01-01"),
    "TIMESTAMP": exp.Literal.string("1970-01-01"),
    "VARCHAR": exp.Literal.string(""),
}
"""What stands in the columns of a key that a predicate does not have."""


def typed(
    columns: Sequence[Column], *, ranked: bool = False, spelled: bool = False
) -> list[tuple[str, str]]:
    """Columns of a table with their SQL types, and that of ranks if it has one. Symbols are ids,
    or, if they are `spelled`, texts.
    """
    types = TEXT_TYPES if spelled else SQL_TYPES
    found = [(column.name, types[column.type or Type.SYMBOL]) for column in columns]
    return [*found, (RANK, "BIGINT")] if ranked else found
