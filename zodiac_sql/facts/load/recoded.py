"""Text in another encoding -> the same text in UTF-8, which all readers read."""

from __future__ import annotations

import codecs
from pathlib import Path

from zodiac_sql.errors import DataError

_BLOCK_BYTES = 1 << 20


def recode(path: Path, data: Path, target: Path, encoding: str) -> None:
    """Write a text anew in UTF-8.

    Raises DataError for bytes that are no character, with their line. `path` is what errors name.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    lines = _Lines()
    with data.open("rb") as source, target.open("wb") as plain:
        while True:
            block = source.read(_BLOCK_BYTES)
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeError as error:
                raise _no_character(path, encoding, error, lines) from None
            lines.add(text)
            # Half of a surrogate pair, which UTF-16 may hold, is no character.
            try:
                plain.write(text.encode())
            except UnicodeEncodeError as error:
                raise _no_character(path, encoding, error, lines) from None
            if not block:
                return


class _Lines:
    """How many lines have ended so far. A line ends by \\n, by \\r, or by both."""

    def __init__(self) -> None:
        self.ended = 0
        self._after_return = False

    def add(self, text: str) -> None:
        ends = text.count("\n") + text.count("\r") - text.count("\r\n")
        self.ended += ends - (self._after_return and text.startswith("\n"))
        if text:
            self._after_return = text.endswith("\r")


def _no_character(path: Path, encoding: str, error: UnicodeError, lines: _Lines) -> DataError:
    where, what = "", ""
    if isinstance(error, UnicodeDecodeError):
        before = error.object[: error.start].decode(encoding, errors="ignore")
        lines.add(before)
        where = f", line {lines.ended + 1}"
        what = " ".join(f"0x{byte:02x}" for byte in error.object[error.start : error.end][:4])
        what = f": the byte {what} is no character there"
    return DataError(
        f"{path}{where}: the text is not {encoding}{what}. Nothing was loaded. Files without an "
        "encoding of their own are often utf-8 (the default), cp1252 (of Windows) or latin-1: give "
        'the one that it was written in, encoding="cp1252".'
    )
