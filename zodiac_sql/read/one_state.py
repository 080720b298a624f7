"""A connection of its own for a question that writes temporary tables, and one state of the file.

The file is only read, and the facts of the last Change can still be asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from zodiac_sql.database import dictionary
from zodiac_sql.database.other_connections import connect_aside
from zodiac_sql.database.store import Store
from zodiac_sql.errors import StoreError
from zodiac_sql.program.state import State
from zodiac_sql.storage import catalog
from zodiac_sql.storage.clock import tell_time


@contextmanager
def one_state(store: Store, meanwhile: str) -> Iterator[tuple[Store, State]]:
    """A connection beside that of a store, and the state of the file, which must last.

    Raises StoreError if the file has changed by the end of the block: `meanwhile` says what was
    done in it ("it was verified").
    """
    with connect_aside(store) as aside:
        dictionary.prepare(aside)
        with aside.transaction(read_only=True):
            state = catalog.load(aside)
        tell_time(aside, state)
        try:
            yield aside, state
        except StoreError as error:
            if catalog.generation(aside) == state.generation:
                raise
            raise catalog.changed_meanwhile(store, meanwhile) from error
        if catalog.generation(aside) != state.generation:
            raise catalog.changed_meanwhile(store, meanwhile)
