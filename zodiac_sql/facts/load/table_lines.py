"""A text without the lines that are not of its table: those before it, and comments.

A line that begins with the sign of comments is one, unless a cell in quotation marks has begun
before it and goes on there. DuckDB's own option would also cut off what follows the sign inside of
a line, which is a value. The lines that are left are copied, and errors tell their places in the
file (`SourceFile.line`).
"""

from __future__ import annotations

import mmap
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from zodiac_sql.errors import DataError
from zodiac_sql.facts.load.options import Options
from zodiac_sql.facts.load.source import SourceFile

_END = re.compile(rb"\r\n|\r|\n")
_BLOCK_BYTES = 1 << 20
_QUOTED = rb'"[^"]*+(?:""[^"]*+)*+"'


@contextmanager
def only_table(file: SourceFile, options: Options) -> Iterator[SourceFile]:
    """The file with the lines of its table. Raises DataError if it has fewer than are skipped."""
    if not options.leaves_lines_out or not file.data.stat().st_size:
        yield file
        return
    with tempfile.TemporaryDirectory(prefix="zodiac_sql_") as folder:
        target = Path(folder) / "table"
        with (
            file.data.open("rb") as source,
            mmap.mmap(source.fileno(), 0, prot=mmap.PROT_READ) as data,
            target.open("wb") as plain,
        ):
            copy = _Copy(data, plain, [])
            begin = _after(file, data, options.skip)
            copy.leave_out(0, begin)
            for start, end in _left_out(data, begin, options):
                copy.leave_out(start, end)
            copy.leave_out(len(data), len(data))
        yield replace(file, data=target, left_out=copy.left_out)


@dataclass(slots=True)
class _Copy:
    """Copies data without some of its lines, and keeps the numbers of these."""

    data: mmap.mmap
    plain: IO[bytes]
    left_out: list[int]
    _lines: int = 0
    _done: int = 0

    def leave_out(self, start: int, end: int) -> None:
        """Copy what is before some lines, and leave these out."""
        while self._done < start:
            kept = self.data[self._done : min(start, self._done + _BLOCK_BYTES)]
            if kept.endswith(b"\r") and self._done + len(kept) < start:
                kept = kept[:-1] or kept  # it may be the first half of a line end
            self.plain.write(kept)
            self._lines += _ends(kept)
            self._done += len(kept)
        gone = self.data[start:end]
        count = _ends(gone) + (bool(gone) and not gone.endswith((b"\n", b"\r")))
        self.left_out += range(self._lines + 1, self._lines + count + 1)
        self._lines += count
        self._done = end


def _ends(text: bytes) -> int:
    return text.count(b"\n") + text.count(b"\r") - text.count(b"\r\n")


def _after(file: SourceFile, data: mmap.mmap, skip: int) -> int:
    """Where the line after the first ones begins."""
    at = 0
    for number in range(skip):
        end = _END.search(data, at)
        if end is None:
            lines = number + (at < len(data))
            raise DataError(
                f"{file.path} has {lines} {'line' if lines == 1 else 'lines'}, and skip={skip} "
                "leaves none of them. Nothing was loaded."
            )
        at = end.end()
    return at


def _left_out(data: mmap.mmap, begin: int, options: Options) -> Iterator[tuple[int, int]]:
    """Where comments are, and the empty lines before the table."""
    comment = _comment(options)
    at = begin
    while (found := _END.match(data, at)) or (comment and (found := comment.match(data, at))):
        yield found.span()
        at = found.end()
        if found.end() == len(data):
            return
    if comment:
        for found in _comment_or_cell(comment, options).finditer(data, at):
            if found["comment"] is not None:
                yield found.span()


def _comment(options: Options) -> re.Pattern[bytes] | None:
    if options.comment is None:
        return None
    sign = re.escape(options.comment.encode())
    return re.compile(rb"(?<![^\r\n])" + sign + rb"[^\r\n]*+(?:\r\n|\r|\n|\Z)")


def _comment_or_cell(comment: re.Pattern[bytes], options: Options) -> re.Pattern[bytes]:
    """What finds comments, and passes over cells in quotation marks, which may have several lines.

    Such a cell begins a line, or follows a separator: other quotation marks are characters.
    """
    separators = re.escape(options.delimiter.encode()[-1:] if options.delimiter else b",;\t|")
    cell = rb"(?<![^\r\n" + separators + rb"])" + _QUOTED
    return re.compile(rb"(?P<comment>" + comment.pattern + rb")|" + cell)
