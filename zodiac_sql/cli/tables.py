"""Tables: aligned columns without boxes, which fit a terminal and are whole in a file or pipe."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import chain, islice, zip_longest
from typing import Any

from zodiac_sql.cli.terminal import output, terminal_width
from zodiac_sql.facts.printed_values import as_text, printable
from zodiac_sql.language.prefixed import prefixed_iri

_ROWS_MEASURED = 1000
"""A table takes its column widths from this many rows, since there may be any number."""

_NARROWEST = 10
"""No column becomes narrower than this to fit a terminal."""

_GAP = "  "


def print_table(
    names: Sequence[str],
    rows: Iterable[Sequence[Any]],
    prefixes: Mapping[str, str] | None = None,
) -> None:
    """Print aligned columns, numbers to the right.

    On a terminal, IRIs are written with the prefixes, and what is too long goes on below itself.
    """
    from rich.cells import cell_len

    terminal = terminal_width()
    shortened = prefixes if terminal and prefixes else {}
    following = iter(rows)
    first = list(islice(following, _ROWS_MEASURED))
    right = [bool(first) and all(_is_number(row[i]) for row in first) for i in range(len(names))]
    head = [printable(name) for name in names]
    shown = [head, *(_shown(row, shortened) for row in first)]
    widths = [max(map(cell_len, column)) for column in zip(*shown, strict=True)]
    if terminal:
        widths = _fitted(widths, terminal - len(_GAP) * (len(widths) - 1))

    def print_row(cells: Sequence[str]) -> None:
        for line in _lines(cells, widths, fold=bool(terminal)):
            padded = []
            for cell, width, is_right in zip(line, widths, right, strict=True):
                space = " " * (width - cell_len(cell))
                padded.append(space + cell if is_right else cell + space)
            output().write(_GAP.join(padded).rstrip() + "\n")

    print_row(head)
    output().write(_GAP.join("-" * width for width in widths) + "\n")
    for row in chain(first, following):
        print_row(_shown(row, shortened))


def _shown(row: Sequence[Any], prefixes: Mapping[str, str]) -> list[str]:
    return [printable(short_text(value, prefixes)) for value in row]


def short_text(value: Any, prefixes: Mapping[str, str]) -> str:
    """A value as text, IRIs with prefixes: also those in a list, or in "tc(..)" there."""
    if isinstance(value, str):
        inside = _OF_ONE.fullmatch(value) if prefixes else None
        if inside is None:
            return prefixed_iri(value, prefixes)
        return f"{inside[1]}({prefixed_iri(inside[2], prefixes)})"
    if isinstance(value, list) and all(isinstance(inner, str) for inner in value):
        return ", ".join(short_text(inner, prefixes) for inner in value)
    return as_text(value)


_OF_ONE = re.compile(r"(\w+)\(([^\s()]+)\)")
"""A module at work, as "tc(path)"."""


def _fitted(widths: Sequence[int], most: int) -> list[int]:
    """Widths of columns that take no more than so much, if that can be: the widest give way."""
    fitted = list(widths)
    while (excess := sum(fitted) - most) > 0:
        widest = max(fitted)
        if widest <= _NARROWEST:
            break
        several = fitted.count(widest)
        next_ = max([width for width in fitted if width < widest], default=0)
        lower = max(next_, _NARROWEST, widest - -(-excess // several))
        fitted = [min(width, lower) for width in fitted]
    return fitted


def _lines(cells: Sequence[str], widths: Sequence[int], fold: bool) -> Iterable[Sequence[str]]:
    """The lines that a row takes."""
    from rich.cells import cell_len

    if not fold or all(cell_len(c) <= w for c, w in zip(cells, widths, strict=True)):
        return (cells,)
    folded = (_folded(cell, width) for cell, width in zip(cells, widths, strict=True))
    return zip_longest(*folded, fillvalue="")


def _folded(text: str, width: int) -> list[str]:
    """A text on lines of a width, broken between words where that can be."""
    from rich.cells import cell_len
    from rich.console import Console
    from rich.text import Text

    if cell_len(text) <= width:
        return [text]
    lines = Text(text).wrap(Console(width=width), width, overflow="fold")
    return [line.plain.rstrip() for line in lines]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)
