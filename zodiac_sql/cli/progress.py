"""Progress of a change on a terminal: one bar on stderr, nothing at all in a pipe.

The bar of a large evaluation from scratch goes by facts, as far as they can be estimated, and says
how long the rest would take: first by what was measured elsewhere, then by what the change has
taken so far.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from zodiac_sql.cli.terminal import draws_progress

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from zodiac_sql.change.plan_sizes import Expected, PlannedSizes


JOINED_A_SECOND, RECURSIVE_A_SECOND, CONDENSED_A_SECOND = 5_000_000, 1_000_000, 100_000_000
"""The facts that two cores derive in a second (`python -m tests.benchmarks scale`). Once a second
has passed, what was seen counts."""

TELLING = 0.02
"""Less of a hypernode than this tells nothing of the rest: all that is prepared for it is in it."""


class Report:
    """Shows what a change is doing: the file it reads, or the hypernode it evaluates."""

    def __init__(self) -> None:
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._expected: dict[str, Expected] = {}
        self._hypernode = ""
        self._begun = self._entered = self._seen = 0.0
        self._rest: float | None = None
        """How many seconds the rest was expected to take when something was last seen."""

    def shows_on(self, bar: Progress) -> None:
        """Draw on a bar from now on."""
        self._bar, self._task = bar, bar.add_task("starting", total=None)

    def reading(self, file: Path) -> None:
        """Show that a file is about to be read."""
        self._show(f"reading {file}", 0, None)

    def expects(self, plan: PlannedSizes) -> None:
        """Go by facts from now on: so many are expected of each hypernode."""
        self._expected = {one.hypernode: one for one in plan.hypernodes}
        self._begun = time.monotonic()

    def __call__(self, hypernode: str, number: int, total: int) -> None:
        """Show that hypernode `number`, counted from 0, of `total` is about to be evaluated."""
        text, expected = f"hypernode {hypernode}, {number + 1} of {total}", self._expected
        if hypernode not in expected:
            self._show(text, number, total)
            return
        self._hypernode, self._entered = hypernode, time.monotonic()
        self._note(f"{text}: about {expected[hypernode].rows:,} facts", 0.0, 0.0)

    def comes(self, done: int, total: int | None) -> None:
        """Correct what is expected: the hypernode has done so many parts, or derived so many
        facts.
        """
        one = self._expected.get(self._hypernode)
        if one is None or not done:
            return
        share = min(done / (total or max(one.rows, 1)), 1.0)
        passed = time.monotonic() - self._entered
        if passed > 1 and share >= TELLING:
            self._note(None, share, passed / share - passed)

    def _note(self, text: str | None, share: float, rest: float) -> None:
        """Show what is done of all, and expect the rest: so much of this hypernode, and what comes
        after it, which will be slower or faster, as what is done was.
        """
        seconds = {name: _seconds(one) for name, one in self._expected.items()}
        names, own, all_seconds = list(seconds), seconds[self._hypernode], sum(seconds.values())
        done = sum(seconds[name] for name in names[: names.index(self._hypernode)]) + own * share
        self._seen = time.monotonic()
        passed = self._seen - self._begun
        slower = passed / done if passed > 1 and done > all_seconds / 100 else 1.0
        after = all_seconds - done - own * (1 - share)
        self._rest = after * slower + (rest if share else own * slower)
        self._show(text, round(1000 * done), round(1000 * all_seconds) or 1)

    def left(self) -> str:
        """How long the rest takes, as far as that can be told: it goes down as time passes."""
        if self._rest is None or self._rest < 1:
            return ""
        rest = self._rest - (time.monotonic() - self._seen)
        return f"{_told(rest)} left" if rest >= 1 else "overdue"

    def _show(self, text: str | None, done: int, total: int | None) -> None:
        """Draw, if there is a bar. Without a text, the one before stays."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=text, completed=done, total=total)


def _seconds(one: Expected) -> float:
    """How long a hypernode takes on two cores, about."""
    if one.how.startswith("components"):
        return one.rows / CONDENSED_A_SECOND
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
    if not draws_progress():
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
    from rich.table import Column
    from rich.text import Text

    class Remaining(ProgressColumn):
        """How long the rest takes."""

        def render(self, task: Task) -> Text:
            return Text(report.left())

    one_line = Column(no_wrap=True, overflow="ellipsis")
    text = TextColumn("{task.description}", markup=False, table_column=one_line)
    columns = (text, BarColumn(bar_width=16), TimeElapsedColumn(), Remaining())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        report.shows_on(bar)
        yield report
