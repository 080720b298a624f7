"""When a stream ticks: as often as its user wants, with the updates that have arrived by then."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass(slots=True)
class Ticks:
    """Tells when it is time for a tick: at once, and then every so many `seconds`."""

    seconds: float
    alone: bool = False
    """Whether the next one must be a change of its own, because one with an update was refused."""
    rests: bool = False
    """Whether the next update is to be applied without a tick, because with one it was refused."""
    _next: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        """How many seconds are left until the next tick."""
        return max(0.0, self._next - time.monotonic())

    @property
    def is_due(self) -> bool:
        return not self.left

    def done(self) -> None:
        """Note that the clock has ticked."""
        self.rests, self.alone = self.alone, False
        self._next = time.monotonic() + self.seconds
