"""Why a constraint is violated by a change: a short text about the first violation."""

from __future__ import annotations

from zodiac_sql.change.change import Change
from zodiac_sql.database.store import Store
from zodiac_sql.errors import Violation, ZodiacError
from zodiac_sql.language.functions import Functions
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Type
from zodiac_sql.language.written import spelled_predicate
from zodiac_sql.program.state import State
from zodiac_sql.read.why.spelling import spelled
from zodiac_sql.read.why.why_changed import why_changed

LINES = 12
"""A reason has at most so many lines."""


def fact_of(known: Predicate, row: tuple[object, ...]) -> str:
    """A row of a predicate as a fact, which `why` takes for a goal."""
    types = [column.meant or Type.SYMBOL for column in known.columns]
    values = (spelled(value, type_) for value, type_ in zip(row, types, strict=True))  # type: ignore[arg-type]
    return f"{spelled_predicate(known.name)}({', '.join(values)})"


def why_violated(
    store: Store, state: State, functions: Functions, change: Change, violation: Violation
) -> str:
    """Why the first row of a violation is there; nothing if that cannot be told."""
    if violation.variables and not violation.rows:
        return ""
    try:
        known = change.sides().after.facts.schema[violation.predicate]
        goal = fact_of(known, violation.first)
        lines = str(why_changed(store, state, functions, change, goal)).splitlines()[1:]
    except ZodiacError:
        return ""
    more = len(lines) - LINES
    return "\n".join([*lines[:LINES], f"and {more} lines more"] if more > 0 else lines)
