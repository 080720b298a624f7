"""What a store knows of symbols without asking: those in the file, and those that are new.

A new symbol is in one of these states:

in memory    no table has it yet (`few`). So it is as long as a change has only a few.
in a table   it is, or may be, in a temporary table (`in_table`), as are all that come after it.
published    it is in the file, and some are remembered (remembered.py).
forgotten    the change that brought it will not be published. Its id is given to another one.

It is noted that symbols are in the table before the statement that puts them there: an
interruption may come right after that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from zodiac_sql.database.remembered import Remembered
from zodiac_sql.database.term_values import EXACT_TYPE, NO_VALUES, VALUE_COLUMNS, value_of_term

KNOWN_SYMBOLS = "zodiac$known_symbol"
"""Temporary view of every symbol, published and new (dictionary.py)."""


@dataclass(slots=True)
class KnownSymbols:
    """The symbols of a store, as far as they are known."""

    few: dict[str, int] = field(default_factory=dict)
    """New symbols in memory, and their ids."""
    in_table: bool = False
    """Whether the temporary table may have new symbols."""
    last: int | None = None
    """The last id in the file, if known."""
    remembered: Remembered = field(default_factory=Remembered)

    @property
    def wait(self) -> bool:
        """Whether there are symbols to be published."""
        return self.in_table or bool(self.few)

    def enter_table(self, run: Callable[[str, list[list[object]]], object]) -> None:
        """Put those that are in memory into the table."""
        self.in_table = True
        run(*entering('temp."zodiac$new_symbol"', self.few))
        self.few.clear()

    def enter_file(self) -> None:
        """Note that all new symbols are published. They can still be in the table."""
        before = self.last
        is_known = before is not None and not self.in_table
        self.last = max(self.few.values(), default=before) if is_known else None
        self.remembered.add(self.few)
        if self.remembered.all_to == before:
            self.remembered.all_to = self.last

    def remembers_all(self) -> bool:
        """Whether all symbols in the file are remembered, if `last` is still the last one."""
        return self.last is not None and self.last == self.remembered.all_to


def entering(table: str, symbols: Mapping[str, int]) -> tuple[str, list[list[object]]]:
    """The statement that puts symbols into a table, and its parameters.

    Their values are read here: to plan the statement that reads those of many takes 8 ms.
    """
    columns: list[list[object]] = [[*symbols.values()], [*symbols]]
    values = [value_of_term(text) for text in symbols]
    if not any(values):
        return _ENTER.format(table=table), columns
    there = [value or _NOTHING for value in values]
    return _ENTER_WITH_VALUES.format(table=table), [*columns, *map(list, zip(*there, strict=True))]


_NOTHING = (None,) * len(VALUE_COLUMNS)

_ENTER = (
    f"INSERT INTO {{table}} SELECT id, zodiac.kind(text), text, {NO_VALUES}"
    " FROM (SELECT unnest($1) AS id, unnest($2) AS text) AS t"
)
_ENTER_WITH_VALUES = (
    f"INSERT INTO {{table}} SELECT id, zodiac.kind(text), text, {', '.join(VALUE_COLUMNS)} FROM"
    " (SELECT unnest($1) AS id, unnest($2) AS text, unnest($3::TINYINT[]) AS sort,"
    f" unnest($4::{EXACT_TYPE}[]) AS exact, unnest($5::DOUBLE[]) AS number,"
    " unnest($6::TIMESTAMP[]) AS moment, unnest($7::BOOLEAN[]) AS truth) AS t"
)
