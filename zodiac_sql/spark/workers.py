"""What Spark's Python workers are: how many, with how much memory, and with which packages."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHARE_OF_MEMORY = 0.6
"""The share of a machine's memory that all embedded engines on it may have together."""


def partitions_on(spark: SparkSession) -> int:
    """How many partitions to make: two for each core, to balance the load.

    On a cluster cores come and go, so there it is at least Spark's own setting.
    """
    context = spark.sparkContext
    partitions = 2 * context.defaultParallelism
    if str(context.master).startswith("local"):
        return partitions
    return max(partitions, int(str(spark.conf.get("spark.sql.shuffle.partitions"))))


def memory_of_one() -> str:
    """The memory for an embedded engine in a worker, if there is one for each core."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    share = SHARE_OF_MEMORY * memory / (os.cpu_count() or 1)
    return f"{max(int(share / 2**20), 128)}MiB"


def have(spark: SparkSession, module: str) -> bool:
    """Whether the workers have this version of zodiac_sql, and all that a module of it needs."""
    from zodiac_sql import __version__

    asked = spark.range(0, 1, 1, 1).mapInArrow(_looking(module, __version__), "there boolean")
    return all(told["there"] for told in asked.collect())


def _looking(
    module: str, version: str
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        # Spark sends a function that is made in a function as it is: it needs no zodiac_sql there.
        from contextlib import suppress
        from importlib import import_module

        import pyarrow

        for _ in batches:
            pass
        there = False
        with suppress(Exception):  # another version, under another Python, may raise anything
            import_module(module)
            there = import_module("zodiac_sql").__version__ == version
        yield pyarrow.record_batch({"there": [there]})

    return look
