"""The rules of an old file that mean something else now, until a change has evaluated them anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from zodiac_sql.errors import ZodiacError
from zodiac_sql.language.former_aggregates import meant_otherwise
from zodiac_sql.language.syntax import Rule
from zodiac_sql.program.state import State, parsed


def former_rules(state: State) -> tuple[str, ...]:
    """Their names."""
    return state.once("former rules", lambda: _former_rules(state))


def evaluated_anew(state: State, after: Iterable[Rule]) -> Iterator[str]:
    """What is told of a change that evaluates such rules anew, as far as it leaves them there."""
    if not state.former:
        return
    there = {rule.name for rule in after}
    if names := ", ".join(name for name in former_rules(state) if name in there):
        yield f"evaluated anew, because the aggregates mean something else now: {names}"


def _former_rules(state: State) -> tuple[str, ...]:
    found = []
    for rule in state.rules if state.former else ():
        with suppress(ZodiacError):  # who uses a rule that cannot be read is told so
            if rule.name in state.former and meant_otherwise(parsed(rule)):
                found.append(rule.name)
    return tuple(found)
