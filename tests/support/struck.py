"""Interruptions where functions begin, and where those of C return: there Python looks for signals.

A profiler raises there, so that each place can be tried, and found again. It does not in
generators: where one began inside a tuple() of Python's own, an error of Python 3.11's followed.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType

import zodiac_sql


class Struck(KeyboardInterrupt):
    """The interruption."""


PACKAGE = Path(zodiac_sql.__file__).parent


def is_ours(file: Path) -> bool:
    """Whether a file is one of the package, or Python's own of context managers."""
    return file.is_relative_to(PACKAGE) or file.name == "contextlib.py"


@contextmanager
def struck_at(number: int, is_place: Callable[[Path], bool] = is_ours) -> Iterator[list[str]]:
    """Strike, inside the block, at the place of this number, of those in some files.

    It yields a list that tells where that was; it stays empty if the block ends before.
    """
    where: list[str] = []
    sys.setprofile(partial(_strike, iter(range(number)), is_place, where))
    try:
        yield where
    finally:
        sys.setprofile(None)


def _strike(
    left: Iterator[int],
    is_place: Callable[[Path], bool],
    where: list[str],
    frame: FrameType,
    event: str,
    given: object,
) -> None:
    code = frame.f_code
    if event not in ("call", "c_return") or code.co_flags & inspect.CO_GENERATOR:
        return
    if is_place(Path(code.co_filename)) and next(left, None) is None:
        where.append(f"{Path(code.co_filename).name}: {code.co_name}")
        raise Struck
