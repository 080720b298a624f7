"""The facts that moved one way with a change, and what derives them on the side that has them.

Reasons for moves can go back through thousands of facts of a recursive hypernode. The first are
asked about level by level; then all of its facts that moved are read at once (all_facts.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from zodiac_sql.change.sides import Side
from zodiac_sql.database.clock import let_now_be
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.read.why import all_facts
from zodiac_sql.read.why.all_facts import Derived, DerivingTables, every
from zodiac_sql.read.why.asked import Instance, Key, Known, instances, places
from zodiac_sql.read.why.evaluated_again import Order

MOST_INSTANCES = 60
"""So many instances of a rule are looked at for each fact."""


@dataclass(slots=True)
class Way:
    """One way facts move: the side that alone has them, and the other."""

    known: Known
    side: Side
    other: Side
    clock: int | None = None
    """What now() is on this side."""
    found: dict[Key, bool] = field(default_factory=dict)
    """Which facts are on this side alone, as far as that was asked."""
    explicit: dict[Key, bool] = field(default_factory=dict)
    orders: dict[int, Order] = field(default_factory=dict)
    """Hypernodes that were evaluated again (why_best_moved.py)."""
    questions: Counter[int] = field(default_factory=Counter)
    """How often a rule of each hypernode was asked about some facts."""
    read: dict[int, Derived | None] = field(default_factory=dict)
    """What derives all facts of hypernodes that moved; None where that is too much."""

    def look_up(self, facts: Sequence[Key]) -> None:
        """Find out which facts are on this side alone, and which of those as explicit facts."""
        for known, sources in ((self.found, self.side.alone), (self.explicit, self.side.explicit)):
            new = [fact for fact in dict.fromkeys(facts) if fact not in known]
            there = replace(self.known, sources=sources)
            grouped: dict[str, list[Key]] = {}
            for fact in new:
                grouped.setdefault(fact[0], []).append(fact)
            located = places(there, grouped) if grouped else {}
            known.update((fact, bool(located.get(fact))) for fact in new)

    def instances(
        self, hypernode: Hypernode, facts: Sequence[Key]
    ) -> Iterator[tuple[Key, Instance]]:
        """The instances by which a hypernode derives some facts of one predicate."""
        if self.clock is not None:
            let_now_be(self.known.store, self.clock)
        if derived := self.all_moved(hypernode):
            yield from ((fact, one) for fact in facts for one, _ in derived.ways(fact))
            return
        for rule in hypernode.rules:
            if rule.head.predicate == facts[0][0]:
                self.questions[hypernode.id] += 1
                several = instances(self.known, rule, facts, MOST_INSTANCES)
                for fact, own in zip(facts, several, strict=True):
                    yield from ((fact, one) for one in own)

    def all_moved(self, hypernode: Hypernode) -> Derived | None:
        """What derives all facts of a recursive hypernode that moved, as soon as it was asked so
        often that to read all takes no longer; None before, or if it is too much.
        """
        number = hypernode.id
        if not hypernode.recursive or self.questions[number] < len(hypernode.rules):
            return None
        if number not in self.read:
            moved = self.side.alone.explicit
            parts = {name: moved[name][0] for name in hypernode.derives if moved.get(name)}
            rules = tuple(rule for rule in hypernode.rules if rule.head.predicate in parts)
            self.read[number] = every(
                self.known, DerivingTables(number, parts, rules), all_facts.MOST_READ
            )
        return self.read[number]

    def further(self, facts: Sequence[Key]) -> Iterator[Key]:
        """Facts that moved and that some facts are derived from, as far as all was read."""
        for derived in self.read.values():
            if derived is not None:
                mine = [fact for fact in facts if fact in derived.found]
                yield from derived.below(mine, all_facts.MOST_READ)
