"""The keyword arguments of the verbs that read files: how tables are read, and how to change."""

from __future__ import annotations

from typing import cast

from zodiac_sql.change.settings import Changing
from zodiac_sql.facts.load.options import TableOptions


class Loading(TableOptions, Changing, total=False):
    """Both of them."""


def table_options_in(given: Loading) -> TableOptions:
    """How to read the table."""
    kept = {key: value for key, value in given.items() if key not in Changing.__annotations__}
    return cast("TableOptions", kept)
