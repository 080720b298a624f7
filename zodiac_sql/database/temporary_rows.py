"""How large the temporary tables of a connection can be, without asking DuckDB."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class TemporaryRows:
    """An upper bound for the rows of each temporary table.

    A statement that fills one tells how many rows it wrote, and `Store.count` hands every such
    number to `written`. While all numbers are small, nobody has to look for large tables. Looking
    would cost more than the rest of a change of few facts (change/temporary_tables.py).
    """

    bound: int = 0
    total: int = 0
    """How many rows were written since somebody looked."""
    renamings: int = 0
    """How many changes since then have left tables that the next one will not replace."""

    def written(self, rows: int) -> None:
        """Note the number of rows that a statement has written."""
        self.bound = max(self.bound, rows)
        self.total += rows

    def looked_through(self, largest_left: int) -> None:
        """Note, after a look at all temporary tables, the rows of the largest one that stays."""
        self.bound, self.total, self.renamings = largest_left, 0, 0
