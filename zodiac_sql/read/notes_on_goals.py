"""What looks like a mistake in goals, although they can be answered (program/lone_variables.py)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from zodiac_sql.database.store import Store
from zodiac_sql.language.syntax import Literal
from zodiac_sql.program.doubts import note
from zodiac_sql.program.lone_variables import lone_variables, meant_as_constants
from zodiac_sql.program.state import State
from zodiac_sql.storage.known_symbols import symbols_of


def notes_on_goals(
    store: Store, state: State, choices: Iterable[Sequence[Literal]]
) -> tuple[str, ...]:
    """Remarks on goals, of which each of the `choices` is an alternative.

    In a state, the dictionary is asked once for each name that is no symbol, because people ask the
    same again and again.
    """
    innocent: set[str] = state.once("no symbols", set)
    lone = [
        variable
        for goals in choices
        for variable in lone_variables(None, goals, state.schema)
        if variable.name not in innocent
    ]
    found = list(meant_as_constants(lone, symbols_of(store)))
    guilty = {problem.span for problem in found}
    innocent.update(variable.name for variable in lone if variable.span not in guilty)
    return tuple(dict.fromkeys(map(note, found)))
