"""How large the temporary tables of a connection can be, without asking DuckDB."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class TemporaryRows:
    """An upper bound for the rows of each temporary table.

    A statement that fills one tells how many rows it wrote, and `Store.count` hands every such
    number to `written`. While all of them are small, nobody has to look for large tables, which
    would cost a change of few facts more than the rest of it (change/temporary_tables.py).
    """

    bound: int = 0

    def written(self, rows: int) -> None:
        """A statement has told this number of rows."""
        self.bound = max(self.bound, rows)

    def looked_through(self, largest_left: int) -> None:
        """Somebody has looked at all temporary tables: the largest that stays has so many rows."""
        self.bound = largest_left
