"""The last states that this process has published to a database, for its other connections.

A reader sees the state with the generation that its transaction has. It would have to read the
whole catalog if the connection that published this state had already gone on to the next one, or
was just about to note it: 20 to 30 ms, in which Python lets the change wait, too.

Rule: whoever publishes a change notes its state right after the COMMIT, and forgets all states
before a COMMIT that leaves the generation as it is. Reason: if this COMMIT fails half-way, nobody
may take an older state for what the file has.
"""

from __future__ import annotations

from threading import Condition
from typing import Any

_REMEMBERED = 16
"""So many states are remembered. A reader is rarely more than one behind."""

_SOON = 0.02
"""Seconds that a reader waits for a state that is in the file, but not noted yet."""


class Published:
    """The last states of one database, by generation."""

    __slots__ = ("_changed", "_latest", "_states")

    def __init__(self) -> None:
        self._changed = Condition()
        self._states: dict[int, Any] = {}
        self._latest: int | None = None

    def note(self, generation: int, state: object) -> None:
        """Remember the state that the file has now."""
        with self._changed:
            self._states.pop(generation, None)
            self._states[generation] = state
            self._latest = generation
            while len(self._states) > _REMEMBERED:
                del self._states[next(iter(self._states))]
            self._changed.notify_all()

    def begins(self) -> None:
        """Note that a COMMIT is next: until its state is noted, nobody knows which is the last."""
        with self._changed:
            self._latest = None

    def forget(self) -> None:
        """Forget all states, because the file may soon have another one of the same generation."""
        with self._changed:
            self._states.clear()
            self._latest = None

    def is_at(self, generation: int) -> bool:
        """Whether the file is certain to have this generation, as long as nobody publishes."""
        return self._latest == generation

    @property
    def has_any(self) -> bool:
        """Whether any state is known."""
        return bool(self._states)

    def of(self, generation: int) -> Any | None:
        """The state of a generation, if it is known."""
        return self._states.get(generation)

    def soon(self, generation: int) -> Any | None:
        """The same. If there are only older states, the thread that has published may be about to
        note it: wait for a moment.
        """
        with self._changed:
            if self._states and generation > max(self._states):
                self._changed.wait_for(lambda: generation in self._states, _SOON)
            return self._states.get(generation)
