"""The update streams of Illich and Glimm, "B/F with marking" (paper 4, section 5 and appendix B).

Two are of a graph that always has 100 edges: 50 updates, of which the first inserts these, and each
other one deletes some edges and inserts as many that were not there. One is of a map around a
moving car; and one, not the paper's, of sensors. What is measured is the sum over a stream. The
paper's seconds are those of SWI-Prolog on an AMD Ryzen 7.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from . import road_map, sensors
from .session import Batch, Rows

UPDATES_IN_STREAM = 50
EDGES = 100
SIZES = tuple(range(10, 81, 10))

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
    """A program, and for each case and seed what goes and what comes in each update.

    A case is a `size` of update, or what else `unit` says; `sized` tells whether others than
    `cases` make sense, too. `plain` and `marked` are the paper's seconds for each case, those of
    backward/forward as it is and with marking.
    """

    name: str
    title: str
    rules: str
    updates: Callable[[int, int], Iterator[tuple[Batch, Batch]]]
    cases: tuple[int, ...] = SIZES
    unit: str = "size"
    plain: tuple[float, ...] = ()
    marked: tuple[float, ...] = ()
    sized: bool = True

    def paper(self, case: int) -> tuple[float, float] | None:
        """The paper's seconds for a case, without marking and with."""
        known = zip(self.plain, self.marked, strict=True)
        return dict(zip(self.cases, known, strict=False)).get(case)


def edges_of(nodes: int) -> Callable[[int, int], Iterator[tuple[Batch, Batch]]]:
    """Streams of a graph with so many nodes."""

    def updates(size: int, seed: int) -> Iterator[tuple[Batch, Batch]]:
        rng = random.Random(seed)
        every: Rows = [(a, b) for a in range(nodes) for b in range(nodes) if a != b]
        present = rng.sample(every, EDGES)
        yield {}, {"edge": present}
        for _ in range(UPDATES_IN_STREAM - 1):
            there = set(present)
            gone = rng.sample(present, size)
            new = rng.sample([edge for edge in every if edge not in there], size)
            left = set(gone)
            present = [edge for edge in present if edge not in left] + new
            yield {"edge": gone}, {"edge": new}

    return updates


STREAMS = {
    stream.name: stream
    for stream in (
        Stream(
            "trans",
            "P_trans, 20 nodes",
            TRANS,
            edges_of(20),
            plain=(42.48, 38.55, 38.64, 41.35, 43.60, 45.78, 48.34, 50.04),
            marked=(39.17, 35.68, 35.57, 40.17, 45.09, 48.51, 52.76, 55.76),
        ),
        Stream(
            "seq",
            "P_seq, 100 nodes",
            SEQ,
            edges_of(100),
            plain=(10.32, 18.69, 28.59, 43.14, 64.62, 107.12, 152.29, 220.44),
            marked=(8.73, 15.68, 23.33, 34.60, 52.67, 85.82, 120.46, 177.29),
        ),
        Stream(
            "roads",
            "roads around a moving car",
            road_map.RULES,
            lambda track, seed: road_map.updates(track),
            cases=tuple(range(len(road_map.TRACKS))),
            unit="track",
            plain=(114.58, 20.57, 10.46),
            marked=(106.22, 20.29, 10.24),
            sized=False,
        ),
        Stream(
            "sensors",
            "sensors, all of which are read again in each update",
            sensors.RULES,
            lambda size, seed: sensors.updates(size, UPDATES_IN_STREAM, seed),
            cases=(50, 200, 1_000),
            unit="readings",
        ),
    )
}
"""By name. The drives are the same for all seeds."""
