"""When it pays to copy facts, and to try a change by look-ups.

Making copies costs time, so it must have been earned: each small change that DuckDB carries out,
and that could have been looked up, earns what it has cost. So a session never spends much more on
copies than it has spent without them. The whole copy of a predicate must have been earned before
its first part is made, because a part saves nothing. An update of a stream earns more, because
others will follow. One change spends no more than half of the time that those of its kind have
taken, or copies one part of a large predicate: so it does not take much longer than they did. The
first of a kind spends what others have lately been allowed: in a stream of many kinds, most changes
are the first. A copy that is dropped before it has saved what it cost, because large changes come
often, costs twice as much the next time, and so does one that is dropped before it is complete.
Where a change has moved more of a predicate than a copy follows, the copy must be earned by changes
that come after it: such a change may come again before the last part is there.

How much a change may do before it is left to DuckDB follows from what those of its kind have taken
there.

A large change, which DuckDB carries out, may move a part of what is copied. The copies follow it as
long as that costs less than look-ups have saved, and less than to make them anew. What is copied in
part has saved nothing yet: to follow is earned, as to copy is.

A change is of the kind of another one if it inserts and deletes facts of the same predicates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass, field

from zodiac_sql.cost.calibration import (
    COPIED,
    COPY,
    FOLLOWED,
    HYPERNODE,
    MARGIN,
    MOVED,
    STEP,
)

STREAMED = 4
"""So many times as much is earned by a change that is an update of a stream."""

SHARE = 0.6
"""The part of the time of DuckDB that a change may take before it is left to DuckDB."""

SHORT = 120
"""So many milliseconds a change may take to look up, or to copy, in any case. A predicate is not
copied in smaller parts, because DuckDB looks at all of its facts for each."""

_MOST_TIMES = 255
"""So many times as much a copy costs at most, and so many changes are not tried."""

_MOST_KINDS = 10_000
"""Of so many kinds at most something is remembered."""


def copying(sizes: Collection[int]) -> float:
    """What it takes to copy tables of such sizes, in milliseconds."""
    return COPIED * sum(sizes) + COPY * len(sizes)


def taken(seconds: float) -> float:
    """What a change has taken that DuckDB has carried out, in milliseconds."""
    return 1000 * seconds


class NotLookedUpError(Exception):
    """A change cannot be looked up, and DuckDB has to carry it out. The message says why.

    It does not leave this room: look_up.py tells it as a value.
    """


class NotEarnedError(NotLookedUpError):
    """It needs copies of predicates that have more facts than have been earned."""

    def __init__(self, predicates: Iterable[str]) -> None:
        super().__init__("copies have not been earned yet")
        self.predicates = tuple(predicates)


@dataclass(frozen=True, slots=True)
class LookupLimits:
    """How many facts a change may move, and how many steps SQLite may take for it."""

    moved: int
    steps: int


def limits_of(ms: float) -> LookupLimits:
    """Those of a change for which DuckDB takes so many milliseconds."""
    here = max(SHARE * ms, SHORT)
    return LookupLimits(int(here / MOVED), int(here / STEP))


@dataclass(frozen=True, slots=True)
class Usual:
    """What DuckDB takes for changes of one kind."""

    ms: float = 0.0
    """The time, of which that of the latest counts most."""
    copying: float = 0.0
    """How long one of them may copy facts."""


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
class Prices:
    """What it costs to copy predicates. It depends on how their copies have lasted."""

    looked_up: int = 0
    """How many changes were looked up."""
    gained: float = 0.0
    """What has been earned in all, spent or not."""
    _copied_at: dict[str, int] = field(default_factory=dict)
    """How many changes had been looked up when each predicate was copied."""
    _dearer: dict[str, int] = field(default_factory=dict)
    """How many times as much a predicate costs, if its copies have not lasted."""
    _moved_at: dict[str, float] = field(default_factory=dict)
    """What had been earned when a change moved more of a predicate than is looked up."""

    def of(self, name: str, size: int) -> float:
        """What it costs to copy a predicate with so many facts."""
        return self._dearer.get(name, 1) * COPIED * size + COPY

    def to_begin(self, name: str, size: int) -> float:
        """What must have been earned before that is begun: nobody knows how many changes follow."""
        return self._dearer.get(name, 1) * MARGIN * COPIED * size + COPY

    def copied(self, name: str) -> None:
        """Note that a predicate was copied."""
        self._copied_at[name] = self.looked_up

    def dropped(self, name: str, size: int) -> None:
        """Note that the copy of a predicate was dropped, complete or not. Whether it has paid tells
        its price.
        """
        since = self._copied_at.pop(name, self.looked_up)
        has_paid = HYPERNODE * (self.looked_up - since) >= COPIED * size
        times = self._dearer.get(name, 1)
        self._dearer[name] = max(1, times // 2) if has_paid else min(2 * times, _MOST_TIMES)

    def moved_much(self, name: str) -> None:
        """Note that a change has moved more of a predicate than is looked up."""
        self._moved_at[name] = self.gained

    def gain_all(self) -> None:
        """Let every copy be earned, whatever has moved."""
        self.gained = math.inf
        self._moved_at.clear()

    def gained_since(self, name: str) -> float:
        """What has been earned since a change has last moved so much of a predicate."""
        return self.gained - self._moved_at.get(name, 0)


@dataclass(slots=True)
class Worth:
    """What has been earned, and the kinds of changes that could not be looked up.

    All is told in milliseconds.
    """

    earned: float = 0.0
    """How long facts may be copied."""
    saved: float = 0.0
    """The time that look-ups have saved."""
    prices: Prices = field(default_factory=Prices)
    _usual: float = field(default=0.0, compare=False)
    """How long the change may copy facts that is on its way."""
    _left: float | None = field(default=None, compare=False)
    """How much of that is left. None: it has copied none, and may copy one part in any case."""
    _kinds: dict[Hashable, Failures] = field(default_factory=dict)
    _took: dict[Hashable, Usual] = field(default_factory=dict)
    _lately: float | None = None
    """How long one of the last changes was allowed to copy facts, whatever its kind."""

    def may_begin(self, name: str, size: int) -> bool:
        """Whether the whole copy of a predicate with so many facts has been earned with a margin,
        by changes that came after the last one that moved too much of it.
        """
        return self.prices.to_begin(name, size) <= min(self.earned, self.prices.gained_since(name))

    def usual(self, kind: Hashable) -> float:
        """What DuckDB takes for changes of a kind; 0 if that is not known."""
        return self._took.get(kind, Usual()).ms

    def earn(self, kind: Hashable, hypernodes: int, seconds: float, streamed: bool) -> None:
        """Note that DuckDB has carried out a change in so many seconds, which could have been
        looked up, and has evaluated hypernodes for it.
        """
        times = STREAMED if streamed else 1
        ms = taken(seconds)
        gained = max(HYPERNODE * hypernodes, ms) * times
        self.earned += gained
        self.prices.gained += gained
        before = self._took.get(kind, Usual(ms)).ms
        if len(self._took) >= _MOST_KINDS:
            self._took.clear()
        allowed = max(HYPERNODE * hypernodes, ms / 2) * times
        self._took[kind] = Usual(before + (ms - before) / 4, allowed)
        lately = allowed if self._lately is None else self._lately
        self._lately = lately + (allowed - lately) / 4

    def earn_all(self) -> None:
        """Let all copies be made, as the user has chosen."""
        self.earned = self.saved = math.inf
        self.prices.gain_all()

    def begin(self, kind: Hashable) -> None:
        """A change of a kind is tried."""
        self._usual, self._left = self._usual_of(kind), None

    def _usual_of(self, kind: Hashable) -> float:
        """How long a change of a kind may copy facts."""
        if self.earned == math.inf:
            return math.inf
        known = self._took.get(kind)
        return self._lately or 0.0 if known is None else known.copying

    def is_to_be_tried(
        self, kind: Hashable, may_copy: Callable[[Iterable[str]], bool] = lambda _: True
    ) -> bool:
        """Whether a change of a kind is to be tried. `may_copy` tells whether the copies of some
        predicates can be begun, or go on.

        After each one that could not be looked up, twice as many are not tried.
        """
        known = self._kinds.get(kind)
        if known is None:
            return self.earned > 0
        if not may_copy(known.predicates):
            return False
        known.passed += 1
        return known.passed > known.most

    def failed(self, kind: Hashable, missing: Collection[str] = ()) -> None:
        """Note that a change of a kind could not be looked up, for want of copies of predicates, if
        any are `missing`.
        """
        if len(self._kinds) >= _MOST_KINDS:
            self._kinds.clear()
        known = self._kinds.setdefault(kind, Failures())
        if missing:
            known.predicates = tuple(missing)
        else:
            known.passed, known.most = 0, min(2 * known.most + 1, _MOST_TIMES)

    def forget_failures(self) -> None:
        """Let all kinds of changes be tried again: other rules have to do with them."""
        self._kinds.clear()

    def succeeded(self, kind: Hashable, hypernodes: int) -> None:
        """Note that a change of a kind was looked up, in so many hypernodes."""
        self._kinds.pop(kind, None)
        self.prices.looked_up += 1
        saved = min(self.saved + HYPERNODE * hypernodes, SHORT)
        self.saved = max(self.saved, saved)

    def pays_to_follow(self, rows: int, size: int) -> bool:
        """Whether a copy is to show what a large change has moved in so many of its rows."""
        price = FOLLOWED * rows
        if price > min(self.saved, COPIED * size):
            return False
        self.saved -= price
        return True

    def pays_to_go_on(self, rows: int, copied: int) -> bool:
        """Whether a copy of which so many facts are there is to show what has moved in so many
        rows: if that costs less than to copy them again, and no more than a part.
        """
        price = FOLLOWED * rows
        if price > min(COPIED * copied, SHORT):
            return False
        self.earned -= price
        return True

    def parts_of(self, size: int) -> int:
        """In how many parts a predicate with so many facts is to be copied."""
        return max(1, math.ceil(COPIED * size / max(self._usual, SHORT)))

    def spend(self, name: str, price: float) -> None:
        """Let a part of a predicate be copied. Raises NotEarnedError if it cannot be yet."""
        if price > self.earned:
            raise NotEarnedError([name])
        self.take(name, price)
        self.earned -= price

    def took(self, price: float, seconds: float) -> None:
        """Note how long copying a part has taken, for which a price was paid: on a busy machine,
        changes earn more, and parts cost as much more.
        """
        more = max(0.0, taken(seconds) - price)
        self.earned -= more
        if self._left is not None:
            self._left -= more

    def take(self, name: str, price: float) -> None:
        """Let the change on its way take the time for it, or raise NotEarnedError."""
        if self._left is not None and price > self._left:
            raise NotEarnedError([name])
        self._left = (self._usual if self._left is None else self._left) - price
