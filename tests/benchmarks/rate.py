"""Single-fact updates of RS2, w = 200, from a file of JSON lines: one stream, on a file of its own.

Each change is committed to the file before its latency is taken; that of an update is the time of
the change it is part of.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter

from zodiac_sql.knowledge_base import KnowledgeBase

from .processes import SEPARATOR
from .session import build, connect, differences, fingerprint, from_scratch
from .stream_runs import WARM_UP, Update, facts_left
from .workloads import RS2, Facts, table_of, wind_turbines

LINKS = 200
SHARES = {"p5": 6, "p3": 3, "p4": 1}
"""How often a predicate has its turn. Facts of p5 come and go as readings do, each with some 200
derived facts; those of p3 and p4 are links, one that rules make much of and one that none reads.
p1 and p2 are the wind farm, which stays.
"""


@dataclass(frozen=True)
class RateRun:
    """Seconds of a whole stream of some updates, and their latencies."""

    updates: int
    seconds: float
    middle: float
    slowest: float
    """The 99th percentile."""
    problems: list[str]

    @property
    def rate(self) -> float:
        """Updates per second."""
        return self.updates / self.seconds


def run_one(strategy: str, name: str) -> None:
    """Print one line of JSON for a run; `name` has workload, coalesce and how many updates."""
    _, coalesce, count = name.split(SEPARATOR)
    print(json.dumps(asdict(run(strategy, int(coalesce), int(count)))))


def run(strategy: str, coalesce: int, count: int) -> RateRun:
    """All updates, from the first line read to the last commit, after some others to warm up."""
    before, updates = facts(), list(single_facts(count))
    with TemporaryDirectory() as folder:
        for name, some in (("first", list(single_facts(WARM_UP, seed=2))), ("stream", updates)):
            path, lines = Path(folder, f"{name}.duckdb"), Path(folder, f"{name}.jsonl")
            lines.write_text("".join(f"{json.dumps(update)}\n" for update in some))
            build(path, RS2, before, strategy)
            with connect(path, strategy) as kb:
                latencies = list(_latencies(kb, lines, coalesce))
                found = fingerprint(kb)
        right = from_scratch(Path(folder, "scratch.duckdb"), RS2, facts_left(updates, before))
    each = [seconds for seconds, covered in latencies for _ in range(covered)]
    total = sum(seconds for seconds, _ in latencies)
    slowest = quantiles(each, n=100, method="inclusive")[-1] if len(each) > 1 else each[0]
    return RateRun(len(each), total, median(each), slowest, differences(found, right))


def _latencies(kb: KnowledgeBase, lines: Path, coalesce: int) -> Iterator[tuple[float, int]]:
    """Seconds of each change, with how many updates it covers."""
    started = perf_counter()
    for done in kb.stream(lines, coalesce=coalesce):
        yield (now := perf_counter()) - started, len(done.updates)
        started = now


# ----------------------------------------------------------------------------------- workload


def facts() -> Facts:
    """Those of RS2, with p5 for every other pair of which it makes a difference."""
    return {**wind_turbines(LINKS), "p5": table_of(_pairs()[::2], "windTurbine")}


def _pairs() -> list[tuple[int, ...]]:
    """From where the chain of p1 ends, and that of p2 begins, to each turbine in that."""
    return [(LINKS, LINKS + k + 1) for k in range(LINKS)]


def single_facts(count: int, seed: int = 1) -> Iterator[Update]:
    """In turn a fact comes that is not there, and one of the same predicate goes."""
    rng = random.Random(seed)
    table = facts()
    present = {p: list(zip(*table[p].to_pydict().values(), strict=True)) for p in SHARES}
    absent = [tuple(f"windTurbine{t}" for t in pair) for pair in _pairs()[1::2]]
    for number in range(count):
        if number % 2 == 0:
            predicate = rng.choices(list(SHARES), list(SHARES.values()))[0]
            if predicate == "p5":
                row = _taken(absent, rng)
            else:
                row = (rng.choice(present[predicate])[0], f"windTurbine{10 * LINKS + number}")
            present[predicate].append(row)
            yield {"insert": {predicate: [row]}}
        else:
            row = _taken(present[predicate], rng)
            if predicate == "p5":
                absent.append(row)
            yield {"delete": {predicate: [row]}}


def _taken(rows: list[tuple[str, ...]], rng: random.Random) -> tuple[str, ...]:
    return rows.pop(rng.randrange(len(rows)))
