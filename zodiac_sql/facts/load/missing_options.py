"""Says which options a file of CSV may need, by what its first lines look like.

It is asked for errors, and where a column of texts may be one of numbers.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from zodiac_sql.facts.load.options import DEFAULTS, Options
from zodiac_sql.facts.load.source import SourceFile

_MOST_BYTES = 1 << 16
_MOST_LINES = 200
_BLOCK_BYTES = 1 << 20

_SEPARATORS = ";\t|,"
_NUMBER = re.compile(r"[-+]?[0-9]+([.,][0-9]+)*")
_COMMA = re.compile(r"[-+]?([0-9]+|[0-9]{1,3}([.' ][0-9]{3})+),[0-9]+")


def missing_options(file: SourceFile, options: Options) -> Iterator[str]:
    """What the file may need besides the options given, each as a sentence."""
    if options.encoding is None and (line := _not_utf8(file.data)):
        yield (
            f"Line {file.line(line)} is not UTF-8: if it was written in another encoding, say "
            'which, encoding="cp1252" (of Windows), "latin-1" or "utf-16".'
        )
    lines = _first_lines(file)
    if options.comment is None and any(line.startswith("#") for line in lines):
        yield 'Some lines begin with #: if these are comments, say comment="#".'
    yield from _before_table(file, lines, options)
    if _has_decimal_commas(file, options):
        yield 'Some cells look like 35,5: if these are numbers, say decimal=",".'


def notes_on_texts(file: SourceFile, options: Options, columns: int) -> Iterator[str]:
    """Notes for a table with texts that may be numbers, or whole lines."""
    if _has_decimal_commas(file, options):
        yield f'{file.path}: cells like 35,5 are texts. If they are numbers: decimal=","'
    if columns == 1:
        for hint in _before_table(file, _first_lines(file), options):
            yield f"{file.path}: each line was read as one cell. {hint}"


def _has_decimal_commas(file: SourceFile, options: Options) -> bool:
    """Whether whole cells look like decimals with a comma, and no option says that they are."""
    lines = _first_lines(file)
    separator = _separator(lines, options)
    if options.decimal != DEFAULTS.decimal or options.thousands == "," or separator == ",":
        return False
    return any(_COMMA.fullmatch(cell.strip()) for line in lines for cell in line.split(separator))


def _before_table(file: SourceFile, lines: Sequence[str], options: Options) -> Iterator[str]:
    """What may be said of lines before the table, whose lines all have as many separators."""
    separator = _separator(lines, options)
    counts = [line.count(separator) for line in lines]
    width = max(set(counts), key=counts.count) if counts else 0
    if not width or counts[0] == width:
        return
    begin = counts.index(width)
    if options.header and any(map(_NUMBER.fullmatch, lines[begin].split(separator))):
        return
    also = "" if options.delimiter else f", and delimiter={_shown(separator)}"
    yield (
        f"The table may begin in line {file.line(begin + 1)}: if so, say "
        f"skip={file.line(begin + 1) - 1}{also}."
    )


def _shown(separator: str) -> str:
    return '"\\t"' if separator == "\t" else f'"{separator}"'


def _separator(lines: Sequence[str], options: Options) -> str:
    """What is given, or stands in most lines."""
    if options.delimiter:
        return options.delimiter
    return max(_SEPARATORS, key=lambda separator: sum(separator in line for line in lines))


def _first_lines(file: SourceFile) -> list[str]:
    with file.data.open("rb") as data:
        text = data.read(_MOST_BYTES)
    lines = text.decode(errors="replace").splitlines()
    return lines[:_MOST_LINES] if len(text) < _MOST_BYTES else lines[:-1][:_MOST_LINES]


def _not_utf8(path: Path) -> int | None:
    """The first line that is not UTF-8, if there is one."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    before = 0
    with path.open("rb") as data:
        while True:
            block = data.read(_BLOCK_BYTES)
            try:
                decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                return before + error.object[: error.start].count(b"\n") + 1
            if not block:
                return None
            before += block.count(b"\n")
