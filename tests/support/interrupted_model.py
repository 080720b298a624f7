"""What a knowledge base is to hold, in plain Python: explicit facts, rules, and extensions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from generators.interrupted_rules import BEST, PREDICATES, RULES, Row


@dataclass(frozen=True)
class Model:
    """A state, which is never modified."""

    explicit: Mapping[str, frozenset[Row]]
    rules: frozenset[str]

    @cached_property
    def extensions(self) -> dict[str, set[Row]]:
        """All facts of all predicates."""
        facts: dict[str, set[Row]] = {p: set(self.explicit.get(p, ())) for p in PREDICATES}
        rules = [RULES[name] for name in self.rules]
        for level in sorted({rule.level for rule in rules}):
            grows = True
            while grows:
                grows = False
                for rule in (rule for rule in rules if rule.level == level):
                    before = facts[rule.head]
                    both = before | set(rule.derived(facts))
                    facts[rule.head] = _least(both) if rule.head == BEST else both
                    grows = grows or facts[rule.head] != before
        return facts

    def with_facts(self, gone: Iterable[tuple[str, Row]], come: Iterable[tuple[str, Row]]) -> Model:
        """The state after some facts go, and then others come."""
        after = {name: set(rows) for name, rows in self.explicit.items()}
        for name, row in gone:
            after[name].discard(row)
        for name, row in come:
            after[name].add(row)
        return Model({name: frozenset(rows) for name, rows in after.items()}, self.rules)

    def moved_to(self, after: Model) -> set[tuple[str, str, Row]]:
        """What leaves and enters extensions on the way to another state."""
        found = set()
        for name in PREDICATES:
            then, now = self.extensions[name], after.extensions[name]
            found |= {(name, "delete", row) for row in then - now}
            found |= {(name, "insert", row) for row in now - then}
        return found


def _least(rows: Iterable[Row]) -> set[Row]:
    """Of each group the fact with the least value."""
    best: dict[object, Row] = {}
    for row in sorted(rows, key=lambda row: row[1], reverse=True):  # type: ignore[arg-type,return-value]
        best[row[0]] = row
    return {*best.values()}
