"""Numbers of an update that become floats, because a later verb of it gives floats.

The explicit facts of the file are looked at when they get their new types (alter.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from decimal import Decimal

from sqlglot import exp

from zodiac_sql.database.statements import temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError
from zodiac_sql.language.schema import Staged
from zodiac_sql.language.syntax import Type
from zodiac_sql.storage.same_values import written_alike


def require_exact_floats(store: Store, given: Iterable[Staged], columns: Collection[str]) -> None:
    """Raise DataError for a number that is written as no float: two facts might become one."""
    for staged in given:
        for place, column in enumerate(staged.columns):
            if column.name not in columns or column.type not in (Type.INT, Type.DECIMAL):
                continue
            held = _in_memory(staged, place) if staged.given else _in_table(store, staged, place)
            if held is not None:
                why = "fraction" if column.type is Type.INT else "float"
                raise DataError(
                    f"{staged.predicate}: column {column.name} becomes float, because there is a "
                    f"{why}, and {held} of the same update cannot become float exactly. "
                    "Nothing was changed."
                )


def _in_memory(staged: Staged, place: int) -> object | None:
    values = (row[place] for row in staged.given or ())
    return next((v for v in values if _is_other(v)), None)


def _is_other(value: object) -> bool:
    """Whether a number is written as no float."""
    if isinstance(value, Decimal):
        return Decimal(repr(float(value))) != value
    return isinstance(value, int) and int(float(value)) != value


def _in_table(store: Store, staged: Staged, place: int) -> object | None:
    value = exp.column(staged.columns[place].name, quoted=True)
    there = exp.cast(exp.cast(value.copy(), "DOUBLE"), "HUGEINT")
    other: exp.Expr = there.neq(exp.cast(value.copy(), "HUGEINT"))
    if staged.columns[place].type is Type.DECIMAL:
        other = exp.not_(written_alike(value, Type.DECIMAL))
    query = exp.select(value).from_(temp_table(staged.table))
    rows = store.rows(query.where(other).limit(1))
    return rows[0][0] if rows else None
