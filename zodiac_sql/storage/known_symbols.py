"""Asks the dictionary of a file what program/lone_variables.py wants to know of symbols."""

from __future__ import annotations

from functools import partial

from zodiac_sql.database import dictionary
from zodiac_sql.database.store import Store
from zodiac_sql.program.lone_variables import Symbols


def symbols_of(store: Store) -> Symbols:
    """The symbols of a file, and of the change that is being made."""
    return Symbols(
        partial(dictionary.as_written, store, doubtful=True), partial(dictionary.alike, store)
    )
