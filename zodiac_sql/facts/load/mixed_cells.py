"""Says why a column holds terms of several kinds, though most of its cells are of one.

One cell is enough: `n/a` among numbers. A column of names among which some look like numbers is
what it seems to be.
"""

from __future__ import annotations

import re
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


MOST_COUNTED = 10_000
"""So many rows tell what most cells of a column are. To count all would take as long as loading."""

CODE = re.compile("0[0-9]+")
"""A number with zeros before it is a code, and so are those beside it."""


def notes(table: TableFile, typing: Typing) -> Iterator[str]:
    """A note for each column of several kinds most of whose cells are of one family."""
    for column in typing.mixed:
        counts = _counts(table, typing, column)
        family = max(FAMILIES, key=lambda each: counts[each])
        if 2 * counts[family] <= sum(counts.values()):
            continue
        other = _first_other(table, typing, column, FAMILIES[family])
        if other is None:
            yield f"{table.file.path}: column {column} has the type any, because {_TOO_LONG}"
        elif not CODE.fullmatch(other[1]):
            row, text = other
            line = table.lines([row]).get(row)
            place = f"row {row}" if line is None else f"line {line}"
            yield (
                f"{table.file.path}: column {column} has the type any, because {place} has "
                f'"{shortened(text)}", and most others are {family}'
            )


_TOO_LONG = "some of its numbers are no floats: these have 64 bits, about 16 digits"


def _counts(table: TableFile, typing: Typing, column: str) -> dict[str, int]:
    """How many cells are of each family, in the first rows; those of none count as `""`."""
    counts = dict.fromkeys(("", *FAMILIES), 0)
    kind, number = typing.kind(column), exp.Count(this=exp.Star())
    rows = exp.select(kind.as_("kind"), number).from_(temp_table(ROWS))
    rows = rows.where(_is_there(column), _is_early()).group_by("kind")
    for bit, rows_of_kind in table.store.rows(rows):
        counts[next((name for name, kinds in FAMILIES.items() if bit & kinds), "")] += rows_of_kind
    return counts


def _first_other(
    table: TableFile, typing: Typing, column: str, family: int
) -> tuple[int, str] | None:
    """The first row whose cell is not of a family, and the cell, if there is one."""
    cell = exp.column(column, quoted=True)
    bits = [1 << place for place in range(family.bit_length()) if family >> place & 1]
    kind = typing.syntaxes[column].kind_of(cell.copy(), likely=family)
    query = exp.select(exp.column("rowid") + 1, cell.copy()).from_(temp_table(ROWS))
    query = query.where(_is_there(column), kind.isin(*bits).not_()).order_by("rowid").limit(1)
    found = table.store.rows(query.where(_is_early())) or table.store.rows(query)
    return found[0] if found else None


def _is_there(column: str) -> exp.Expr:
    return exp.column(column, quoted=True).is_(exp.null()).not_()


def _is_early() -> exp.Expr:
    return exp.column("rowid") < exp.Literal.number(MOST_COUNTED)
