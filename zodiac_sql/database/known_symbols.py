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
from zodiac_sql.database.term_values import EXACT_TYPE, value_of_term

KNOWN_SYMBOLS = "zodiac$known_symbol"
"""Temporary view of every symbol, published and new (dictionary.py)."""

KNOWN_VALUES = "zodiac$known_value"
"""Temporary view of the values of all symbols that have one, published and new."""

Statement = tuple[str, list[list[object]]]
"""The text of a statement, and its parameters."""


@dataclass(slots=True)
class KnownSymbols:
    """The symbols of a store, as far as they are known."""

    few: dict[str, int] = field(default_factory=dict)
    """New symbols in memory, and their ids."""
    in_table: bool = False
    """Whether the temporary table may have new symbols."""
    has_values: bool = False
    """Whether the temporary table of their values may have some."""
    last: int | None = None
    """The last id in the file, if known."""
    remembered: Remembered = field(default_factory=Remembered)

    @property
    def wait(self) -> bool:
        """Whether there are symbols to be published."""
        return self.in_table or bool(self.few)

    def enter_table(self, run: Callable[[str, list[list[object]]], object]) -> None:
        """Put those that are in memory into the table."""
        self.in_table = self.has_values = True
        for statement, parameters in entering(NEW_TABLES, self.few):
            run(statement, parameters)
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


@dataclass(frozen=True, slots=True)
class DictionaryTables:
    """The two tables of a dictionary: of symbols, and of the values of some."""

    symbols: str
    values: str


NEW_TABLES = DictionaryTables('temp."zodiac$new_symbol"', 'temp."zodiac$new_value"')
PUBLISHED_TABLES = DictionaryTables("zodiac.symbol", "zodiac.symbol_value")


def entering(tables: DictionaryTables, symbols: Mapping[str, int]) -> list[Statement]:
    """The statements that put symbols into tables.

    Their values are read here: to plan the statement that reads those of many takes 8 ms.
    """
    columns: list[list[object]] = [[*symbols.values()], [*symbols]]
    statements = [(_ENTER.format(table=tables.symbols), columns)]
    found = ((number, value_of_term(text)) for text, number in symbols.items())
    if rows := [(number, *value) for number, value in found if value]:
        values = [list(column) for column in zip(*rows, strict=True)]
        statements.append((_ENTER_VALUES.format(table=tables.values), values))
    return statements


_ENTER = (
    "INSERT INTO {table} SELECT id, zodiac.kind(text), text"
    " FROM (SELECT unnest($1) AS id, unnest($2) AS text) AS t"
)
_ENTER_VALUES = (
    "INSERT INTO {table} SELECT unnest($1::INTEGER[]), unnest($2::TINYINT[]),"
    f" unnest($3::{EXACT_TYPE}[]), unnest($4::DOUBLE[]), unnest($5::TIMESTAMP[]),"
    " unnest($6::BOOLEAN[])"
)
