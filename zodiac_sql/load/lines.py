"""A text file as a column of lines, and where a line stands."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from zodiac_sql.errors import DataError, StoreError

REJECTED = "zodiac_rejected"
"""Temporary table of what read_csv itself refused: not UTF-8, or longer than 16 MiB."""

LINES = (
    "SELECT line FROM read_csv($path, columns = {'line': 'VARCHAR'}, compression = $compression,"
    " delim = chr(1) || chr(2) || chr(3) || chr(4), quote = '', escape = '', header = false,"
    " auto_detect = false, strict_mode = false, new_line = '\\n',"
    " max_line_size = 16777216, buffer_size = 33554432, store_rejects = true,"
    " rejects_table = 'zodiac_rejected', rejects_scan = 'zodiac_rejected_scan')"
)
"""The lines of a file; empty ones are NULL. The delimiter is one that no text holds.

Carriage returns end lines too (with the other settings of read_csv some text would be lost), so
CRLF gives an empty line more: `true_lines` turns the numbers of rows into those of lines.
"""


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn what DuckDB says about a file into a DataError that names the file."""
    try:
        yield
    except StoreError as error:
        if type(error) is not StoreError:
            raise
        raise DataError(f"{name} cannot be read: {str(error).partition(_SETTINGS)[0]}") from error


_SETTINGS = "\nPossible"
"""What follows in a DuckDB message are settings that the reader of the message cannot set."""


def parameters(path: Path) -> dict[str, object]:
    """The parameters of LINES."""
    return {"path": unglobbed(path), "compression": "gzip" if is_gzip(path) else "none"}


def is_gzip(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


def open_bytes(path: Path) -> IO[bytes]:
    """The file's bytes, decompressed."""
    if is_gzip(path):
        return cast("IO[bytes]", gzip.open(path, "rb"))
    return path.open("rb")


def unglobbed(path: Path) -> str:
    """The path as DuckDB must be given it, which would take *, ? and [ for patterns."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(path))


def true_lines(path: Path, rows: Iterable[int]) -> dict[int, int]:
    """Row of LINES -> number of the line in the file. For errors: it reads the file again."""
    wanted = sorted(set(rows))
    found: dict[int, int] = {}
    row = line = 0
    with open_bytes(path) as file:
        for block in _blocks(file):
            if len(found) == len(wanted):
                break
            rows_here = block.count(b"\n") + block.count(b"\r")
            if wanted[len(found)] > row + rows_here + 1:  # the last line may lack its end
                row += rows_here
                line += rows_here - block.count(b"\r\n")
                continue
            for text in block.splitlines(keepends=True):
                row, line = row + 1, line + 1
                if len(found) < len(wanted) and wanted[len(found)] <= row:
                    found[wanted[len(found)]] = line
                row += text.endswith(b"\r\n")
    return found


def _blocks(file: IO[bytes]) -> Iterable[bytes]:
    """The bytes in large pieces, none of which ends inside a line."""
    while block := file.read(1 << 20):
        yield block + file.readline()
