"""A driver of a real cluster of two workers, for test_spark_real_cluster.py: one worker is killed.

    python cluster_child.py DIRECTORY

It prints what it found as JSON. (A process has one SparkContext, so this needs its own.)
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

PATHS = "path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z)."
IN_ROUNDS = PATHS + " end(X, Y) :- path(X, Y). path(X, Y) :- end(X, Y)."
NODES = 3


def executors(spark: Any) -> list[int]:
    """The processes of the workers' executors."""
    told = subprocess.run(
        ["ps", "-ww", "-eo", "pid,args"], capture_output=True, text=True, check=True
    )
    mine = spark.sparkContext.applicationId
    lines = (line.split(maxsplit=1) for line in told.stdout.splitlines())
    return [int(pid) for pid, args in lines if "ExecutorBackend" in args and mine in args]


def main(directory: Path) -> None:
    from quick_spark import QUICK, QUICK_JAVA  # beside this script

    from zodiac_sql.spark import Iteration, Materialisation, fleet, local_session, materialise

    spark = local_session(
        spark__master="local-cluster[2,1,1024]",
        spark__executor__memory="512m",
        spark__executor__extraJavaOptions=QUICK_JAVA,
        **QUICK,
    )
    spark.sparkContext.setLogLevel("OFF")
    spark.sparkContext.addPyFile(str(directory / "zodiac_sql.zip"))
    edges = spark.createDataFrame([(n, n + 1) for n in range(NODES)], "x bigint, y bigint")
    edges.write.parquet(f"{directory}/edges")
    edges = spark.read.parquet(f"{directory}/edges")
    killed: list[int] = []

    def kill(iteration: Iteration) -> None:
        if iteration.number == 2:
            killed.append(executors(spark)[0])
            os.kill(killed[0], signal.SIGKILL)

    found = materialise(
        spark,
        IN_ROUNDS,
        {"edge": edges},
        progress=kill,
        driver_rows=0,
        through=f"{directory}/through",
    )
    rows = sorted(map(list, found["path"].collect()))
    kept = Materialisation(spark, PATHS, directory / "kept", driver_rows=0)
    change = kept.update({"edge": edges})
    by_device = edges.selectExpr("concat('wt', x) AS turbine", "x", "y")
    derived = fleet(by_device, "p(Y) :- e(X, Y).", predicate="e", derive="p").collect()
    told = {
        "killed": len(killed), "path": rows, "kept": kept["path"].count(),
        "inserted": dict(change.inserted), "derived": sorted(map(list, derived)),
    }  # fmt: skip
    print(json.dumps(told), flush=True)
    spark.stop()  # else its workers start new executors for those that end with it


if __name__ == "__main__":
    main(Path(sys.argv[1]))
