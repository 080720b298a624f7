"""Answers to users, which may have a largest size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zodiac_sql.database.duckdb_errors import explaining
from zodiac_sql.database.store import Parameters, Store

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

_ROWS = 100_000
"""Rows are counted this many at a time."""


def answer(store: Store, statement: str | exp.Expr, parameters: Parameters = None) -> pa.Table:
    """Run a statement and fetch its answer. Raises LimitError if it has too many rows."""
    bounds = store.watch.bounds
    most = None if bounds is None else bounds.limits.max_rows
    if bounds is None or most is None:
        return store.arrow(statement, parameters)
    import pyarrow as pa

    reader = store.batches(statement, _ROWS, parameters)
    batches: list[pa.RecordBatch] = []
    rows = 0
    with explaining(store):
        for batch in reader:
            batches.append(batch)
            rows += batch.num_rows
            if rows > most:
                bounds.too_many_rows()
    return pa.Table.from_batches(batches, reader.schema)
