"""An update that is to be carried out, or only computed, and what is found out about it first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from zodiac_sql.change.baseline import Baseline
from zodiac_sql.change.change import Change
from zodiac_sql.change.collected import Collected
from zodiac_sql.change.materialise import Progress
from zodiac_sql.change.prepared import Prepared
from zodiac_sql.change.report import CarriedOut, IsCurrent, report
from zodiac_sql.change.request import Request
from zodiac_sql.change.update_report import UpdateReport
from zodiac_sql.cost.once import Once
from zodiac_sql.cost.operator import Operator
from zodiac_sql.maintain.papers.marking import Marks
from zodiac_sql.program.clock import Ticked, ticked
from zodiac_sql.program.state import State


@dataclass(frozen=True, slots=True)
class Applied:
    """The result of an update: the state, what was prepared for the next one, and the Change."""

    state: State
    prepared: Prepared | None
    marks: Marks | None
    change: Change


class Execution(Once):
    """An update whose program is checked. It is published, or only a preview."""

    def __init__(
        self,
        collected: Collected,
        prepared: Prepared,
        is_current: IsCurrent,
        progress: Progress | None,
        publishes: bool,
    ) -> None:
        super().__init__()
        self.collected = collected
        self.prepared = prepared
        self.is_current = is_current
        self.progress = progress
        self.publishes = publishes

    @property
    def before(self) -> Baseline:
        """What the update begins with."""
        return self.collected.before

    @property
    def request(self) -> Request:
        """What it asks for."""
        return self.collected.request

    @property
    def told(self) -> UpdateReport:
        """What there is to tell of it."""
        return self.collected.report

    @cached_property
    def is_of_facts(self) -> bool:
        """Whether it leaves the program as it is, has nothing to do with marks and feeds, and
        nothing is left of before.
        """
        before, request = self.before, self.request
        if self.ticked:
            return False
        if self.prepared is not before.prepared or request.seen or request.ahead or request.keeping:
            return False
        state = before.state
        if state.aside or state.former:
            return False
        return self.collected.edits.prefixes == state.prefixes

    @property
    def ticked(self) -> Ticked | None:
        """How it moves the clock, if rules say now()."""
        return ticked(self.before.state, self.request.positions) if self.prepared.clocked else None

    @property
    def positions(self) -> Mapping[str, int]:
        """How far streams have come with it."""
        return {**self.before.state.positions, **self.request.positions}

    def applied(self, done: CarriedOut, prepared: Prepared | None, marks: Marks | None) -> Applied:
        """The result, with the Change: what has become of the update, or what would have."""
        change = report(self.collected, done, self.is_current)
        return Applied(done.state if self.publishes else self.before.state, prepared, marks, change)


Carries = Operator[Execution, Applied]
"""An operator that carries an update out."""


def in_rules(prepared: Prepared) -> frozenset[str]:
    """The predicates that rules read or derive."""
    return prepared.cache.get("of rules", lambda: frozenset(_of_rules(prepared)))


def _of_rules(prepared: Prepared) -> Iterator[str]:
    for hypernode in prepared.graph.hypernodes:
        yield from hypernode.reads
        yield from hypernode.derives
