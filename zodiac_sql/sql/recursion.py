"""All rows of a recursive statement, together.

DuckDB hands on by themselves the rows that each round of a recursion has found. Along a chain these
are one each, and to number a row and to write it costs as much as to do so with two thousand: 4 µs,
where a round takes 8. A table of the statement's own collects them first. (A chain of 20,000 took
250 ms, and takes 160. Where rounds are few and wide, a million facts take 30 ms more.)
"""

from __future__ import annotations

from sqlglot import exp

COLLECTED = "collected"
"""The table with all rows, which keeps the order in which they were found."""


def with_recursion(
    query: exp.Select, name: str, recursion: exp.Query, most: exp.Expr | None = None
) -> exp.Select:
    """A query that reads COLLECTED: what a recursion finds, or the first rows of it, if there are
    more than `most` tells. The recursion calls itself by its name.
    """
    rows = exp.select(exp.Star()).from_(name)
    if most is not None:
        rows = rows.limit(most, copy=False)
    query = query.with_(name, as_=recursion, recursive=True, copy=False)
    # RECURSIVE is said of all tables together, as often as one comes.
    return query.with_(COLLECTED, as_=rows, recursive=True, materialized=True, copy=False)
