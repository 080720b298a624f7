"""Ints of an update that become floats, because a later verb of it gives fractions.

The explicit facts of the file are looked at when they get their new types (alter.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sqlglot import exp

from zodiac_sql.database.statements import temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError
from zodiac_sql.language.schema import Staged
from zodiac_sql.language.syntax import Type


def require_exact_floats(store: Store, given: Iterable[Staged], columns: Collection[str]) -> None:
    """Raise DataError for an int that no float equals: two facts might become one."""
    for staged in given:
        for place, column in enumerate(staged.columns):
            if column.name not in columns or column.type is not Type.INT:
                continue
            held = _in_memory(staged, place) if staged.given else _in_table(store, staged, place)
            if held is not None:
                raise DataError(
                    f"{staged.predicate}: column {column.name} becomes float, because there is a "
                    f"fraction, and {held} of the same update cannot become float exactly. "
                    "Nothing was changed."
                )


def _in_memory(staged: Staged, place: int) -> object | None:
    values = (row[place] for row in staged.given or ())
    return next((v for v in values if isinstance(v, int) and int(float(v)) != v), None)


def _in_table(store: Store, staged: Staged, place: int) -> object | None:
    value = exp.column(staged.columns[place].name, quoted=True)
    there = exp.cast(exp.cast(value.copy(), "DOUBLE"), "HUGEINT")
    query = exp.select(value).from_(temp_table(staged.table))
    rows = store.rows(query.where(there.neq(exp.cast(value.copy(), "HUGEINT"))).limit(1))
    return rows[0][0] if rows else None
