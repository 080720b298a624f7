"""Plans and texts of statements: worked out once for a program, and used again by later changes.

Planning a rule and rendering a statement cost more than a small change itself. Both depend only on
the program and on which tables are read, so their results are put into a cache that lives as long
as the program does (change/prepared.py).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")


LARGEST_CARRIED = 1_000
"""The cache of an owner with this many entries is dropped when rules change, because most of them
are probably about tables that no statement reads any more."""


@dataclass(slots=True)
class StatementCache:
    """Plans and texts of statements, by keys that contain all that they depend on.

    Each hypernode (by number) and each predicate (by name) has a cache of its own, which survives
    changes of the rules of others.
    """

    entries: dict[Hashable, object] = field(default_factory=dict)
    parts: dict[int | str, StatementCache] = field(default_factory=dict)

    def of(self, owner: int | str) -> StatementCache:
        """The cache of a hypernode or a predicate."""
        return self.parts.setdefault(owner, StatementCache())

    def forget(self, owner: int | str) -> None:
        """Empty the cache of a hypernode or a predicate, because its statements are others now."""
        self.parts.pop(owner, None)

    def carried(self, lasts: Callable[[int | str], bool]) -> StatementCache:
        """A cache for a changed program, with the parts of the owners that have not changed."""
        return StatementCache(
            parts={
                owner: part
                for owner, part in self.parts.items()
                if len(part.entries) < LARGEST_CARRIED and lasts(owner)
            }
        )

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` returned when this key was first asked for."""
        if key not in self.entries:
            self.entries[key] = make()
        return self.entries[key]  # type: ignore[return-value]
