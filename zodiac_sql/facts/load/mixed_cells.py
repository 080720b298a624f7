"""Says why a column of CSV has become one of texts, though most of its cells are values.

One cell that is none is enough: `n/a` among numbers. Rules then compare texts by their letters, 100
before 35 before 9. A column of names among which some look like numbers is what it seems to be.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from zodiac_sql.database.statements import temp_table
from zodiac_sql.errors import shortened
from zodiac_sql.facts.load import cells
from zodiac_sql.facts.load.infer_types import Typing
from zodiac_sql.facts.load.table_file import ROWS, TableFile

FAMILIES = {
    "numbers": cells.INT | cells.LONG | cells.BIG | cells.FLOAT | cells.ROUNDED,
    "true or false": cells.BOOL,
    "dates": cells.DATE,
    "times": cells.LOCAL | cells.FINE,
    "times with a zone": cells.ZONED,
}
"""Kinds of cells that make a native column if all cells are of them."""


def notes(table: TableFile, typing: Typing) -> Iterator[str]:
    """A note for each column of texts most of whose cells are of one family."""
    for column in typing.mixed:
        counts = _counts(table, typing, column)
        family = max(FAMILIES, key=lambda each: counts[each])
        if 2 * counts[family] > sum(counts.values()):
            row, text = _first_other(table, typing, column, FAMILIES[family])
            line = table.lines([row]).get(row)
            place = f"row {row}" if line is None else f"line {line}"
            yield (
                f"{table.file.path}: column {column} is kept as text, because {place} has "
                f'"{shortened(text)}", and most others are {family}. Rules compare texts by their '
                "letters."
            )


def _counts(table: TableFile, typing: Typing, column: str) -> dict[str, int]:
    """How many cells are of each family; those of none count as `""`."""
    counts = dict.fromkeys(("", *FAMILIES), 0)
    kind, number = typing.kind(column), exp.Count(this=exp.Star())
    there = exp.column(column, quoted=True).is_(exp.null()).not_()
    rows = (
        exp.select(kind.as_("kind"), number).from_(temp_table(ROWS)).where(there).group_by("kind")
    )
    for bit, rows_of_kind in table.store.rows(rows):
        counts[next((name for name, kinds in FAMILIES.items() if bit & kinds), "")] += rows_of_kind
    return counts


def _first_other(table: TableFile, typing: Typing, column: str, kinds: int) -> tuple[int, str]:
    """The first row whose cell is not of these kinds, and the cell."""
    cell = exp.column(column, quoted=True)
    bits = [1 << place for place in range(kinds.bit_length()) if kinds >> place & 1]
    other = exp.and_(cell.is_(exp.null()).not_(), typing.kind(column).isin(*bits).not_())
    query = exp.select(exp.column("rowid") + 1, cell.copy()).from_(temp_table(ROWS)).where(other)
    ((row, text),) = table.store.rows(query.order_by("rowid").limit(1))
    return row, text
