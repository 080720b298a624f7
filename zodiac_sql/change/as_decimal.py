"""Values of columns that become decimals, and decimals that become something else."""

from __future__ import annotations

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.statements import decimal_text
from zodiac_sql.language.syntax import Type
from zodiac_sql.sql.decimals import WRITTEN
from zodiac_sql.storage.same_values import written_alike

_DECIMAL = exp.DataType.build(SQL_TYPES[Type.DECIMAL], dialect="duckdb")


def converted(value: exp.Expr, old: Type | None, new: Type | None) -> exp.Expr | None:
    """A value that becomes a decimal, or a decimal that becomes a text; None for all else.

    A float becomes the number as which it is written. It is NULL if it has no room.
    """
    if new is Type.DECIMAL and old in (Type.FLOAT, Type.SYMBOL):
        return _read(exp.cast(value, "VARCHAR"))
    return decimal_text(value) if (old, new) == (Type.DECIMAL, Type.SYMBOL) else None


def is_exact(value: exp.Expr, old: Type | None, new: Type | None) -> exp.Expr | None:
    """Whether a value becomes another one that is equal; None if this is not about decimals."""
    if {old, new} == {Type.DECIMAL, Type.FLOAT}:
        return written_alike(value, old)
    if (old, new) == (Type.SYMBOL, Type.DECIMAL):
        pattern = exp.Literal.string(WRITTEN)
        written = exp.Anonymous(this="regexp_full_match", expressions=[value.copy(), pattern])
        return exp.and_(written, _read(value).is_(exp.null()).not_())
    return None


def _read(text: exp.Expr) -> exp.Expr:
    return exp.TryCast(this=text.copy(), to=_DECIMAL.copy())
