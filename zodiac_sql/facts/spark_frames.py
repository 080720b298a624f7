"""The rows of a Spark data frame as Arrow batches, for `insert`, `delete` and `replace`.

Everything else about Spark is in zodiac_sql.spark, which no room below it imports. This module
imports pyspark only when it gets one of pyspark's data frames.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from zodiac_sql.errors import SparkError

if TYPE_CHECKING:
    import pyarrow as pa


def is_spark(rows: object) -> bool:
    """Whether rows are a Spark data frame, of a session with a JVM or of Spark Connect."""
    kind = type(rows)
    return kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql.")


def stream(df: Any) -> pa.RecordBatchReader:
    """A data frame's rows as Arrow batches, one partition in memory at a time.

    Spark's own `__arrow_c_stream__` sends each batch through a Python worker and back, and fails
    for columns of type timestamp. The executors make the same batches in less than half the time.
    Only a session of Spark Connect needs `__arrow_c_stream__`, because its JVM is elsewhere.
    """
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    if not hasattr(df, "_jdf"):
        return pa.RecordBatchReader.from_stream(df)
    settings = df.sparkSession.conf
    large = settings.get("spark.sql.execution.arrow.useLargeVarTypes") == "true"
    zone = settings.get("spark.sql.session.timeZone")
    schema = to_arrow_schema(df.schema, timezone=zone, prefers_large_types=large)
    return pa.RecordBatchReader.from_batches(schema, _batches(df, schema))


def _batches(df: Any, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    from py4j.protocol import Py4JError
    from pyspark.core.rdd import RDD
    from pyspark.errors import PySparkException
    from pyspark.serializers import NoOpSerializer

    try:
        made = df._jdf.toArrowBatchRdd().toJavaRDD()
        rows: Any = RDD(made, df.sparkSession.sparkContext, NoOpSerializer())
        for message in rows.toLocalIterator(prefetchPartitions=True):
            yield pa.ipc.read_record_batch(pa.py_buffer(message), schema)
    except (Py4JError, PySparkException, OSError, EOFError) as error:
        raise SparkError(said(str(error))) from None


def said(text: str) -> str:
    """The part of a Spark error that a person can act upon."""
    missing = re.search(r"ModuleNotFoundError: No module named '(\w+)'", text)
    if missing:
        return (
            f"Spark's Python workers lack the module {missing[1]}: they run another Python than "
            f"this program. Before the session starts, set the environment variable PYSPARK_PYTHON "
            f"to {sys.executable}, or to a Python on every machine that has "
            "pip install 'zodiac-sql[spark]'"
        )
    for pattern in (
        r"zodiac_sql\.[.\w]+\.\w+Error: (.*?)(?:\n\s*SQLSTATE|\n\s*at |\Z)",
        r"\[USER_RAISED_EXCEPTION\] (.*?)(?:\s*SQLSTATE|\n|\Z)",
        r"(\[[A-Z_.]+\] .*?)(?:\s*SQLSTATE|\n|\Z)",
        r"^(?:Caused by)?: ((?:[\w$]+\.)+\w+(?:Exception|Error).*?)$",
    ):
        found = re.findall(pattern, text, re.DOTALL | re.MULTILINE)
        if found:
            return str(found[-1]).strip()
    return f"Spark failed: {text.strip().splitlines()[0] if text.strip() else 'no reason given'}"
