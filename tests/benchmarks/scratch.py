"""From scratch: one run of one engine on one workload, each in a process of its own.

A run gives a `Run`; `measure` starts the process and reads it back, so that engines share neither
memory nor warmed caches.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import cast

from . import handwritten, peers
from .workloads import REPOSITORY, WORKLOADS, Workload, head_predicates, local_name

OURS, SQL, SQL_FILE = "ours", "sql", "sql-file"


@dataclass(frozen=True)
class Run:
    """Seconds of reasoning, and of reasoning until it is durable in a file, with what came out.

    `counts` are extension sizes of derived predicates; `explicit` of these facts were given.
    """

    reason: float | None = None
    durable: float | None = None
    counts: dict[str, int] | None = None
    explicit: int | None = None
    problem: str = ""
    phases: dict[str, float] = field(default_factory=dict)


def engines() -> list[str]:
    """Ours, the yardstick in memory and in a file, and the peers that are installed."""
    return [OURS, SQL, SQL_FILE, *peers.installed()]


def measure(engine: str, workload: Workload, timeout: float) -> Run:
    """One run in a fresh process; a failure or a timeout is a Run that says so."""
    command = [sys.executable, "-m", "tests.benchmarks", "--one", engine, workload.name]
    try:
        done = subprocess.run(
            command, cwd=REPOSITORY, capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        return Run(problem=f"> {timeout:.0f} s")
    if done.returncode:
        return Run(problem=(done.stderr.strip().splitlines() or ["failed"])[-1])
    return Run(**json.loads(done.stdout.splitlines()[-1]))


def run_one(engine: str, name: str) -> str:
    """The run itself, inside the process that `measure` started, as a line of JSON."""
    workload = WORKLOADS[name]
    with TemporaryDirectory() as folder:
        run = _RUNNERS.get(engine, _peer(engine))(workload, Path(folder, "benchmark.duckdb"))
    return json.dumps(asdict(run))


def _ours(workload: Workload, path: Path) -> Run:
    import zodiac_sql

    with zodiac_sql.connect(str(path)) as kb:
        with kb.update() as update:
            for predicate, table in workload.facts().items():
                update.insert(predicate, table)
            for file in workload.files[:1]:
                update.load(str(file))
            update.add_rules(workload.rules)
        change = update.change
        phases = dict(cast(Mapping[str, float], change.stats["seconds"]))
        entered = {local_name(p): count for p, count in change.inserted.items()}
    sizes = {head: entered.get(head, 0) for head in head_predicates(workload.rules)}
    return Run(phases["reason"], phases["reason"] + phases["publish"], sizes, phases=phases)


def _sql(durable: bool) -> Callable[[Workload, Path], Run]:
    def run(workload: Workload, path: Path) -> Run:
        with handwritten.prepare(workload, str(path)) as connection:
            start = perf_counter()
            handwritten.derive(workload, connection, durable)
            seconds = perf_counter() - start
            sizes = handwritten.counts(workload, connection)
            given = handwritten.explicit(workload, connection)
        return Run(None if durable else seconds, seconds if durable else None, sizes, given)

    return run


def _peer(name: str) -> Callable[[Workload, Path], Run]:
    def run(workload: Workload, path: Path) -> Run:
        with handwritten.prepare(workload, str(path)) as connection:
            measured = peers.run(name, workload, connection)
        return Run(reason=measured.seconds, counts=measured.counts)

    return run


_RUNNERS: dict[str, Callable[[Workload, Path], Run]] = {
    OURS: _ours,
    SQL: _sql(durable=False),
    SQL_FILE: _sql(durable=True),
}
