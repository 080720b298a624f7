"""Tables that people see: in boxes in a terminal, and as HTML in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

Rows = Sequence[Sequence[object]]

Table = tuple[Sequence[str], Rows]
"""The names of the columns, and the rows."""

ROWS_SHOWN = 20
"""So many rows of a table are shown; the others are only counted."""


def boxed(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as a terminal shows it."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table()
    for name in names:
        shown.add_column(Text(name), overflow="fold")
    for row in rows:
        shown.add_row(*(Text(cell(value)) for value in row))
    console = Console(highlight=False)
    with console.capture() as capture:
        console.print(shown)
    return capture.get().rstrip()


def html_table(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as a notebook shows it."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell(value))}</td>" for value in row) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def first_boxed(tables: Iterable[Table]) -> str:
    """Several tables, one below the other: the first rows of each."""
    return "\n".join(
        "\n".join([boxed(names, rows[:ROWS_SHOWN]), *_others(rows)]) for names, rows in tables
    )


def first_as_html(tables: Iterable[Table]) -> str:
    """The same as a notebook shows it."""
    return "".join(
        html_table(names, rows[:ROWS_SHOWN]) + "".join(f"<p>{more}</p>" for more in _others(rows))
        for names, rows in tables
    )


def _others(rows: Rows) -> list[str]:
    """What is said of the rows that are not shown."""
    return [f"{len(rows) - ROWS_SHOWN:,} more"] if len(rows) > ROWS_SHOWN else []


def cell(value: object) -> str:
    """A value as a table shows it. What is not known is empty."""
    if isinstance(value, list):
        return ", ".join(map(cell, value))
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def number(value: int | None) -> str:
    """A number with its thousands apart."""
    return "" if value is None else f"{value:,}"


def milliseconds(seconds: float | None) -> str:
    """A time to a tenth of a millisecond; of less than one, to a microsecond."""
    if seconds is None:
        return ""
    return f"{1000 * seconds:,.1f}" if seconds >= 0.001 else f"{1000 * seconds:.3f}"
