"""One stream of updates under one strategy, through a knowledge base on a file of its own.

Every update is committed to the file before the next is begun. The last state must be what
materialisation from scratch makes of the facts that are left.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any, cast

import pyarrow as pa

from zodiac_sql.change.change import Change

from .processes import SEPARATOR
from .session import (
    Batch,
    Row,
    connect,
    differences,
    fingerprint,
    from_scratch,
    rows_of,
)
from .streams import STREAMS, Stream
from .workloads import Facts

Update = dict[str, Batch]
"""What `kb.stream` takes: "delete" and "insert"."""

WORK = ("deletions", "backward", "forward", "insertions")
"""Rules applied, as in the paper's tables."""

MARKS = ("explicit", "implicit")
"""Facts marked."""

WARM_UP = 3
"""So many updates of a stream are run on another file before, so that all modules are imported."""


@dataclass(frozen=True)
class StreamRun:
    """Seconds of a whole stream, those of CPU time in all threads, the work summed over it, and in
    what its last state is wrong.
    """

    seconds: float
    cpu: float
    work: dict[str, int]
    problems: list[str]


def run_one(strategy: str, name: str) -> None:
    """Print one line of JSON for a run; `name` has stream, case and seed. Without modules."""
    stream, case, seed = name.split(SEPARATOR)
    print(json.dumps(asdict(run(STREAMS[stream], int(case), int(seed), strategy, modules=False))))


def measure(stream: Stream, strategy: str, runs: int, seconds: float) -> Iterator[Row]:
    """For each size of update the time of whole streams, one for each of `runs` seeds.

    Seeds end early when the time of a size is up.
    """
    for size in stream.cases:
        paper = stream.paper(size)
        known = ", ".join(f"{1000 * s:,.0f}" for s in paper) if paper else ""
        row = Row(f"{size} edges go, {size} come", {"stream": []}, known)
        end = perf_counter() + seconds
        for seed in range(1, runs + 1):
            done = run(stream, size, seed, strategy)
            row.seconds["stream"].append(done.seconds)
            row.problems.extend(f"seed {seed}: {problem}" for problem in done.problems)
            if perf_counter() > end:
                break
        yield row


def run(stream: Stream, case: int, seed: int, strategy: str, modules: bool = True) -> StreamRun:
    """All updates, one after the other, on a new file."""
    updates: list[Update] = [
        {"delete": gone, "insert": new} for gone, new in stream.updates(case, seed)
    ]
    with TemporaryDirectory() as folder:
        for name, some in (("first", updates[:WARM_UP]), ("stream", updates)):
            with connect(Path(folder, f"{name}.duckdb"), strategy, modules) as kb:
                kb.add_rules(stream.rules)
                started, busy = perf_counter(), process_time()
                work = _summed(_work(done) for done in kb.stream(some))
                seconds, cpu = perf_counter() - started, process_time() - busy
                found = fingerprint(kb)
        right = from_scratch(Path(folder, "scratch.duckdb"), stream.rules, facts_left(updates))
    return StreamRun(seconds, cpu, work, differences(found, right))


def facts_left(updates: Iterable[Update], before: Facts | None = None) -> Facts:
    """The explicit facts after all updates."""
    left = {p: dict.fromkeys(rows_of(table)) for p, table in (before or {}).items()}
    for update in updates:
        for predicate, rows in update.get("delete", {}).items():
            for row in rows:
                left[predicate].pop(tuple(row), None)
        for predicate, rows in update.get("insert", {}).items():
            left.setdefault(predicate, {}).update(dict.fromkeys(map(tuple, rows)))
    return {predicate: _table(rows) for predicate, rows in left.items() if rows}


def _table(rows: Iterable[tuple[object, ...]]) -> pa.Table:
    columns = zip(*rows, strict=True)
    return pa.table({f"c{k}": list(column) for k, column in enumerate(columns)})


def _work(done: Change) -> dict[str, int]:
    """The counts of one change. The paper's "forward" has neither deletions nor insertions.

    What is evaluated from scratch, in the first update of a stream, is inserted.
    """
    counted = dict.fromkeys(WORK, 0)
    for node in cast(Mapping[str, Mapping[str, Any]], done.stats["hypernodes"]).values():
        deletions, insertions = node["deletions"], node["insertions"]
        if node["strategy"] == "recompute":
            insertions = node["forward"]
        counted["deletions"] += deletions
        counted["insertions"] += insertions
        counted["forward"] += node["forward"] - deletions - insertions
        counted["backward"] += node["backward"]
    marks = cast(Mapping[str, int], done.stats.get("marks", {}))
    return {**counted, **{kind: marks.get(kind, 0) for kind in MARKS}}


def _summed(counted: Iterable[dict[str, int]]) -> dict[str, int]:
    """Count by count."""
    total = dict.fromkeys((*WORK, *MARKS), 0)
    for counts in counted:
        for name, count in counts.items():
            total[name] += count
    return total
