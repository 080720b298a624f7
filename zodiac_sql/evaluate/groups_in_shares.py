"""Aggregates in shares of their groups, one after the other, where not all of them fit the memory.

DuckDB sorts the floats of each group before it adds them (sql/aggregates.py says why), and takes
half a megabyte for a group of more than 2,000, whatever its limit: 5,000 sensors take 2.5 GB. Nor
does it put the values of a median on the disk. But groups have nothing to do with each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from sqlglot import exp

from zodiac_sql.database.duckdb_errors import OutOfMemoryError
from zodiac_sql.database.statements import create_temp, drop, temp_table, union_all
from zodiac_sql.database.store import Store
from zodiac_sql.language.syntax import Column, Rule
from zodiac_sql.rewrite.forms import grouped
from zodiac_sql.sql.aggregates import PARTS
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Plan
from zodiac_sql.sql.select import compile_rule

SHARES = (8, 64, PARTS)
"""Into so many shares groups are divided, the next time more if a share does not fit."""

TABLE = "zodiac$shares"
"""The temporary table of what the shares have found."""


def divisible(rules: Sequence[Rule]) -> bool:
    """Whether each rule is about groups of one aggregate, or of several over the same solutions."""
    return bool(rules) and all(map(_divisible, rules))


@contextmanager
def found_in_shares(
    store: Store, plans: Sequence[Plan], columns: Sequence[Column], context: Context
) -> Iterator[exp.Select]:
    """The heads of plans, found share by share: a query of a temporary table."""
    for number, shares in enumerate(SHARES):
        try:
            _find(store, plans, columns, context, PARTS // shares)
            break
        except OutOfMemoryError:
            if number + 1 == len(SHARES):
                raise
    yield exp.select(exp.Star()).from_(temp_table(TABLE))
    store.run(drop(TABLE))


def _find(
    store: Store,
    plans: Sequence[Plan],
    columns: Sequence[Column],
    context: Context,
    parts: int,
) -> None:
    """Fill the table, with so many parts of the groups at a time."""
    for first in range(0, PARTS, parts):
        share = replace(context, groups=(first, first + parts))
        heads = union_all([compile_rule(plan, columns, share).query for plan in plans])
        store.run(exp.insert(heads, temp_table(TABLE)) if first else create_temp(TABLE, heads))


def _divisible(rule: Rule) -> bool:
    aggregates = grouped(rule)
    return bool(aggregates) and all(one.group and one.otherwise is None for one in aggregates)
