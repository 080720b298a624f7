"""Places in a text, as editors count them: lines from 0, and in a line units of an encoding."""

from __future__ import annotations

import re
from bisect import bisect_right

from zodiac_sql.errors import Span

_BREAK = re.compile(r"\r\n|\n|\r")


class Places:
    """Turns numbers of characters into lines and units, and back. A unit is what a character is
    made of in UTF-8, UTF-16 or UTF-32.
    """

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self._text = text
        self._codec = f"{encoding}-le" if encoding != "utf-8" else encoding
        self._width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
        self._starts = [0, *(found.end() for found in _BREAK.finditer(text))]

    def place(self, offset: int) -> tuple[int, int]:
        """The line and the units before a place."""
        line = bisect_right(self._starts, offset) - 1
        return line, self._units(self._text[self._starts[line] : offset])

    def offset(self, line: int, units: int) -> int:
        """How many characters stand before a place. One beyond a line or the text is its end."""
        if line >= len(self._starts):
            return len(self._text)
        start = self._starts[line]
        found = _BREAK.search(self._text, start)
        content = self._text[start : found.start() if found else len(self._text)]
        if content.isascii():
            return start + min(units, len(content))
        whole = content.encode(self._codec, "surrogatepass")[: units * self._width]
        return start + len(whole.decode(self._codec, "ignore"))

    def _units(self, text: str) -> int:
        if text.isascii():
            return len(text)
        return len(text.encode(self._codec, "surrogatepass")) // self._width


def offsets(span: Span) -> tuple[int, int]:
    """How many characters stand before the beginning and the end of a part of a source.

    A problem may be at the end of a text, after its last line.
    """
    last, text = len(span.source.lines), span.source.text
    start, end = (
        min(span.source.offset(line, column), len(text)) if 1 <= line <= last else len(text)
        for line, column in ((span.line, span.column), (span.end_line, span.end_column))
    )
    return start, max(start, end)
