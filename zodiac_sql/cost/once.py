"""What is found out about a piece of work, when an operator first asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Once:
    """Remembers what was found out: several operators ask for the same."""

    def __init__(self) -> None:
        self._found: dict[str, object] = {}

    def once(self, name: str, find: Callable[[], T]) -> T:
        """What `find` returned when this name was first asked for."""
        if name not in self._found:
            self._found[name] = find()
        return self._found[name]  # type: ignore[return-value]

    def has(self, name: str) -> bool:
        """Whether something was found out under this name, and not nothing."""
        return self._found.get(name) is not None
