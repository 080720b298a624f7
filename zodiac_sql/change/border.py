"""Borders in time: what is at a border, or before it, is over.

All times are microseconds since 1970, in UTC. A moment without a zone counts as one in UTC, a day
as its midnight, and a number as seconds since 1970.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from sqlglot import exp

from zodiac_sql.change.clock import FIRST, LAST, micros_of, moment_of
from zodiac_sql.change.staged_rows import parameters_of, staged_query
from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.statements import parameter
from zodiac_sql.database.store import Store
from zodiac_sql.language.schema import Predicate, Staged
from zodiac_sql.language.syntax import Type
from zodiac_sql.sql.relations import Relation, columns_of

_SECOND = 1_000_000
_EARLIEST = {Type.TIMESTAMP: datetime.datetime.min, Type.DATE: datetime.date.min}
_LATEST = {Type.TIMESTAMP: datetime.datetime.max, Type.DATE: datetime.date.max}
"""Moments that are earlier or later are no times: they are infinite."""


@dataclass(frozen=True, slots=True)
class Border:
    """The last time that is over, in the column at some place."""

    place: int
    micros: int

    def value(self, type_: Type) -> object:
        """The greatest value of a type that is over."""
        if type_ in _EARLIEST:
            moment = moment_of(min(max(self.micros, FIRST), LAST))
            return moment if type_ is Type.TIMESTAMP else moment.date()
        if type_ is Type.INT:
            return self.micros // _SECOND
        return self.micros / _SECOND if type_ is Type.FLOAT else Decimal(self.micros) / _SECOND

    @property
    def is_reached(self) -> bool:
        """Whether a moment can be so early."""
        return self.micros >= FIRST

    def is_over(self, known: Predicate, alias: str) -> exp.Expr:
        """Whether the fact of a row is over. It has the `parameters` of the same predicate."""
        column, type_ = _time(known, self.place, alias)
        test: exp.Expr = exp.LTE(this=column, expression=_given("border", type_))
        if type_ in _EARLIEST:
            first = exp.GTE(this=column.copy(), expression=_given("earliest", type_))
            test = exp.and_(first, test, copy=False)
        return test

    def parameters(self, known: Predicate) -> dict[str, object]:
        """The parameters of `is_over`."""
        type_ = known.columns[self.place].type
        assert type_ is not None
        first = {"earliest": _EARLIEST[type_]} if type_ in _EARLIEST else {}
        return {"border": self.value(type_), **first}


def _time(known: Predicate, place: int, alias: str) -> tuple[exp.Column, Type]:
    relation = Relation(known.columns, ())
    type_ = known.columns[place].type
    assert type_ is not None
    return columns_of(relation, alias)[place], type_


def _given(name: str, type_: Type) -> exp.Expr:
    return exp.cast(parameter(name), SQL_TYPES[type_])


def latest(store: Store, known: Predicate, staged: Staged, place: int) -> int | None:
    """The latest time of staged facts; None if they have none."""
    if staged.given is not None:
        return max_of(row[place] for row in staged.given)
    rows = staged_query(known, [staged]).subquery("c", copy=False)
    return latest_in(store, known, place, rows, parameters_of([staged]))


def latest_in(
    store: Store, known: Predicate, place: int, rows: exp.Expr, given: dict[str, object] | None
) -> int | None:
    """The latest time in some rows that are called c."""
    column, type_ = _time(known, place, "c")
    query = exp.select(exp.Max(this=column.copy())).from_(rows)
    bounds: dict[str, object] = {}
    if type_ in _LATEST:
        query = query.where(exp.LTE(this=column, expression=_given("last_time", type_)), copy=False)
        bounds = {"last_time": _LATEST[type_]}
    elif type_ is Type.FLOAT:
        query = query.where(exp.not_(exp.IsNan(this=column)), copy=False)
    ((found,),) = store.rows(query, {**(given or {}), **bounds} or None)
    return max_of([] if found is None else [found])


def max_of(values: Iterable[object]) -> int | None:
    """The latest of some times; None if there is none."""
    return max((time for value in values if (time := micros_in(value)) is not None), default=None)


def micros_in(value: object) -> int | None:
    """The time that a value of a column stands for; None if it stands for none."""
    if isinstance(value, datetime.date):
        return micros_of(value)
    assert isinstance(value, int | float | Decimal)
    if math.isnan(value):
        return None
    if math.isinf(value):
        return LAST if value > 0 else FIRST
    return min(max(int(Decimal(value) * _SECOND // 1), FIRST), LAST)
