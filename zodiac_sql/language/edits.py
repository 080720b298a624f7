"""What is written instead of parts of a text where it is kept (language/kept_texts.py)."""

from __future__ import annotations


class Edits:
    """Parts of a text, by where they begin, and what is written instead of them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._noted: dict[int, tuple[int, str]] = {}

    def note(self, start: int, end: int, instead: str) -> None:
        """Note what is written instead of a part. Parts do not overlap."""
        self._noted[start] = (end, instead)

    def applied(self, start: int, end: int) -> str:
        """The text from one place to another, with what is written instead."""
        pieces = []
        for place in sorted(place for place in self._noted if start <= place < end):
            after, instead = self._noted[place]
            pieces += [self._text[start:place], instead]
            start = after
        return "".join((*pieces, self._text[start:end]))
