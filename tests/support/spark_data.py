"""Facts of random programs as Spark data frames."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from generators.program_changes import Change
from generators.programs import Row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def frame(spark: SparkSession, rows: list[Row]) -> Any:
    """Facts as a data frame; a fact without columns is a row that holds."""
    columns = [list(c) for c in zip(*rows, strict=True)] if rows[0] else [[True] * len(rows)]
    names = [f"c{place}" for place in range(len(columns))] if rows[0] else ["holds"]
    return spark.createDataFrame(pa.table(columns, names))


def as_frames(spark: SparkSession, steps: Change, kind: type) -> dict[str, Any]:
    """What a change inserts, or deletes, as a data frame for each predicate."""
    rows: dict[str, list[Row]] = {}
    for step in steps:
        if isinstance(step, kind):
            rows.setdefault(step.predicate, []).extend(step.rows)
    return {predicate: frame(spark, some) for predicate, some in rows.items() if some}


@contextmanager
def apart(really: bool) -> Iterator[None]:
    """Lets workers compute recursion apart where rules allow it, or never."""
    with pytest.MonkeyPatch.context() as patch:
        if not really:
            patch.setattr("zodiac_sql.spark.apart.ROWS_TO_COPY", -1)
        yield


def in_lake(kept: Any, predicate: str) -> list[Row]:
    """What the Delta Lake table of a predicate has, as Delta Lake's own library reads it."""
    from deltalake import DeltaTable

    rows = DeltaTable(kept.delta_table(predicate)).to_pyarrow_table().to_pylist()
    return sorted((tuple(row.values()) for row in rows), key=repr)
