"""Answers to users, which may have a largest size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zodiac_sql.database.connection import Parameters
from zodiac_sql.database.duckdb_errors import explaining
from zodiac_sql.database.limits import Bounds
from zodiac_sql.database.one_thread import threads_for_sql
from zodiac_sql.database.render import render
from zodiac_sql.database.store import Store

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

_ROWS = 100_000
"""Rows are counted this many at a time."""


def answer(store: Store, statement: str | exp.Expr, parameters: Parameters = None) -> pa.Table:
    """Run a statement and fetch its answer. Raises LimitError if it has too many rows."""
    text = statement if isinstance(statement, str) else render(statement)
    bounds = store.watch.bounds
    most = None if bounds is None else bounds.limits.max_rows
    with threads_for_sql(store.connection, text):  # until the last row
        if bounds is None or most is None:
            return store.arrow(text, parameters)
        return _counted(store, text, parameters, bounds, most)


def _counted(
    store: Store, text: str, parameters: Parameters, bounds: Bounds, most: int
) -> pa.Table:
    """The answer, batch by batch until it has too many rows."""
    import pyarrow as pa

    reader = store.batches(text, _ROWS, parameters)
    batches: list[pa.RecordBatch] = []
    rows = 0
    with explaining(store.connection):
        for batch in reader:
            batches.append(batch)
            rows += batch.num_rows
            if rows > most:
                bounds.too_many_rows()
    return pa.Table.from_batches(batches, reader.schema)
