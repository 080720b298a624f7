"""How far a change has come: a bar on standard error if that is a terminal, else nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress


class Report:
    """Hears what a change is doing, and says nothing: for a pipe."""

    def reading(self, file: Path) -> None:
        """A file is about to be read."""

    def __call__(self, hypernode: str, number: int, count: int) -> None:
        """A hypernode is about to be evaluated, after `number` of `count`."""


class Bar(Report):
    """Shows it: `reading farm.nt`, then `h3, 3 of 14` with a bar."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("opening", total=None)

    def reading(self, file: Path) -> None:
        self._show(f"reading {file.name}", None, None)

    def __call__(self, hypernode: str, number: int, count: int) -> None:
        self._show(f"{hypernode}, {number + 1} of {count}", number, count)

    def _show(self, text: str, completed: int | None, total: int | None) -> None:
        self._progress.update(self._task, description=text, completed=completed, total=total)
        self._progress.refresh()  # so that even a short step is seen


@contextmanager
def reported() -> Iterator[Report]:
    """A report for the time of a change. The bar is erased at the end."""
    if not sys.stderr.isatty():
        yield Report()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
    )
    with Progress(
        *columns,
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    ) as progress:
        yield Bar(progress)
