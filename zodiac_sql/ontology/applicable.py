"""Which rules can apply, if it is known which predicates have facts."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from zodiac_sql.language.syntax import Rule


def applicable(rules: Sequence[Rule], given: Collection[str]) -> list[Rule]:
    """The rules that can derive something, in their order; `given` predicates have facts.

    The others need a predicate that has neither facts nor a rule that can apply.
    """
    there = set(given)
    chosen: set[int] = set()
    left = list(enumerate(rules))
    while True:
        ready = [(number, rule) for number, rule in left if rule.positive() <= there]
        if not ready:
            return [rules[number] for number in sorted(chosen)]
        chosen |= {number for number, _ in ready}
        there |= {rule.head.predicate for _, rule in ready}
        left = [(number, rule) for number, rule in left if number not in chosen]
