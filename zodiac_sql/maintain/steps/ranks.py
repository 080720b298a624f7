"""Ranks of facts that one statement finds."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from zodiac_sql.database.statements import union_all
from zodiac_sql.maintain.steps.working_table import WorkingTables
from zodiac_sql.names import RANK
from zodiac_sql.sql.relations import table


def numbered(owns: WorkingTables, columns: Sequence[str], query: exp.Query) -> exp.Select:
    """Rows in the order in which they are found, ranked after all that they can be derived from."""
    number: exp.Expr = exp.Window(this=exp.RowNumber())
    there = [part for own in owns.values() for part in (own.base, own.united, own.added) if part]
    if there:
        rank = exp.column(RANK, quoted=True)
        ranks = union_all([exp.select(rank.copy()).from_(table(part)) for part in there])
        highest = exp.select(exp.Max(this=rank.copy())).from_(ranks.subquery("r", copy=False))
        number = (
            exp.Coalesce(this=highest.subquery(copy=False), expressions=[exp.Literal.number(0)])
            + number
        )
    names = [exp.column(name, quoted=True) for name in columns]
    return exp.select(*names, number.as_(RANK, quoted=True)).from_(query.subquery("q", copy=False))
