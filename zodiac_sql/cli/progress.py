"""Progress of a change on a terminal: one bar on stderr, nothing at all in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Report:
    """Shows what a change is doing: the file it reads, or the hypernode it evaluates."""

    def __init__(self, bar: Progress | None = None, task: TaskID | None = None) -> None:
        self._bar = bar
        self._task = task

    def reading(self, file: Path) -> None:
        """Show that a file is about to be read."""
        self._show(f"reading {file}", 0, None)

    def __call__(self, hypernode: str, number: int, total: int) -> None:
        """Show that hypernode `number`, counted from 0, of `total` is about to be evaluated."""
        self._show(f"hypernode {hypernode}, {number + 1} of {total}", number, total)

    def _show(self, text: str, done: int, total: int | None) -> None:
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=text, completed=done, total=total)


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
