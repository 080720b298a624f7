"""A file that is read line by line, and knows how many lines it has given.

pyoxigraph tells no lines. The line of a triple is the last one that pyoxigraph had read when it
gave the triple.
"""

from __future__ import annotations

from typing import IO


class CountedLines:
    """A file that gives one line at a time, and knows how many it has given."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.line = 0
        self._inside = False

    def read(self, size: int = -1) -> bytes:
        """The next line, or the next part of a long one."""
        part = self._file.readline(size)
        self.line += not self._inside
        self._inside = bool(part) and not part.endswith(b"\n")
        return part
