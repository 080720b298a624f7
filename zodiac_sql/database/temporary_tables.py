"""The temporary tables of a connection: their names, and how large they can be."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class TemporaryTables:
    """Names for temporary tables, and an upper bound for the rows of each.

    A statement that fills one tells how many rows it wrote, and `Store.count` hands every such
    number to `written`. While all numbers are small, nobody has to look for large tables. Looking
    would cost more than the rest of a change of few facts (change/temporary_tables.py).
    """

    bound: int = 0
    total: int = 0
    """How many rows were written since somebody looked."""
    renamings: int = 0
    """How many changes since then have left tables that the next one will not replace."""
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def begin(self) -> None:
        """Begin a change. It uses the same names again, so that texts of statements can be kept."""
        self._numbers = itertools.count(1)

    def fresh(self, stem: str) -> str:
        """A name for a temporary table that no other has in this change."""
        return f"zodiac_{stem}_{next(self._numbers)}"

    def written(self, rows: int) -> None:
        """Note the number of rows that a statement has written."""
        self.bound = max(self.bound, rows)
        self.total += rows

    def looked_through(self, largest_left: int) -> None:
        """Note, after a look at all temporary tables, the rows of the largest one that stays."""
        self.bound, self.total, self.renamings = largest_left, 0, 0
