"""The FROM and WHERE of one SELECT, while a body is turned into it item by item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from zodiac_sql.database.statements import joining


@dataclass(slots=True)
class Joins:
    """A SELECT that still lacks its columns.

    Conditions of WHERE are put there together: one by one, each would nest the others deeper. A
    left join waits for the item that it looks something up for, if conditions of that ask for it.
    """

    query: exp.Select = field(default_factory=exp.select)
    _conditions: list[exp.Expr] = field(default_factory=list)
    _waiting: list[tuple[exp.Expr, Sequence[exp.Expr]]] = field(default_factory=list)
    _there: set[str] = field(default_factory=set)
    _aliases: int = 0
    _empty: bool = True

    def alias(self, letter: str) -> str:
        """A new alias that begins with a letter."""
        self._aliases += 1
        return f"{letter}{self._aliases}"

    def join(self, item: exp.Expr, conditions: Sequence[exp.Expr], kind: str = "") -> None:
        """Add an item to FROM.

        A join of some `kind`, such as a left join, needs a row on its left: if FROM is still empty,
        a row without values is put there.
        """
        if kind == "LEFT" and not _tables(conditions) <= self._there | {item.alias}:
            self._waiting.append((item, conditions))
            return
        if self._empty and kind:
            nothing = exp.select(exp.Literal.number(1).as_("one")).subquery(self.alias("o"))
            self.query = self.query.from_(nothing, copy=False)
            self._empty = False
        if self._waiting and not kind:
            waiting = {one.alias for one, _ in self._waiting}
            self._conditions += [one for one in conditions if _tables([one]) & waiting]
            conditions = [one for one in conditions if not _tables([one]) & waiting]
        if self._empty:
            self.query = self.query.from_(item, copy=False)
            self._conditions += conditions
            self.restrict()
            self._empty = False
        elif conditions:
            on = exp.and_(*conditions, copy=False)
            self.query = self.query.join(joining(item, kind), on=on, copy=False)
        else:
            self.query = self.query.join(joining(item, kind or "CROSS"), copy=False)
        self._there.add(item.alias)
        for found, same in self._waiting:
            self._there.add(found.alias)
            self.query = self.query.join(joining(found, "LEFT"), on=exp.and_(*same), copy=False)
        self._waiting = []

    def where(self, *conditions: exp.Expr) -> None:
        """Conditions that all rows must meet, from the next `restrict` on."""
        self._conditions += conditions

    def restrict(self) -> None:
        """Put the conditions found so far into WHERE."""
        if self._conditions:
            self.query = self.query.where(*self._conditions, copy=False)
            self._conditions = []

    def close(self, columns: Sequence[exp.Expr]) -> str:
        """Turn the SELECT so far into a subquery with some columns, and return its alias."""
        self.restrict()
        inner = self.query.select(*columns, copy=False)
        alias = self.alias("b")
        self.query = exp.select().from_(inner.subquery(alias, copy=False), copy=False)
        self._empty, self._there = False, {alias}
        return alias


def _tables(conditions: Sequence[exp.Expr]) -> set[str]:
    """The tables whose columns stand in conditions, by their aliases."""
    return {column.table for one in conditions for column in one.find_all(exp.Column)}
