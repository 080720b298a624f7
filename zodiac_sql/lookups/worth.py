"""When it pays to copy facts, and to try a change by look-ups.

Making copies costs time, so it must have been earned: each small change that DuckDB carries out,
and that could have been looked up, earns what it has cost. So a session never spends much more on
copies than it has spent without them. An update of a stream earns more, because others will follow.

A change is of the kind of another one if it inserts and deletes facts of the same predicates.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field

EARNED = 4_000
"""How many facts can be copied in the time that DuckDB takes for one hypernode."""

STREAMED = 4
"""So many times as much is earned by a change that is an update of a stream."""

EACH = 3_000
"""How many facts can be copied in the time that it takes to begin with another predicate."""

MOST_FACTS = 2_000_000
"""So many facts are copied at most. Each takes some 25 bytes, and more with more indexes."""

_MOST_PASSED_OVER = 255
_MOST_KINDS = 10_000


class Declined(Exception):
    """A change cannot be looked up, and DuckDB has to carry it out. The message says why."""


class NotEarnedError(Declined):
    """It needs copies of predicates that have more facts than have been earned."""

    def __init__(self, predicates: Iterable[str]) -> None:
        super().__init__("copies have not been earned yet")
        self.predicates = tuple(predicates)


def price_of(sizes: Mapping[str, int]) -> int:
    """What it costs to copy predicates with so many facts, in facts."""
    return sum(sizes.values()) + EACH * len(sizes)


@dataclass(slots=True)
class Failures:
    """What is known of the changes of one kind, if the last one could not be looked up."""

    predicates: tuple[str, ...] = ()
    """Those that must be copied first."""
    passed: int = 0
    """How many changes were not tried since then."""
    most: int = 0
    """How many are not to be tried."""


@dataclass(slots=True)
class Worth:
    """What has been earned, and the kinds of changes that could not be looked up."""

    earned: int = 0
    """The number of facts that may be copied."""
    _kinds: dict[Hashable, Failures] = field(default_factory=dict)

    def earn(self, hypernodes: int, streamed: bool) -> None:
        """Note that DuckDB has evaluated hypernodes, which could have been looked up."""
        times = STREAMED if streamed else 1
        self.earned = min(self.earned + EARNED * hypernodes * times, 2 * MOST_FACTS)

    def earn_all(self) -> None:
        """Let all copies be made, as the user has chosen."""
        self.earned = 2 * MOST_FACTS

    def is_to_be_tried(self, kind: Hashable, price: Callable[[Iterable[str]], int]) -> bool:
        """Whether a change of a kind is to be tried. `price` tells what copies of predicates cost.

        After each one that could not be looked up, twice as many are not tried.
        """
        known = self._kinds.get(kind)
        if known is None:
            return self.earned > 0
        if price(known.predicates) > self.earned:
            return False
        known.passed += 1
        return known.passed > known.most

    def failed(self, kind: Hashable, error: Declined) -> None:
        """Note that a change of a kind could not be looked up."""
        if len(self._kinds) >= _MOST_KINDS:
            self._kinds.clear()
        known = self._kinds.setdefault(kind, Failures())
        if isinstance(error, NotEarnedError):
            known.predicates = error.predicates
        else:
            known.passed, known.most = 0, min(2 * known.most + 1, _MOST_PASSED_OVER)

    def succeeded(self, kind: Hashable) -> None:
        """Note that a change of a kind was looked up."""
        self._kinds.pop(kind, None)

    def spend(self, sizes: Mapping[str, int], copied: int) -> None:
        """Let predicates be copied, beside the facts that are. Raises Declined if they cannot."""
        if sum(sizes.values()) + copied > MOST_FACTS:
            raise Declined("there are too many facts to copy")
        if (price := price_of(sizes)) > self.earned:
            raise NotEarnedError(sizes)
        self.earned -= price
