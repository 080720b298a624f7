"""The process that test_spark_streaming.py kills: it streams files into a knowledge base.

    python stream_child.py DIRECTORY MOMENT BATCH

DIRECTORY has the knowledge base and, in `facts`, the files. The process and its JVM are killed in
this batch at this moment: "publishing", when all is computed and only the COMMIT is missing, or
"published", when Spark has not noted yet that the batch is done; "" lets the stream come to its
end. Each change is written to `changes` as soon as it is known.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from pyspark.sql import DataFrame

from zodiac_sql import connect
from zodiac_sql.change.change import Change
from zodiac_sql.database.waiting import publishes
from zodiac_sql.spark import local_session
from zodiac_sql.spark.streaming import into

SCHEMA = "op string, celsius double, turbine string"


def main(directory: Path, moment: str, last: int) -> None:
    from quick_spark import QUICK  # beside this script

    session = local_session(spark__master="local[2]", **QUICK)
    stream = session.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    with connect(directory / "kb.duckdb") as kb, (directory / "changes").open("a") as changes:
        running = -1

        def reach(reached: str) -> None:
            if (reached, running) == (moment, last):
                os.killpg(0, signal.SIGKILL)

        def tell(change: Change) -> None:
            row = [running, dict(change.inserted), change.deleted]
            changes.write(json.dumps(row) + "\n")
            changes.flush()
            reach("published")

        apply = into(kb, "reading", operation="op", on_change=tell)

        def numbered(df: DataFrame, batch: int) -> None:
            nonlocal running
            running = batch
            apply(df, batch)

        kb.trace(lambda text, _: reach("publishing") if publishes(text) else None)
        writer = stream.json(str(directory / "facts")).writeStream.foreachBatch(numbered)
        writer = writer.option("checkpointLocation", str(directory / "checkpoint"))
        writer.trigger(availableNow=True).start().awaitTermination()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
