"""Symbols that are published, in memory. They never change, so the file need not be asked again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

MOST_REMEMBERED = 50_000
"""When more symbols than this are remembered, those that have been for longest are forgotten."""

LONGEST_REMEMBERED = 200
"""Longer texts are not remembered: they would take much memory, and are hardly mentioned often."""

MOST_READ = 10_000
"""With more symbols than this in a file, not all of them are read at once: each takes some hundred
bytes."""

TIMES_ASKED = 10
"""After so many questions all symbols are read; after as many again, if others have come since."""


@dataclass(slots=True)
class Remembered:
    """Some symbols, both ways."""

    ids: dict[str, int] = field(default_factory=dict)
    texts: dict[int, str] = field(default_factory=dict)
    all_to: int | None = None
    """All symbols up to this id are among `ids`."""
    times_asked: int = 0
    """How often the file was asked for symbols."""

    def add(self, published: Mapping[str, int]) -> None:
        """Remember symbols by their texts."""
        self.ids |= {t: number for t, number in published.items() if len(t) <= LONGEST_REMEMBERED}
        if len(self.ids) > MOST_REMEMBERED or any(len(t) > LONGEST_REMEMBERED for t in published):
            self.all_to = None
        _forget_oldest(self.ids)

    def add_all(self, published: Mapping[str, int], last: int | None) -> None:
        """Remember all symbols up to an id. That these are all is noted last: an interruption may
        come before, and what is not among all symbols is taken for a new one.
        """
        self.all_to = None
        self.add(published)
        if all(text in self.ids for text in published):
            self.all_to = last

    def add_texts(self, published: Mapping[int, str]) -> None:
        """Remember symbols by their ids."""
        self.texts |= {n: text for n, text in published.items() if len(text) <= LONGEST_REMEMBERED}
        _forget_oldest(self.texts)

    def should_be_all(self, last: int | None) -> bool:
        """Whether all symbols are to be read now. `last` is the highest id in the file, if known.

        So it is if these are few, and the file has been asked so often that it will be asked again:
        who mentions new symbols asks in each change.
        """
        self.times_asked += 1
        few = last is not None and last <= min(MOST_READ, MOST_REMEMBERED)
        return few and self.times_asked % TIMES_ASKED == 0


def _forget_oldest(known: dict[Any, Any]) -> None:
    for key in list(islice(known, max(0, len(known) - MOST_REMEMBERED))):
        del known[key]
