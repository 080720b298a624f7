"""What is written instead of parts of a text where it is kept (language/kept_texts.py)."""

from __future__ import annotations

from bisect import bisect_left, insort


class Edits:
    """Parts of a text, by where they begin, and what is written instead of them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts: list[int] = []
        self._noted: dict[int, tuple[int, str]] = {}

    def note(self, start: int, end: int, instead: str) -> None:
        """Note what is written instead of a part. Parts do not overlap."""
        if start not in self._noted:
            insort(self._starts, start)
        self._noted[start] = (end, instead)

    def applied(self, start: int, end: int) -> str:
        """The text from one place to another, with what is written instead."""
        pieces = []
        for place in self._starts[
            bisect_left(self._starts, start) : bisect_left(self._starts, end)
        ]:
            after, instead = self._noted[place]
            pieces += [self._text[start:place], instead]
            start = after
        return "".join((*pieces, self._text[start:end])) if pieces else self._text[start:end]
