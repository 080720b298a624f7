"""What statements that apply rules took, noted for each rule while a hypernode is worked on.

Many statements apply several rules at once: those with one head in a round of a loop, or all of a
recursion. No clock tells these apart, so each of the rules has the whole time of such a statement,
and it is noted which others were in it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class AppliedRule:
    """What the statements took that have applied one rule."""

    seconds: float = 0.0
    shared: float = 0.0
    """The part of it in statements that have applied others, too."""
    together: dict[str, None] = field(default_factory=dict)
    """The names of all rules in these, its own included."""
    read: int | None = 0
    """The rows of all that the bodies read; None if that is not known of some statement."""
    derived: int | None = 0
    """The rows that the statements have found; None if that is not known of some statement."""

    def others(self, name: str) -> list[str]:
        """The names of the other rules that were applied together with it."""
        return [other for other in self.together if other != name]

    def add(self, other: AppliedRule) -> None:
        """Add what other statements took."""
        self.seconds += other.seconds
        self.shared += other.shared
        if other.together:
            self.together |= other.together
        self.read = plus(self.read, other.read)
        self.derived = plus(self.derived, other.derived)


def plus(first: int | None, second: int | None) -> int | None:
    """The sum of two numbers, if both are known."""
    return None if first is None or second is None else first + second


class RuleWork:
    """What the statements took that have applied rules of one hypernode."""

    __slots__ = ("rules", "seconds")

    def __init__(self) -> None:
        self.rules: dict[str, AppliedRule] = {}
        self.seconds = 0.0
        """The time of all of these statements, each once."""

    def note(
        self, rules: Sequence[str], seconds: float, read: int | None, derived: int | None
    ) -> None:
        """Note a statement that has applied some rules, of which each may be named repeatedly."""
        self.seconds += seconds
        names = dict.fromkeys(rules)
        several = len(names) > 1
        for name in names:
            one = self.rules.get(name)
            if one is None:
                one = self.rules[name] = AppliedRule()
            one.seconds += seconds
            one.read = plus(one.read, read)
            one.derived = plus(one.derived, derived)
            if several:
                one.shared += seconds
                one.together |= names

    @contextmanager
    def together(self, rules: Sequence[str]) -> Iterator[None]:
        """What is done inside has applied all of these rules, unless something is noted there."""
        before, started = self.seconds, time.perf_counter()
        yield
        if self.seconds == before:
            self.note(rules, time.perf_counter() - started, None, None)
