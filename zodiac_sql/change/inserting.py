"""The keyword arguments of the verbs that take rows: how rows are read, and how to change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from zodiac_sql.change.settings import Changing
from zodiac_sql.facts.row_options import RowKeywords


class Inserting(RowKeywords, Changing, total=False):
    """Both of them."""


def changing_in(given: Mapping[str, object]) -> Changing:
    """How to make the change."""
    kept = {key: value for key, value in given.items() if key in Changing.__annotations__}
    return cast("Changing", kept)


def row_keywords_in(given: Inserting) -> RowKeywords:
    """How to read the rows."""
    kept = {key: value for key, value in given.items() if key not in Changing.__annotations__}
    return cast("RowKeywords", kept)
