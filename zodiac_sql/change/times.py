"""What all changes since a database was opened took, summed up for each hypernode and rule.

Each change adds to it, so that does as little as can be: a change of one fact takes 0.5 ms.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zodiac_sql.change.rule_stats import RulesOfHypernode
from zodiac_sql.database.rule_work import AppliedRule

if TYPE_CHECKING:
    from zodiac_sql.change.change import Change
    from zodiac_sql.change.stats import HypernodeStats, Stats


@dataclass(slots=True)
class HypernodeTimes:
    """What a hypernode took in some changes."""

    changes: int = 0
    seconds: float = 0.0
    rounds: int = 0
    inserted: int = 0
    deleted: int = 0
    operators: dict[str, None] = field(default_factory=dict)
    rules: dict[str, AppliedRule] = field(default_factory=dict)
    """What rules took, by the names that they were applied by (change/rule_stats.py)."""

    def add(self, done: HypernodeStats) -> None:
        """Add what it took in one more change."""
        self.changes += 1
        self.seconds += done.seconds
        self.rounds += done.iterations
        self.inserted += done.inserted
        self.deleted += done.deleted
        rules = done.rules
        assert isinstance(rules, RulesOfHypernode)
        self.operators[rules.operator] = None
        if rules.noted is None:  # it is alone, and no more is known
            name = rules.hypernode.rules[0].name
            one = self.rules.get(name)
            if one is None:
                one = self.rules[name] = AppliedRule()
            one.seconds += done.seconds
            one.read = one.derived = None
            return
        several = len(rules.hypernode.rules) > 1 and not rules.taken
        for name, found in (rules.noted.rules if several else rules.times()).items():
            one = self.rules.get(name)
            if one is None:
                one = self.rules[name] = AppliedRule()
            one.add(found)


@dataclass(slots=True)
class Times:
    """What some changes took."""

    changes: int = 0
    seconds: float = 0.0
    hypernodes: dict[str, HypernodeTimes] = field(default_factory=dict)
    last: Stats | None = None
    """What the last one took."""

    def add(self, change: Change) -> None:
        """Add what one more change took."""
        self.changes += 1
        self.seconds += change.seconds
        self.last = change.stats
        for name, done in change.stats.hypernodes.items():
            one = self.hypernodes.get(name)
            if one is None:
                one = self.hypernodes[name] = HypernodeTimes()
            one.add(done)
