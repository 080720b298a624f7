"""Lets recursions run in one thread that might never end if they were interrupted.

With more threads, DuckDB 1.5.6 may wait for ever when it cancels a recursion that reads in each
round what it has found so far (`recurring`): one thread waits for tasks that the other, which waits
for it, has taken away. Such a recursion is no slower with one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from zodiac_sql.database.store import Store


@contextmanager
def one_thread(store: Store) -> Iterator[None]:
    """Inside the block, DuckDB has one thread, in all connections of this process to the file.

    These statements are told to no tracer: they change nothing that anybody sees.
    """
    ((threads,),) = store.connection.execute("SELECT current_setting('threads')").fetchall()
    if threads == 1:
        yield
        return
    try:
        store.connection.execute("SET threads = 1")
        yield
    finally:
        store.connection.execute(f"SET threads = {int(threads)}")
