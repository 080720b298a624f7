"""Progress of a change on a terminal: one bar on stderr, nothing at all in a pipe.

The bar of a large evaluation from scratch goes by facts, as far as they can be estimated, and says
how long the rest would take if every fact took equally long.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from zodiac_sql.change.plan_sizes import Plan


class Report:
    """Shows what a change is doing: the file it reads, or the hypernode it evaluates."""

    def __init__(self, bar: Progress | None = None, task: TaskID | None = None) -> None:
        self._bar = bar
        self._task = task
        self._expected: dict[str, int] = {}
        self._begun = 0.0

    def reading(self, file: Path) -> None:
        """Show that a file is about to be read."""
        self._show(f"reading {file}", 0, None)

    def expects(self, plan: Plan) -> None:
        """Go by facts from now on: so many are expected of each hypernode."""
        self._expected = {one.hypernode: one.rows for one in plan.hypernodes}
        self._begun = time.monotonic()

    def __call__(self, hypernode: str, number: int, total: int) -> None:
        """Show that hypernode `number`, counted from 0, of `total` is about to be evaluated."""
        text, expected = f"hypernode {hypernode}, {number + 1} of {total}", self._expected
        if hypernode not in expected:
            self._show(text, number, total)
            return
        names = list(expected)
        done = sum(expected[name] for name in names[: names.index(hypernode)])
        all_ = sum(expected.values())
        left = _left(time.monotonic() - self._begun, done / max(all_, 1))
        self._show(f"{text}: about {expected[hypernode]:,} facts{left}", done, all_)

    def _show(self, text: str, done: int, total: int | None) -> None:
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=text, completed=done, total=total)


def _left(passed: float, share: float) -> str:
    """How long the rest takes, once a second and a hundredth have passed."""
    if passed < 1 or share < 0.01:
        return ""
    seconds = passed * (1 - share) / share
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f", {seconds / length:.0f} {unit} left"
    return f", {seconds:.0f} s left"


@contextmanager
def reported() -> Iterator[Report]:
    """A report that is drawn while the block runs, if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield Report()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield Report(bar, bar.add_task("starting", total=None))
