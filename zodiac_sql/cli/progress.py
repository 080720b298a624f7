"""Progress of a change on a terminal: one bar on stderr, nothing at all in a pipe.

The bar of a large evaluation from scratch goes by facts, as far as they can be estimated, and says
how long the rest would take: first by what was measured elsewhere, then by what the change has
taken so far.
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

    from zodiac_sql.change.plan_sizes import Expected, Plan


JOINED_A_SECOND, RECURSIVE_A_SECOND = 5_000_000, 1_000_000
"""The facts that two cores derive in a second (`python -m tests.benchmarks scale`). Once a second
has passed, what was seen counts."""


class Report:
    """Shows what a change is doing: the file it reads, or the hypernode it evaluates."""

    def __init__(self) -> None:
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._expected: dict[str, Expected] = {}
        self._begun = self._entered = 0.0
        self._rest: float | None = None
        """How many seconds the rest was expected to take when the last hypernode was begun."""

    def shows_on(self, bar: Progress) -> None:
        """Draw on a bar from now on."""
        self._bar, self._task = bar, bar.add_task("starting", total=None)

    def reading(self, file: Path) -> None:
        """Show that a file is about to be read."""
        self._show(f"reading {file}", 0, None)

    def expects(self, plan: Plan) -> None:
        """Go by facts from now on: so many are expected of each hypernode."""
        self._expected = {one.hypernode: one for one in plan.hypernodes}
        self._begun = time.monotonic()

    def __call__(self, hypernode: str, number: int, total: int) -> None:
        """Show that hypernode `number`, counted from 0, of `total` is about to be evaluated."""
        text, expected = f"hypernode {hypernode}, {number + 1} of {total}", self._expected
        if hypernode not in expected:
            self._show(text, number, total)
            return
        names = list(expected)
        seconds = [_seconds(one) for one in expected.values()]
        done = sum(seconds[: names.index(hypernode)])
        self._entered = time.monotonic()
        passed = self._entered - self._begun
        slower = passed / done if passed > 1 and done > sum(seconds) / 100 else 1.0
        self._rest = (sum(seconds) - done) * slower
        about = f"{text}: about {expected[hypernode].rows:,} facts"
        self._show(about, round(1000 * done), round(1000 * sum(seconds)) or 1)

    def left(self) -> str:
        """How long the rest takes, as far as that can be told: it goes down as time passes."""
        if self._rest is None or self._rest < 1:
            return ""
        rest = self._rest - (time.monotonic() - self._entered)
        return f"{_told(rest)} left" if rest >= 1 else "longer than expected"

    def _show(self, text: str, done: int, total: int | None) -> None:
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=text, completed=done, total=total)


def _seconds(one: Expected) -> float:
    """How long a hypernode takes on two cores, about."""
    return one.rows / (JOINED_A_SECOND if one.how == "joins" else RECURSIVE_A_SECOND)


def _told(seconds: float) -> str:
    """A time in a unit in which it is at least 2."""
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


@contextmanager
def reported() -> Iterator[Report]:
    """A report that is drawn while the block runs, if stderr is a terminal."""
    report = Report()
    if not sys.stderr.isatty():
        yield report
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.text import Text

    class Left(ProgressColumn):
        """How long the rest takes."""

        def render(self, task: Task) -> Text:
            return Text(report.left())

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, Left(), console=Console(stderr=True), transient=True) as bar:
        report.shows_on(bar)
        yield report
