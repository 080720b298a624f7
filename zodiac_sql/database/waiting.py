"""The small changes that wait in the journal, as far as a store knows (storage/journal.py)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

NOTE = "INSERT INTO zodiac.journal VALUES ($1, $2)"
"""Writes a change to the journal. It is a transaction by itself."""

NOTE_ENTRIES = "INSERT INTO zodiac.journal SELECT $number, $entry"
"""Writes what a change adds to the change feed to the journal, in the transaction of the change.
(Another text, because this one alone publishes nothing.)"""

WRITTEN = "written"
"""The name of the statement that the next one asks how many rows it has written."""

NOTE_ENTRIES_IF_WRITTEN = (
    f"{NOTE_ENTRIES} FROM (SELECT unnest(range(facts)) FROM {WRITTEN} AS w(facts))"
)
"""The same for a change of one fact, which may be there already, or not. It writes as many rows as
the change does, so that only this statement has to tell its count."""


def publishes(statement: str) -> bool:
    """Whether a change is in the file once this statement has run."""
    return statement in ("COMMIT", NOTE)


@dataclass(slots=True)
class Waiting:
    """What waits in the journal of a database, and what brings it to the tables."""

    settles: Callable[[], None] | None = None
    """Brings all that waits to the tables. It is there if anything may wait."""
    facts_wait: bool = False
    """Whether changes of facts wait, or only entries of the change feed, for which nobody asks but
    its readers."""
    was_left: bool = False
    """Whether others had left changes in the journal when the file was opened."""
    asked: bool = True
    """Whether any statement was run since the last small change that might go to the journal."""
    number: int = 0
    rows: int = 0
    """How many changes wait, and how many rows these are to write."""
    facts: dict[tuple[Any, ...], bool] = field(default_factory=dict)
    """Whether facts of predicates that no rule reads are there, after the schema and name of their
    tables, if a change that waits has written them."""
    symbols: dict[str, int] = field(default_factory=dict)
    """The symbols that came with changes that wait, and their ids."""
    texts: dict[int, str] = field(default_factory=dict)
    """The same, the other way round."""
    is_apart: bool = False
    """Whether the changes that wait do not concern the statements that are run now, so that they
    go on waiting. Who sets it sets it back in the same frame: after an interruption, the exit of a
    context manager may come late, and until then nobody would see what waits."""

    def comes(self) -> None:
        """A statement is about to be run: facts that wait come first, unless it `is_apart`."""
        if not self.is_apart:
            if self.facts_wait:
                self.settle()
            self.asked = True

    def settle(self) -> None:
        """Bring all that waits to the tables. If that fails, it still waits."""
        if self.settles is None:
            return
        settles, self.settles = self.settles, None
        try:
            settles()
        except BaseException:
            self.settles = settles
            raise

    def add(self, rows: int, symbols: Mapping[str, int]) -> None:
        """Note a change that waits from now on, with new symbols."""
        self.number += 1
        self.rows += rows
        self.symbols |= symbols
        self.texts |= {number: text for text, number in symbols.items()}

    def clear(self) -> None:
        """Note that nothing waits any more."""
        self.number = self.rows = 0
        self.facts_wait = False
        self.facts.clear()
        self.symbols.clear()
        self.texts.clear()
