"""Spark: the hand-off, a closure on a cluster of one machine, and a fleet of 200 devices.

All in one session with two cores. What stands in one line of a table was measured turn and turn
about.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import zodiac_sql

from .tables import number, print_header, print_line, print_notes
from .workloads import random_dag

PREFIX = "spark:"
COMMAND = "spark"
NAMES = tuple(f"{PREFIX}{name}" for name in ("handoff", "closure", "fleet"))

ROWS = 1_000_000
NODES = 2_800
"""A random DAG of so many nodes and ten times as many edges has a closure of 2.1 million pairs."""
FEWEST_NODES = 24
"""Fewer nodes have no ten times as many edges."""
DEVICES = 200

PATHS = "path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z)."


def report(names: list[str], runs: int) -> None:
    """Measure in one session, print a table for each."""
    with _session() as (spark, directory):
        for name in names:
            _REPORTS[name.removeprefix(PREFIX)](spark, directory, runs)


@contextmanager
def _session() -> Iterator[tuple[Any, Path]]:
    """A session with two cores, and a directory for it."""
    from zodiac_sql.spark import local_session

    with tempfile.TemporaryDirectory() as directory:
        spark = local_session(spark__master="local[2]", spark__driver__memory="4g")
        try:
            yield spark, Path(directory)
        finally:
            spark.stop()


def rounds(runs: int, *ways: Callable[[], object]) -> list[list[float]]:
    """Seconds of each way in each round, after one round that does not count."""
    seconds: list[list[float]] = [[] for _ in ways]
    for round_ in range(runs + 1):
        for way, taken in zip(ways, seconds, strict=True):
            started = perf_counter()
            way()
            if round_:
                taken.append(perf_counter() - started)
    return seconds


@contextmanager
def new_file(directory: Path) -> Iterator[zodiac_sql.KnowledgeBase]:
    path = Path(tempfile.mkdtemp(dir=directory)) / "kb.duckdb"
    with zodiac_sql.connect(path) as kb:
        yield kb
    shutil.rmtree(path.parent)


# --- hand-off -------------------------------------------------------------------------------------


def report_handoff(spark: Any, directory: Path, runs: int) -> None:
    """Rows per second both ways, against what Spark does alone."""
    from zodiac_sql.facts.spark_frames import stream
    from zodiac_sql.spark import from_spark, to_spark

    print(f"Hand-off of {ROWS:,} rows: thousands of rows per second, median of {runs}.\n")
    print_header(["columns", "way", "ours", "Spark alone", "ratio"])
    for title, table in _tables():
        source = directory / "rows.parquet"
        pq.write_table(table, source)
        df = spark.read.parquet(str(source))

        def load(df: Any = df) -> None:
            with new_file(directory) as kb:
                from_spark(kb, df, "p")

        streamed, loaded, alone = rounds(
            runs, lambda df=df: _drain(stream(df)), load, lambda df=df: df.toArrow()
        )
        _line(title, "to the driver, batch by batch; toArrow()", streamed, alone)
        _line(title, "into the file (dictionary, commit); toArrow()", loaded, alone)
        with new_file(directory) as kb:
            from_spark(kb, df, "p")
            ours, alone = rounds(
                runs,
                lambda kb=kb: _evaluate(to_spark(kb, spark, "p")),
                lambda kb=kb: _evaluate(spark.createDataFrame(kb.table("p").arrow())),
            )
        _line(title, "extension to Spark and read there; createDataFrame(arrow)", ours, alone)
    print_notes([])


def _tables() -> list[tuple[str, pa.Table]]:
    count = range(ROWS)
    readings = {
        "turbine": pa.array([f"wt{i % 200:03}" for i in count]),
        "at": pa.array([i for i in count], pa.int64()),
        "celsius": pa.array([i / 8 for i in count]),
    }
    links = {
        "s": pa.array([f"node{i}" for i in count]),
        "o": pa.array([f"node{i + 1}" for i in count]),
    }
    return [
        ("symbol, int, float", pa.table(readings)),
        ("two symbols, all different", pa.table(links)),
    ]


def _drain(reader: pa.RecordBatchReader) -> None:
    for _ in reader:
        pass


def _evaluate(df: Any) -> None:
    df.write.format("noop").mode("overwrite").save()


def _line(title: str, way: str, ours: list[float], alone: list[float]) -> None:
    rates = [ROWS / median(seconds) / 1000 for seconds in (ours, alone)]
    print_line([title, way, *map(number, rates), f"{rates[0] / rates[1]:.2f}"])


# --- closure --------------------------------------------------------------------------------------


def report_share(share: float) -> None:
    """The closure at a share of the size of `scale`, whose has a hundred times as many pairs."""
    nodes = round(NODES * min(1.0, sqrt(100 * share)))
    with _session() as (spark, directory):
        report_closure(spark, directory, 3, max(nodes, FEWEST_NODES))


def report_closure(spark: Any, directory: Path, runs: int, nodes: int = NODES) -> None:
    """The same closure by `materialise`, by its workers, by a loop as one writes it, embedded."""
    from zodiac_sql.spark import materialise

    table = random_dag(nodes, 10 * nodes)["edge"].rename_columns(["x", "y"])
    pq.write_table(table, directory / "edges.parquet")
    edges = spark.read.parquet(str(directory / "edges.parquet"))
    counts: dict[str, int] = {}

    def ours() -> None:
        counts["ours"] = materialise(spark, PATHS, {"edge": edges})["path"].count()

    def by_workers() -> None:
        found = materialise(spark, PATHS, {"edge": edges}, driver_rows=0)
        counts["by workers"] = found["path"].count()

    def by_hand() -> None:
        counts["by hand"] = closure_by_hand(edges).count()

    def embedded() -> None:
        with new_file(directory) as kb, kb.update() as update:
            update.add_rules(PATHS)
            update.insert("edge", table)
        counts["embedded"] = update.change.inserted["path"]

    seconds = rounds(runs, ours, by_workers, by_hand, embedded)
    print(f"Closure of a DAG of {nodes:,} nodes, {counts['ours']:,} pairs: s, median of {runs}.\n")
    print_header(["materialise", "without the driver", "PySpark by hand", "embedded, durable"])
    print_line([f"{median(taken):.1f}" for taken in seconds])
    print_notes([] if len(set(counts.values())) == 1 else [f"the results differ: {counts}"])


def closure_by_hand(edges: Any) -> Any:
    """Semi-naive, with the lineage cut: as one writes it who knows Spark."""
    from pyspark.sql import functions as F

    edges = edges.distinct().localCheckpoint()
    known = delta = edges
    while True:
        step = delta.alias("d").join(edges.alias("e"), F.col("d.y") == F.col("e.x"))
        found = step.select(F.col("d.x").alias("x"), F.col("e.y").alias("y")).distinct()
        delta = found.join(known, ["x", "y"], "left_anti").localCheckpoint()
        if delta.isEmpty():
            return known
        known = known.union(delta).localCheckpoint()


# --- fleet ----------------------------------------------------------------------------------------

FLEET = """
    heats(X, Z) :- heats(X, Y), heats(Y, Z).
    usual(S, M) :- AGGREGATE(reading(S, T, C)) ON S WITH MED(C) AS M.
    hot(S, T, C) :- reading(S, T, C), usual(S, M), C - M > 15, not maintenance(T).
    often(S, N) :- AGGREGATE(hot(S, T, C)) ON S WITH COUNT(T) AS N.
    anomaly(S, N) :- often(S, N), N > 1.
    lookAt(Y) :- anomaly(X, N), heats(X, Y).
    heats(bearing, gearbox). heats(gearbox, generator).
"""


@dataclass(frozen=True)
class Fleet:
    """Facts of many devices, by predicate: the first column tells the device."""

    facts: dict[str, pa.Table]

    @staticmethod
    def made() -> Fleet:
        sensors = ("bearing", "gearbox", "generator")
        rows = [
            (f"wt{d:03}", s, t, 50.0 + (d * t) % 7 + (20 if (d, s) == (t, s) else 0))
            for d in range(DEVICES) for t in range(48) for s in sensors
        ]  # fmt: skip
        stops = [(f"wt{d:03}", d % 48) for d in range(0, DEVICES, 3)]
        return Fleet(
            {
                "reading": _columns(rows, "turbine s t c"),
                "maintenance": _columns(stops, "turbine t"),
            }
        )


def _columns(rows: list[tuple[object, ...]], names: str) -> pa.Table:
    return pa.table(dict(zip(names.split(), map(list, zip(*rows, strict=True)), strict=True)))


def report_fleet(spark: Any, directory: Path, runs: int) -> None:
    """All devices by `fleet`, and one after the other in a loop of Python."""
    import pyarrow.compute as pc

    from zodiac_sql.spark import fleet

    made = Fleet.made()
    for name, table in made.facts.items():
        pq.write_table(table, directory / f"{name}.parquet")
    frames = {name: spark.read.parquet(str(directory / f"{name}.parquet")) for name in made.facts}
    found: dict[str, int] = {}

    def ours() -> None:
        found["fleet"] = fleet(frames, FLEET, by="turbine").count()

    def loop() -> None:
        derived = ("heats", "usual", "hot", "often", "anomaly", "lookAt")
        found["loop"] = 0
        for device in range(DEVICES):
            with zodiac_sql.connect() as kb:
                with kb.update() as update:
                    update.add_rules(FLEET)
                    for name, table in made.facts.items():
                        own = table.filter(pc.equal(table["turbine"], f"wt{device:03}"))
                        if own.num_rows:
                            update.insert(name, own.drop_columns("turbine"))
                found["loop"] += sum(len(kb.table(name)) for name in derived)

    seconds = [median(taken) for taken in rounds(runs, ours, loop)]
    print(f"Fleet of {DEVICES} devices, {found['fleet']:,} derived facts: s, median of {runs}.\n")
    print_header(["fleet", "loop over devices", "ratio"])
    print_line([*(f"{s:.1f}" for s in seconds), f"{seconds[0] / seconds[1]:.2f}"])
    print_notes([] if len(set(found.values())) == 1 else [f"the results differ: {found}"])


_REPORTS: dict[str, Callable[[Any, Path, int], None]] = {
    "handoff": report_handoff, "closure": report_closure, "fleet": report_fleet,
}  # fmt: skip
