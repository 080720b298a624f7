"""Tuples as their options say: what their columns are called, and what becomes of empty values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zodiac_sql.errors import DataError
from zodiac_sql.facts.chosen_rows import LeftOut, require_columns
from zodiac_sql.facts.row_options import RowOptions
from zodiac_sql.language.schema import Predicate, default_columns

EMPTY = ("NoneType", "NaTType", "NAType")
"""The classes of None and of pandas' missing values."""


def names_of_tuples(
    predicate: str, width: int | None, known: Predicate | None, options: RowOptions
) -> Sequence[str]:
    """The names of the columns of tuples: those given, or the predicate's, or the usual.

    Raises DataError for options that do not fit tuples of this width, if there are any.
    """
    if options.explode:
        raise DataError(
            f"{predicate}: explode is for tables. Give a tuple for each element of a list."
        )
    if options.columns:
        names = [*options.columns.values()]
        if width not in (None, len(names)):
            raise DataError(
                f"{predicate}: row 1 has {width} values, and {len(names)} columns are named. Of "
                "tuples, `columns` names all values in order."
            )
        return names
    if known is not None:
        return [column.name for column in known.columns]
    assert width is not None  # no tuples and no names are nothing
    return default_columns(width)


def without_gaps(
    predicate: str,
    rows: list[Any],
    names: Sequence[str],
    options: RowOptions,
    left_out: LeftOut,
) -> list[Any]:
    """Tuples with values for what is missing, or without those that lack some. Raises DataError."""
    fills = options.fills or {}
    require_columns(f"{predicate}: the table", names, [*fills])
    places = {place: fills[name] for place, name in enumerate(names) if name in fills}
    found = []
    for row in rows:
        gaps = [place for place, value in enumerate(row) if type(value).__name__ in EMPTY]
        if gaps and places:
            row = [places.get(at, v) if at in gaps else v for at, v in enumerate(row)]
        if gaps and options.skips_rows:
            left_out.rows += 1
        else:
            found.append(row)
    return found
