"""Lets recursions run in one thread that might never end if they were interrupted.

With more threads, DuckDB 2.0.1 may wait for ever when it cancels a recursion that reads in each
round what it has found so far (`recurring`): one thread waits for tasks that the other, which waits
for it, has taken away. Such a recursion is no slower with one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from zodiac_sql.database.store import Store

_RECURRING = re.compile(r"\brecurring\b", re.IGNORECASE)


@contextmanager
def one_thread(store: Store) -> Iterator[None]:
    """Inside the block, DuckDB has one thread, in all connections of this process to the file.

    These statements are told to no tracer: they change nothing that anybody sees. The first waits
    for what other connections run (0.5 ms if they run nothing): a wait that ends is better.
    """
    instance = store.instance
    if instance.threads is None:
        ((instance.threads,),) = _apart(store, "SELECT current_setting('threads')").fetchall()
    if instance.threads == 1:
        yield
        return
    mine = object()
    try:
        with instance.setting_threads:
            instance.with_one_thread.add(mine)
            _apart(store, "SET threads = 1")
        yield
    finally:
        with instance.setting_threads:
            instance.with_one_thread.discard(mine)
            if not instance.with_one_thread:
                _apart(store, f"SET threads = {instance.threads}")


def _apart(store: Store, statement: str) -> duckdb.DuckDBPyConnection:
    """Run it in a connection of its own: the usual one may have an answer that is not fetched."""
    return store.connection.cursor().execute(statement)


@contextmanager
def one_thread_for(store: Store, text: str) -> Iterator[None]:
    """The same, if a statement that a user wrote may be such a recursion."""
    if _RECURRING.search(text) is None:
        yield
        return
    with one_thread(store):
        yield
