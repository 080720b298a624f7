"""What one hypernode had to do, and what its rules took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from zodiac_sql.change.stats import HypernodeStats, OperatorStats, RuleStats
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.names import is_constraint


@dataclass(frozen=True, slots=True)
class RuleTime:
    """How long a rule took, and how many facts it derives, if that was measured.

    `Decisions.rules` tells what `measured` may be.
    """

    rule: str
    ms: float | None = None
    facts: int | None = None
    measured: str | None = None


@dataclass(frozen=True, slots=True)
class HypernodeWork:
    """How one hypernode was evaluated or maintained."""

    hypernode: Hypernode
    stats: HypernodeStats
    bodies: Mapping[str, RuleTime] | None = None
    """The times of rules that are not alone in it, by name. None: a change is told."""

    @property
    def derives(self) -> list[str]:
        """The predicates that its rules derive."""
        return [name for name in self.hypernode.derives if not is_constraint(name)]

    @property
    def ms(self) -> float:
        """What it took, with what operators took that gave up."""
        return 1000 * self.stats.seconds

    @property
    def considered(self) -> Sequence[tuple[str, Sequence[OperatorStats]]]:
        """What was decided, each time with all operators that could have done it."""
        return (("maintain", self.stats.considered), ("evaluate", self.stats.evaluated))

    @property
    def ran(self) -> OperatorStats | None:
        """The operator that did the work."""
        listed = self.stats.considered or self.stats.evaluated
        return next((one for one in listed if one.did_it), None)

    @property
    def expected_ms(self) -> float | None:
        """What that one expected to take; None if nothing was weighed."""
        return (self.ran.expected or None) if self.ran else None

    @property
    def rules(self) -> list[RuleTime]:
        """The times of its rules."""
        names = [rule.name for rule in self.hypernode.rules]
        if self.bodies is None:
            return [_in_change(one, len(names) == 1) for one in self.stats.rules]
        if len(names) == 1:
            return [RuleTime(names[0], self.ms, self.stats.inserted, "evaluation")]
        return [self.bodies.get(name) or RuleTime(name, measured="module") for name in names]


def _in_change(one: RuleStats, alone: bool) -> RuleTime:
    measured = "together" if one.together else "change" if alone else "statements"
    return RuleTime(one.rule, 1000 * one.seconds, None, measured)
