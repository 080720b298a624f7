"""A recursion in shares, one after the other, where all of it would not fit the memory.

DuckDB keeps all rows of a recursive query in memory, whatever its limit: 70 bytes for each pair of
a closure. But if each rule keeps a column as it is, such as X in tc(X, Z) :- tc(X, Y), edge(Y, Z),
facts with different values of that column have nothing to do with each other. So they can be
derived share by share, by the hash of the value, and what is derived may go to the disk.

How many facts there will be, nobody knows: if there may be too many (cost/most_facts.py), a small
share is derived first, and tells. Along deep chains that share takes as many rounds as all do.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from zodiac_sql.database.statements import create_temp, temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.sql.aggregates import PARTS

BYTES_OF_A_ROW = 80
"""What a row of a recursive query takes in memory: two integers, and what finds them again."""

SHARE_OF_MEMORY = 0.4
"""The share of the memory limit that such rows may have, beside what is read and written, and in
parts that are larger than the first one."""

TOLD, LONG = 16, 10_000
"""If somebody waits, there are at least so many shares, where one part has so many facts: all take
some seconds then."""

_UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}

Recursion = Callable[[int, int], exp.Select]
"""A recursive query for the parts from one number on, before another one."""


def pays(store: Store, inputs: int, arity: int, most: Callable[[], float | None]) -> bool:
    """Whether what follows from some facts may take too much memory, or somebody waits for it.
    `most` tells how many facts there may be at most. That is not asked where all facts that are
    read could not be put together to too many.

    One statement cannot tell how far it has come, and is not faster: a closure of 48.7 million
    pairs takes 43 s in one statement, and 42 s in shares.
    """
    if store.watch.listener is not None:
        return True
    fitting = most_rows(store)
    return inputs**arity > fitting and not 0 < (most() or 0) <= fitting


def in_shares(store: Store, name: str, recursion: Recursion) -> int:
    """Create a table of what a recursion derives, and return its rows."""
    rows = store.count(create_temp(name, recursion(0, 1)), as_written=True)
    fitting = most_rows(store) // max(rows, 1)
    most = PARTS if store.watch.listener is None or rows < LONG else PARTS // TOLD
    together = min(max(fitting, 1), most)
    for first in range(1, PARTS, together):
        store.watch.tell(first, PARTS)
        query = recursion(first, min(first + together, PARTS))
        rows += store.count(exp.insert(query, temp_table(name)), as_written=True)
    return rows


def among(query: exp.Query, column: str, first: int, end: int) -> exp.Select:
    """Those rows of a query whose value of a column is in some parts."""
    value = exp.column(column, table="p", quoted=True)
    number = exp.Literal.number(PARTS)
    part = exp.Mod(this=exp.Anonymous(this="hash", expressions=[value]), expression=number)
    rows = exp.select(exp.Star()).from_(query.subquery("p", copy=False))
    return rows.where(part >= exp.Literal.number(first), part.copy() < exp.Literal.number(end))


def most_rows(store: Store) -> int:
    """How many rows a recursive query may have."""
    ((text,),) = store.rows("SELECT current_setting('memory_limit')")
    found = re.fullmatch(r"([0-9.]+) (\w+)", text)
    limit = float(found[1]) * _UNITS[found[2]] if found else 2**30
    return int(limit * SHARE_OF_MEMORY / BYTES_OF_A_ROW)
