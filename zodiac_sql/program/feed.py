"""The change feed: which predicates are in it, how long, and how far it has come.

The changes that move facts of such a predicate are numbered 1, 2, 3, ... in the order in which they
were published; the number is the position of a reader who has seen them. `storage/feed.py` has the
entries in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.names import is_expression

Layout = tuple[str, tuple[Column, ...]]
"""A predicate, and columns that it has or once had."""

_WIDTHS = {Type.BOOL: 1, Type.SYMBOL: 4, Type.DATE: 4}
_WIDTH = 8
_ALWAYS = 17
"""The bytes of an entry's number, time and kind."""


@dataclass(frozen=True, slots=True)
class Retention:
    """How much of the feed is kept at least; None is no limit. What exceeds any of them can go.

    To delete costs more than to keep for a while, so it is done when a quarter too much is there.
    """

    changes: int | None = None
    seconds: int | None = None
    bytes: int | None = None


@dataclass(frozen=True, slots=True)
class FeedTable:
    """The table of a predicate's entries, as long as its columns are the same."""

    number: int
    predicate: str
    columns: tuple[Column, ...]
    entries: int = 0

    @property
    def bytes(self) -> int:
        """What the entries take before they are compressed."""
        columns = sum(_WIDTHS.get(c.type or Type.SYMBOL, _WIDTH) for c in self.columns)
        return self.entries * (_ALWAYS + columns)


@dataclass(frozen=True, slots=True)
class Keeping:
    """What is to be in the feed from now on: some predicates, or all (None), and how long."""

    predicates: tuple[str | None, ...]
    limits: Retention


@dataclass(frozen=True, slots=True)
class Feed:
    """What is known of the feed between two changes.

    `since` has for each predicate in it the last change before it came in; the key None stands for
    all predicates. Changes up to number `gone` are deleted; the newest has the number `last`. After
    number `narrowed`, predicates left the feed, and older changes that only they had with them.
    `oldest` is the time of the first that is kept.
    """

    since: Mapping[str | None, int] = field(default_factory=dict)
    limits: Retention = Retention()
    gone: int = 0
    last: int = 0
    narrowed: int = 0
    tables: Mapping[Layout, FeedTable] = field(default_factory=dict)
    oldest: datetime | None = None

    def has(self, predicate: str) -> bool:
        """Whether what enters and leaves a predicate is in the feed."""
        if not self.since or is_expression(predicate):
            return False
        return predicate in self.since or None in self.since

    def first_position(self, predicate: str | None) -> int:
        """The first position from which on all changes of a predicate are there."""
        own = self.since.get(predicate, self.since.get(None, 0))
        return max(own, self.gone)

    @property
    def bytes(self) -> int:
        """What all entries take before they are compressed."""
        return sum(table.bytes for table in self.tables.values())


NO_FEED = Feed()
