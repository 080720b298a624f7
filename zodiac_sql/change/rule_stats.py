"""What each rule of a hypernode took in a change, by what was noted while it was worked on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from zodiac_sql.change.stats import RuleStats
from zodiac_sql.database.rule_work import AppliedRule, RuleWork
from zodiac_sql.graph.hypergraph import Hypernode


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RulesOfHypernode(Sequence[RuleStats]):
    """The stats of the rules of a hypernode with work.

    They are made when somebody asks: a change of one fact takes 0.5 ms, and each of them 5 µs.
    """

    hypernode: Hypernode
    operator: str
    seconds: float
    rounds: int
    noted: RuleWork | None
    """What was noted; None if it has only one rule, and its time is all that is known."""
    taken: Sequence[str] = ()
    """The rules that modules have taken. They share what no other rule took."""

    def times(self) -> dict[str, AppliedRule]:
        """What each rule took, by its name. One that is alone has all of the time."""
        names = [rule.name for rule in self.hypernode.rules]
        found = as_written(self.noted.rules, names) if self.noted else {}
        if len(names) == 1:
            found.setdefault(names[0], AppliedRule(read=None, derived=None)).seconds = self.seconds
        elif self.taken and self.noted:
            left = max(self.seconds - self.noted.seconds, 0.0)
            for name in self.taken:
                found[name] = AppliedRule(left, left, dict.fromkeys(self.taken), None, None)
        return {name: found.get(name) or AppliedRule() for name in dict.fromkeys([*names, *found])}

    def _stats(self) -> list[RuleStats]:
        return [
            RuleStats(
                rule=name,
                hypernode=self.hypernode.name,
                operator=self.operator,
                seconds=one.seconds,
                together=one.others(name),
                seconds_together=one.shared if one.others(name) else 0.0,
                rounds=self.rounds,
                read=one.read,
                derived=one.derived,
            )
            for name, one in self.times().items()
        ]

    @overload
    def __getitem__(self, place: int) -> RuleStats: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[RuleStats]: ...

    def __getitem__(self, place: int | slice) -> RuleStats | Sequence[RuleStats]:
        return self._stats()[place]

    def __len__(self) -> int:
        return len(self._stats())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._stats() == list(other)

    def __repr__(self) -> str:
        return repr(self._stats())


def as_written(noted: Mapping[str, AppliedRule], names: Sequence[str]) -> dict[str, AppliedRule]:
    """What was noted, by the names of rules in the program: that of a tree's node is its rule's.

    A rule that the change has dropped was applied, too, to find what it takes away.
    """
    found: dict[str, AppliedRule] = {}
    for name, one in noted.items():
        written = found.setdefault(written_as(name, names), AppliedRule())
        written.add(one)
        written.together = {written_as(other, names): None for other in written.together}
    return found


def written_as(name: str, names: Sequence[str]) -> str:
    """The rule that another one is evaluated for: that has its name, with something behind it.

    Nodes of trees have " n1", and the groups of an aggregate "#0" (sql/plan.py).
    """
    if name in names:
        return name
    behind = tuple(one for one in names if name.startswith((f"{one} ", f"{one}#")))
    return max(behind, key=len, default=name)
