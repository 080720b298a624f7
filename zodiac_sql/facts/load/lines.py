"""A text file as a column of lines, and where a line stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from sqlglot import exp

from zodiac_sql.database.duckdb_errors import BrokenStreamError
from zodiac_sql.database.statements import create_temp
from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError, EvaluationError, StoreError
from zodiac_sql.facts.load.buffers import BUFFERS, sized
from zodiac_sql.facts.load.source import SourceFile

LINES = "zodiac_lines"
"""The relation from which the lines of a file can be read while they are offered."""

READ_LINES = (
    "SELECT line FROM read_csv($path, columns = {'line': 'VARCHAR'}, compression = 'none',"
    " delim = chr(1) || chr(2) || chr(3) || chr(4), quote = '', escape = '', header = false,"
    " auto_detect = false, strict_mode = false, new_line = '\\n',"
    f" {BUFFERS}, store_rejects = true,"
    " rejects_table = 'zodiac_rejected', rejects_scan = 'zodiac_rejected_scan')"
)
"""The lines of a file; empty ones are NULL. The delimiter is one that no text holds.

Carriage returns end lines too (with other settings of read_csv some text would be lost), so CRLF
gives an extra empty line: `true_lines` turns the numbers of rows into those of lines. Lines that
read_csv itself refused (not UTF-8) are in zodiac_rejected, outside.
"""


@contextmanager
def lines_of(store: Store, outside: Store, file: SourceFile) -> Iterator[None]:
    """Let one statement inside read the lines of a file from LINES."""
    lines = outside.batches(sized(outside, READ_LINES), _BATCH_ROWS, {"path": file.unglobbed})
    with reading(str(file.path)), store.offered(LINES, lines):
        yield


def read_into(
    store: Store, outside: Store, table: str, query: str, values: Mapping[str, object]
) -> None:
    """Create a temporary table with the answer of a query outside about a file."""
    rows = outside.batches(sized(outside, query), _BATCH_ROWS, values)
    with store.offered(_ROWS, rows):
        store.run(create_temp(table, exp.select(exp.Star()).from_(_ROWS)))


_ROWS = "zodiac_file_rows"

_BATCH_ROWS = 20_480
"""How many rows at a time go from outside to inside: ten of DuckDB's vectors."""


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn DuckDB's error about a file into a DataError that names the file."""
    try:
        yield
    except (EvaluationError, StoreError, BrokenStreamError) as error:
        if type(error) not in (EvaluationError, StoreError, BrokenStreamError):
            raise
        said = str(error).partition(_SETTINGS)[0]
        raise DataError(
            f"{name} cannot be read: {_NO_FORM if any(one in said for one in _UNKNOWN) else said}"
        ) from error


_SETTINGS = "\nPossible"
"""In DuckDB's message, settings follow after this; the reader of the message cannot set those."""


_UNKNOWN = (
    "not possible to automatically detect the CSV parsing dialect",
    "Sniffer detected value different than the user input",
)

_NO_FORM = (
    "its lines have no form in which all have the same columns. Lines must end all alike (by \\n, "
    "or by \\r\\n), cells with separators or line breaks stand in double quotation marks, and what "
    "separates cells is a comma, a semicolon, a tab or a |, or is named (delimiter). Lines before "
    "the table are left out by skip, and those between its rows by comment."
)


def true_lines(path: Path, rows: Iterable[int]) -> dict[int, int]:
    """Row of READ_LINES -> line number in the file. It reads the file again, so only for errors."""
    wanted = sorted(set(rows))
    found: dict[int, int] = {}
    row = line = 0
    with path.open("rb") as file:
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
