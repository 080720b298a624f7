"""What is worked out once for a program, plans and the texts of statements, and kept with it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")


MANY = 1_000
"""So many texts of one hypernode are a sign that old ones are of no use."""


@dataclass(slots=True)
class Kept:
    """What is worked out once for a program: plans, and the text of statements.

    What belongs to one hypernode (by number) or predicate (by name) stands apart: it lasts while
    other rules come and go.
    """

    things: dict[Hashable, object] = field(default_factory=dict)
    parts: dict[int | str, Kept] = field(default_factory=dict)

    def of(self, owner: int | str) -> Kept:
        """What belongs to a hypernode or a predicate."""
        return self.parts.setdefault(owner, Kept())

    def carried(self, lasts: Callable[[int | str], bool]) -> Kept:
        """What lasts, but for what has grown large: other tables may never be read again."""
        return Kept(
            parts={o: k for o, k in self.parts.items() if len(k.things) < MANY and lasts(o)}
        )

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` returned when this key was first asked for."""
        if key not in self.things:
            self.things[key] = make()
        return self.things[key]  # type: ignore[return-value]
