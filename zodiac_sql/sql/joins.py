"""The FROM and WHERE of one SELECT, while a body is turned into it item by item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from zodiac_sql.database.statements import joining


@dataclass(slots=True)
class Joins:
    """A SELECT that still lacks its columns.

    Conditions of WHERE are put there together: one by one, each would nest the others deeper.
    """

    query: exp.Select = field(default_factory=exp.select)
    _conditions: list[exp.Expr] = field(default_factory=list)
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
        if self._empty and kind:
            nothing = exp.select(exp.Literal.number(1).as_("one")).subquery(self.alias("o"))
            self.query = self.query.from_(nothing, copy=False)
            self._empty = False
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
        self._empty = False
        return alias
