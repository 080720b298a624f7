"""More than fits the memory: 14 million facts with an ontology, 200 million pairs, long joins.

Each in a process of its own (scale_process.py), with two threads and a memory limit. A share makes
all smaller: CI runs a thousandth.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent

import duckdb

from . import peers, scale_data, spark
from .scale_data import CLOSURE, JOINS
from .scale_process import OURS, SQL
from .tables import number, print_header, print_line
from .workloads import REPOSITORY, Workload

COMMAND = "scale"
PREFIX = f"{COMMAND}:"
TITLES = {
    "lubm": "LUBM's shape, with its ontology",
    "closure": "closure of grids of 30 * 30 nodes",
    "joins": "a chain of joins",
}
SPARK = f"{PREFIX}spark"
"""A closure on Spark, of a hundredth of the pairs or less: embedded, by `materialise`, by hand."""

NAMES = (*(f"{PREFIX}{name}" for name in TITLES), SPARK)
LIMIT = 2_000
"""The memory limit in megabytes, of all of it."""

SHARE_OF_PEERS = 0.002
"""Of such a size, or smaller, reasoners in memory that are installed are measured, too."""

RULES = {"closure": dedent(CLOSURE), "joins": dedent(JOINS)}
"""What they are given. They know no ontologies."""


def quick(name: str) -> bool:
    """Whether a workload belongs to the quick set."""
    return False


def report(names: list[str], share: float) -> None:
    """Measure, and print the tables."""
    if limited := [name.removeprefix(PREFIX) for name in names if name != SPARK]:
        _report_limited(limited, share)
    if SPARK in names:
        spark.report_share(share)


def _report_limited(names: list[str], share: float) -> None:
    print(
        f"Memory limit {LIMIT:,} MB, two threads, {share:g} of the size. The peak is resident"
        " memory, of which the interpreter and the libraries have what is there at the beginning."
    )
    if share <= SHARE_OF_PEERS:
        print("".join(f"Not installed here: {peer}.\n" for peer in peers.missing()), end="")
    print()
    print_header([
        "workload", "engine", "explicit facts", "derived", "s", "peak MB", "peak / limit",
        "at the beginning", "spill MB", "file MB", "bytes a fact",
    ])  # fmt: skip
    for name in names:
        with TemporaryDirectory() as folder:
            scale_data.write(name, Path(folder), share)
            for engine in (OURS, SQL):
                print_line([TITLES[name], engine, *measured(engine, name, folder, f"{LIMIT}MB")])
            for peer in peers.installed() if share <= SHARE_OF_PEERS and name in RULES else ():
                print_line([TITLES[name], peer, *_by(peer, name, Path(folder))])
    print()


def _by(peer: str, name: str, folder: Path) -> list[str]:
    """One line of the table for another reasoner, which tells no more than what it derives."""
    workload = Workload(name, TITLES[name], RULES[name], dict, quick=True)
    with duckdb.connect() as connection:
        explicit = 0
        for file in folder.glob("*.parquet"):
            made = connection.execute(f"CREATE TABLE e_{file.stem} AS FROM '{file}'").fetchone()
            explicit += made[0] if made else 0
        seconds, counts = peers.run(peer, workload, connection)
    derived = sum((counts or {}).values())
    return [f"{explicit:,}", f"{derived:,}", number(seconds), *[""] * 6]


def measured(engine: str, name: str, folder: str, limit: str) -> list[str]:
    """One line of the table, or why there is none."""
    call = [sys.executable, "-m", "tests.benchmarks.scale_process", engine, name, folder, limit]
    done = subprocess.run(call, capture_output=True, text=True, check=False, cwd=REPOSITORY)
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        return [next((line for line in lines if "Exception" in line or "Error" in line), "failed")]
    told = json.loads(done.stdout)
    facts = told["explicit"] + told["derived"]
    megabytes = float(limit.removesuffix("MB"))
    return [
        f"{told['explicit']:,}", f"{told['derived']:,}", number(told["seconds"]),
        number(told["peak"]), f"{told['peak'] / megabytes:.2f}", number(told["begun"]),
        number(told["spill"]), number(told["file"]), number(1e6 * told["file"] / facts),
    ]  # fmt: skip
