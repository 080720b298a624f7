"""Where a command prints: on this terminal, or, if a server runs it, on that of its client."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TextIO, cast

import typer


@dataclass(frozen=True, slots=True)
class Terminal:
    """Standard output and standard error of a client. `width` is None if that is no terminal.

    Paths in messages are told as the client wrote them: from the `folder` in which it is.
    """

    out: io.TextIOBase
    err: io.TextIOBase
    width: int | None
    folder: str

    def told(self, text: str) -> str:
        """A message with paths as the client wrote them."""
        return text if self.folder == os.sep else text.replace(f"{self.folder}{os.sep}", "")


_terminal: ContextVar[Terminal | None] = ContextVar("terminal", default=None)


@contextmanager
def printing_on(terminal: Terminal) -> Iterator[None]:
    """Inside the block, this thread prints on a terminal."""
    token = _terminal.set(terminal)
    try:
        yield
    finally:
        _terminal.reset(token)


def output() -> TextIO:
    """Standard output."""
    terminal = _terminal.get()
    return sys.stdout if terminal is None else cast(TextIO, terminal.out)


def terminal_width() -> int | None:
    """The width of standard output; None if it is no terminal."""
    terminal = _terminal.get()
    if terminal is not None:
        return terminal.width
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def draws_progress() -> bool:
    """Whether standard error is a terminal on which progress can be drawn."""
    return _terminal.get() is None and sys.stderr.isatty()


def about_paths(text: str) -> str:
    """A message with the paths of files in it, as people here wrote them."""
    terminal = _terminal.get()
    return text if terminal is None else terminal.told(text)


def echo(text: str = "", err: bool = False, nl: bool = True) -> None:
    """Print a text."""
    terminal = _terminal.get()
    if terminal is None:
        typer.echo(text, err=err, nl=nl)
    else:
        (terminal.err if err else terminal.out).write(text + "\n" * nl)
