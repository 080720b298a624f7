"""What there is to tell of one update: remarks, errors, time, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zodiac_sql.change.change import Change
from zodiac_sql.errors import Problem, Violation

if TYPE_CHECKING:
    from zodiac_sql.change.operators.directly import Write
    from zodiac_sql.change.plan_sizes import PlannedSizes


@dataclass(slots=True)
class UpdateReport:
    """What is told of an update. `change/report.py` makes the Change of it."""

    of_files: list[str] = field(default_factory=list)
    """Remarks on files that were read."""
    remarks: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    """The errors in texts of rules: all are reported together when the update is applied."""
    violations: tuple[Violation, ...] = ()
    """Those that the update brings, and that do not refuse it."""
    seconds: dict[str, float] = field(default_factory=dict)
    """The time spent so far, by phase."""
    started: float = field(default_factory=time.perf_counter)
    proof: Write | None = None
    """Facts that the change has brought, which tell whether it is in the file (directly.py)."""
    change: Change | None = None
    """The change that the update made, once it was applied."""
    plan: PlannedSizes | None = None
    """What the update is expected to derive, if that was asked."""
    ended: bool = False
    """Whether the block of the update has been left. After that, no verb is accepted."""

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        """Add the time spent inside the block to a phase."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[phase] = self.seconds.get(phase, 0.0) + time.perf_counter() - started
