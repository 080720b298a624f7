"""What reads the clock, and what it shows."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.language.binding import functions_in
from zodiac_sql.language.syntax import Rule
from zodiac_sql.names import CLOCK
from zodiac_sql.program.state import State

_START = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def machine_time() -> int:
    """The time by the clock of the machine, in microseconds since 1970."""
    return (datetime.datetime.now(datetime.UTC) - _START) // datetime.timedelta(microseconds=1)


def time_of(state: State) -> int:
    """What now() is in a state: the time of the last tick; without any, that of the machine."""
    ticked_last = state.positions.get(CLOCK)
    return machine_time() if ticked_last is None else ticked_last


@dataclass(frozen=True, slots=True)
class Ticked:
    """The clock before a change, and after it: they differ. Before, there may have been none."""

    before: int | None
    after: int


def ticked(state: State, positions: Mapping[str, int]) -> Ticked | None:
    """How a change moves the clock, by the positions that it notes."""
    before, after = state.positions.get(CLOCK), positions.get(CLOCK)
    return None if after is None or after == before else Ticked(before, after)


def reads_clock(rules: Iterable[Rule]) -> bool:
    """Whether a rule says now()."""
    return any("now" in functions_in(rule.body) for rule in rules)


def clocked(graph: Hypergraph) -> frozenset[int]:
    """The hypernodes whose rules say now()."""
    return frozenset(h.id for h in graph.hypernodes if reads_clock(h.rules))
