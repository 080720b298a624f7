"""Whether ints are equal to floats, so that their column can become one of floats."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from zodiac_sql.database.statements import temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.language.schema import Staged
from zodiac_sql.language.syntax import Type


def exact_floats(store: Store, given: Iterable[Staged | exp.Select], place: int) -> bool:
    """Whether each int in a column of facts is a float: else two facts might become one.

    Of a query, it is the only column.
    """
    for facts in given:
        if isinstance(facts, exp.Select):
            value, rows = facts.selects[0].alias_or_name, facts.subquery("f", copy=False)
            if not _all_exact(store, exp.column(value, quoted=True), rows):
                return False
        elif facts.columns[place].type is not Type.INT:
            continue
        elif facts.given is not None:
            values = [row[place] for row in facts.given]
            if not all(int(float(v)) == v for v in values if isinstance(v, int)):
                return False
        else:
            value = facts.columns[place].name
            if not _all_exact(store, exp.column(value, quoted=True), temp_table(facts.table)):
                return False
    return True


def _all_exact(store: Store, value: exp.Expr, rows: exp.Expr) -> bool:
    there = exp.cast(exp.cast(value.copy(), "DOUBLE"), "HUGEINT")
    lost = there.neq(exp.cast(value.copy(), "HUGEINT"))
    return not store.rows(exp.select(exp.Literal.number(1)).from_(rows).where(lost).limit(1))
