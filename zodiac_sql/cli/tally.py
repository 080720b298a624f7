"""What a stream of updates has done so far: counted, drawn on a terminal, and summed up."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zodiac_sql.change.change import Change

_NOTES = 10
"""So many notes are kept; the others are counted."""


@dataclass(slots=True)
class Tally:
    """The changes of a stream, added up."""

    updates: int = 0
    entered: int = 0
    left: int = 0
    last: int = 0
    """The number of the last update in the file."""
    notes: list[str] = field(default_factory=list)
    more_notes: int = 0
    behind: str = ""
    _started: float = field(default_factory=time.perf_counter)

    def add(self, change: Change) -> None:
        self.updates += len(change.updates)
        self.last = change.updates[-1]
        self.entered += sum(change.inserted.values())
        self.left += sum(change.deleted.values())
        free = max(0, _NOTES - len(self.notes))
        self.notes += change.notes[:free]
        self.more_notes += len(change.notes[free:])
        waiting, lag = change.stats["stream"]["waiting"], change.stats["stream"]["lag"]
        self.behind = f"behind: {_counted(waiting, 'update')}, {lag:.1f} s"

    def __str__(self) -> str:
        seconds = time.perf_counter() - self._started
        rate = self.updates / seconds if seconds else 0.0
        return (
            f"{_counted(self.updates, 'update')}, {_counted(self.entered, 'fact')} in, "
            f"{self.left} out, {seconds:.1f} s, {rate:.{0 if rate >= 10 else 1}f} updates/s"
        )

    def all_notes(self) -> list[str]:
        """The first notes, and how many there are besides."""
        return [*self.notes, *([f"and {self.more_notes} more"] if self.more_notes else [])]


def _counted(number: Any, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


@contextmanager
def drawn(tally: Tally, wanted: bool) -> Iterator[Callable[[], object]]:
    """Draw a tally while the block runs, if stderr is a terminal; call what is given on changes."""
    if not wanted or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("waiting for updates", total=None)
        yield lambda: bar.update(task, description=f"{tally}; {tally.behind}")
