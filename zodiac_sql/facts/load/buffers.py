"""How much of a text file DuckDB holds at once, and the longest line that it reads.

As a rule that is 32 MB, and 16. On a device whose memory limit leaves less than that for reading,
it is an eighth of what there is. (For JSON it always takes 32 MB.)
"""

from __future__ import annotations

from zodiac_sql.database.settings import memory_limit_of
from zodiac_sql.database.store import Store

BUFFERS = "max_line_size = 16777216, buffer_size = 33554432"
"""What stands in statements with read_csv and sniff_csv."""

_LEAST = 96 * 2**20
"""With a smaller limit, the buffers are smaller, too. DuckDB holds at least two of them at once."""


def sized(outside: Store, statement: str) -> str:
    """A statement that reads a file, with buffers that the memory has room for."""
    size = memory_limit_of(outside.file.settings)
    if size is None or size >= _LEAST:
        return statement
    buffer = int(size / 8)
    return statement.replace(BUFFERS, f"max_line_size = {buffer // 2}, buffer_size = {buffer}")
