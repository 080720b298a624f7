"""Whether numbers are equal to floats, so that their column can become one of floats."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.statements import temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.language.schema import Staged
from zodiac_sql.language.syntax import Type


def exact_floats(store: Store, given: Iterable[Staged | exp.Select], place: int) -> bool:
    """Whether each int or decimal in a column of facts is a float: else two facts might become one.

    Of a query, it is the only column.
    """
    for facts in given:
        if isinstance(facts, exp.Select):
            value, rows = facts.selects[0].alias_or_name, facts.subquery("f", copy=False)
            if not _all_exact(store, exp.column(value, quoted=True), rows):
                return False
        elif facts.columns[place].type not in (Type.INT, Type.DECIMAL):
            continue
        elif facts.given is not None:
            if not all(_is_exact(row[place]) for row in facts.given):
                return False
        else:
            value = facts.columns[place].name
            if not _all_exact(store, exp.column(value, quoted=True), temp_table(facts.table)):
                return False
    return True


def _is_exact(value: object) -> bool:
    """Whether a number is written as a float."""
    if isinstance(value, Decimal):
        return Decimal(repr(float(value))) == value
    return not isinstance(value, int) or int(float(value)) == value


def _all_exact(store: Store, value: exp.Expr, rows: exp.Expr) -> bool:
    decimal = exp.DataType.build(SQL_TYPES[Type.DECIMAL], dialect="duckdb")
    double = exp.cast(exp.cast(value.copy(), "VARCHAR"), "DOUBLE")
    there = exp.TryCast(this=exp.cast(double, "VARCHAR"), to=decimal)
    same = there.eq(exp.Cast(this=value.copy(), to=decimal.copy()))
    lost = exp.not_(exp.func("coalesce", same, exp.false()))
    return not store.rows(exp.select(exp.Literal.number(1)).from_(rows).where(lost).limit(1))
