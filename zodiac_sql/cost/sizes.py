"""What sizes of tables alone tell, before anything is counted."""

from __future__ import annotations

import math

from zodiac_sql.cost.calibration import (
    COMPARED,
    DERIVED,
    HASHED,
    HEAD,
    JOINED,
    ROUND,
    SCANNED,
    STATEMENT,
)


def is_large(rows: int) -> bool:
    """Whether to hash so many rows takes longer than another statement that makes them fewer."""
    return HASHED * rows > STATEMENT


def is_read_long(rows: int) -> bool:
    """Whether a round that reads so many rows takes longer for them than for its statements."""
    return SCANNED * rows > ROUND


def values_in(rows: float) -> float:
    """How many different values a column of so many rows is taken to have."""
    return math.sqrt(rows)


def are_told_apart_later(known: int, new: int) -> bool:
    """Whether to put heads into a table of their own, of which so many may be new, and to take out
    what is known then.

    DuckDB overestimates heads of joins, and puts the known facts into a hash table where the heads
    should be: 0.6 s for 56,000 heads and 5 million facts, instead of 0.3.
    """
    return HASHED * known > STATEMENT + JOINED * new


def joins_all(heads: int, rows: int) -> bool:
    """Whether to join all rows of a relation, which finds so many heads, takes no longer than a
    round that reads it.
    """
    return HEAD * heads <= ROUND + SCANNED * rows


def is_written_in_place(moved: int, rows: int) -> bool:
    """Whether to take rows out of a table and to put rows in takes less than to write all anew."""
    return DERIVED * moved <= COMPARED * rows
