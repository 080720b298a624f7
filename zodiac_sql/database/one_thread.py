"""Lets recursions run in one thread, because with more they may never end if they are interrupted.

DuckDB 2.0.1 shares the work of a round among threads if it reads more than a thousand rows. The
thread that waits for the others then may wait for ever, because the one that runs the statement
sees the interruption first, and takes away what they would have done. With one thread, it does all
work itself. Recursions of many narrow rounds are faster so; of wide ones, two share the work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

import duckdb

if TYPE_CHECKING:
    from zodiac_sql.database.connection import Connection

_AS_IT_IS: AbstractContextManager[None] = nullcontext()

_RECURSIVE = re.compile(r"\brecursive\b", re.IGNORECASE)


def threads_for(connection: Connection, text: str) -> AbstractContextManager[None]:
    """A block for a statement of ours, until its last row has been fetched."""
    return one_thread(connection) if "RECURSIVE" in text else _AS_IT_IS


def threads_for_sql(connection: Connection, text: str) -> AbstractContextManager[None]:
    """The same for a statement that a user wrote."""
    return one_thread(connection) if _RECURSIVE.search(text) else _AS_IT_IS


@contextmanager
def one_thread(connection: Connection) -> Iterator[None]:
    """Inside the block, DuckDB has one thread, in all connections of this process to the file.

    These statements are told to no tracer: they change nothing that anybody sees. The first waits
    for what other connections run (0.5 ms if they run nothing): a wait that ends is better.
    """
    instance = connection.instance
    if _usual(connection) == 1:
        yield
        return
    mine = _Mark()
    try:
        with instance.setting_threads:
            instance.with_one_thread.add(mine)
            if len(instance.with_one_thread) == 1:
                _set(connection, 1)
        yield
    finally:
        with instance.setting_threads:
            instance.with_one_thread.discard(mine)
            if not instance.with_one_thread:
                _set(connection, _usual(connection))


class _Mark:
    """Stands for a block. It is forgotten with it, if an interruption keeps it from its end."""


def _usual(connection: Connection) -> int:
    """How many threads DuckDB has outside of such blocks."""
    instance = connection.instance
    if instance.threads is None:
        try:
            row = connection.duckdb.cursor().execute(_THREADS).fetchone()
        except duckdb.Error:  # the statement itself will tell why
            return 1
        except RuntimeError as error:  # this is how DuckDB reports Ctrl-C
            raise KeyboardInterrupt from error
        instance.threads = int(row[0]) if row else 1
    return instance.threads


_THREADS = "SELECT current_setting('threads')"


def _set(connection: Connection, threads: int) -> None:
    """Set the number by another connection: this one may have an answer that is not fetched."""
    struck: RuntimeError | None = None
    for _ in range(2):
        try:
            connection.duckdb.cursor().execute(f"SET threads = {threads}")
            break
        except duckdb.Error:  # the file is closed or damaged, as the statement itself will tell
            return
        except RuntimeError as error:  # this is how DuckDB reports Ctrl-C
            struck = error
    if struck is not None:
        raise KeyboardInterrupt from struck
