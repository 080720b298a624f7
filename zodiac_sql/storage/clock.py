"""Lets now() be, on a connection, what it is in a state."""

from __future__ import annotations

from zodiac_sql.database.clock import let_now_be
from zodiac_sql.database.store import Store
from zodiac_sql.names import CLOCK
from zodiac_sql.program.state import State


def tell_time(store: Store, state: State) -> None:
    """Let now() be the time of a state, if its clock has ever ticked."""
    if CLOCK in state.positions:
        let_now_be(store, state.positions[CLOCK])
