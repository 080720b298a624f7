"""The update streams of Illich and Glimm, "B/F with marking" (paper 4, section 5 and appendix B).

A graph that always has 100 edges: 50 updates, of which the first inserts these, and each other
one deletes some edges and inserts as many that were not there. What is measured is the sum over
the stream. The paper's seconds are those of SWI-Prolog on an AMD Ryzen 7.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from .session import Batch, Row, change, connect, differences, fingerprint, from_scratch
from .workloads import table_of

Edges = list[tuple[int, ...]]

UPDATES_IN_STREAM = 50
EDGES = 100
SIZES = range(10, 81, 10)

TRANS = """\
path(X, Y) :- edge(X, Y).
path(X, Z) :- edge(X, Y), path(Y, Z).
"""

SEQ = """\
edge1(X, Y) :- edge(X, Y).
edge2(X, Y) :- edge1(X, Y).
edge3(X, Y) :- edge2(X, Y).
edge4(X, Y) :- edge3(X, Y).
"""


@dataclass(frozen=True)
class Stream:
    """A program, the nodes of its graph, and the paper's seconds for each size of update:
    those of backward/forward as it is (`plain`) and with marking (`marked`).
    """

    name: str
    title: str
    rules: str
    nodes: int
    plain: tuple[float, ...]
    marked: tuple[float, ...]


def updates(nodes: int, size: int, seed: int) -> Iterator[tuple[Edges, Edges]]:
    """For each update of a stream the edges that go and those that come."""
    rng = random.Random(seed)
    every: Edges = [(a, b) for a in range(nodes) for b in range(nodes) if a != b]
    present = rng.sample(every, EDGES)
    yield [], present
    for _ in range(UPDATES_IN_STREAM - 1):
        there = set(present)
        gone = rng.sample(present, size)
        new = rng.sample([edge for edge in every if edge not in there], size)
        left = set(gone)
        present = [edge for edge in present if edge not in left] + new
        yield gone, new


STREAMS = {
    stream.name: stream
    for stream in (
        Stream(
            "trans",
            "P_trans, 20 nodes",
            TRANS,
            20,
            (42.48, 38.55, 38.64, 41.35, 43.60, 45.78, 48.34, 50.04),
            (39.17, 35.68, 35.57, 40.17, 45.09, 48.51, 52.76, 55.76),
        ),
        Stream(
            "seq",
            "P_seq, 100 nodes",
            SEQ,
            100,
            (10.32, 18.69, 28.59, 43.14, 64.62, 107.12, 152.29, 220.44),
            (8.73, 15.68, 23.33, 34.60, 52.67, 85.82, 120.46, 177.29),
        ),
    )
}


def measure(stream: Stream, strategy: str, runs: int, seconds: float) -> Iterator[Row]:
    """For each size of update the time of whole streams, one for each of `runs` seeds.

    Seeds end early when the time of a size is up.
    """
    for size, plain, marked in zip(SIZES, stream.plain, stream.marked, strict=True):
        known = f"{1000 * plain:,.0f}, {1000 * marked:,.0f}"
        row = Row(f"{size} edges go, {size} come", {"stream": []}, known)
        end = perf_counter() + seconds
        for seed in range(1, runs + 1):
            spent, problems = _run(stream, size, seed, strategy)
            row.seconds["stream"].append(spent)
            row.problems.extend(f"seed {seed}: {problem}" for problem in problems)
            if perf_counter() > end:
                break
        yield row


def _run(stream: Stream, size: int, seed: int, strategy: str) -> tuple[float, list[str]]:
    """Seconds of all changes of one stream, and in what the last state is not as from scratch."""
    total = 0.0
    present: set[tuple[int, ...]] = set()
    with TemporaryDirectory() as folder:
        with connect(Path(folder, "stream.duckdb"), strategy) as kb:
            kb.add_rules(stream.rules)
            for gone, new in updates(stream.nodes, size, seed):
                spent, _ = change(kb, _edges(gone), _edges(new))
                total += spent
                present = present.difference(gone).union(new)
            found = fingerprint(kb)
        facts = {"edge": table_of(sorted(present))}
        right = from_scratch(Path(folder, "scratch.duckdb"), stream.rules, facts)
    return total, differences(found, right)


def _edges(edges: Edges) -> Batch:
    return {"edge": list(edges)} if edges else {}
