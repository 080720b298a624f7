"""Rows of many predicates in one table, which a tag tells apart.

Each column of such a table holds values of one type, so a predicate's first column is in the same
one as that of another predicate only if both have the same type. The other columns are NULL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.names import RANK, TAG
from zodiac_sql.sql.relations import Picked


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of such a table, and what each predicate has of it."""

    types: Mapping[str, str]
    """The columns besides the tag, with their SQL types."""
    picked: Mapping[str, Picked]

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
            value: exp.Expr = exp.cast(exp.null(), type_)
            if column in there:
                value = exp.column(there[column], table="t", quoted=True)
            query = query.select(value.as_(column, quoted=True), copy=False)
        return query.from_(rows.subquery("t", copy=False), copy=False)


def layout_of(names: Mapping[str, Sequence[tuple[str, str]]]) -> Layout:
    """A layout for predicates with these columns, each with its SQL type."""
    types: dict[str, str] = {}
    picked = {}
    for tag, (name, columns) in enumerate(names.items(), 1):
        own = [(column, f"{type_} {place}", type_) for place, (column, type_) in enumerate(columns)]
        types.update({column: type_ for _, column, type_ in own})
        picked[name] = Picked(tag, tuple((column, there) for column, there, _ in own))
    return Layout(types, picked)


def typed(columns: Sequence[Column], ranked: bool) -> list[tuple[str, str]]:
    """Columns of a table with their SQL types, and that of ranks if it has one."""
    found = [(column.name, SQL_TYPES[column.type or Type.SYMBOL]) for column in columns]
    return [*found, (RANK, "BIGINT")] if ranked else found
