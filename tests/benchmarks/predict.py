"""What rules over facts cost at any size, on paper: `python -m tests.benchmarks predict`.

A model with few constants, each fitted to what `scale` and `spark` measured on two cores. It must
tell all of these within a factor of 2 (tests/whole/test_predict.py), and is for sizes that nobody
has tried: ARCHITECTURE.md, "On paper", says what its figures rest on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log2

from .tables import number, print_header, print_line

COMMAND = "predict"


@dataclass(frozen=True)
class Work:
    """Rules over facts. `found` counts the heads that joins find, repetitions included; `rounds` is
    0 for each rule that is not recursive; `symbols` counts the different ones; `peak` is the part
    of the derived facts that the largest hypernode has.
    """

    title: str
    explicit: float
    derived: float
    found: float
    rounds: int = 0
    strata: int = 1
    symbols: float = 0
    peak: float = 1


@dataclass(frozen=True)
class Embedded:
    """The embedded engine on two cores: seconds for a start, a fact read, a new symbol, a head that
    a join finds, a fact kept, and one kept while its hypernode grows; bytes of a fact in the file
    and in memory. A recursive hypernode that is larger than the memory limit is derived in shares,
    which takes `again` as long.
    """

    start: float = 1
    read: float = 0.2e-6
    symbol: float = 5e-6
    find: float = 0.1e-6
    keep: float = 0.05e-6
    grow: float = 0.2e-6
    again: float = 2
    file: float = 5
    file_symbol: float = 10
    memory: float = 50

    def seconds(self, work: Work, limit: float) -> float:
        """How long it takes from scratch, durable, with so many bytes of memory."""
        derive = self.find * work.found + self.keep * work.derived
        if work.rounds:
            derive += self.grow * work.derived
            derive *= self.again if self.needs(work) > limit else 1
        return self.start + self.read * work.explicit + self.symbol * work.symbols + derive

    def needs(self, work: Work) -> float:
        """The bytes of memory that it takes if nothing is spilled."""
        return self.memory * work.peak * work.derived

    def bytes(self, work: Work) -> float:
        """The size of the file."""
        return self.file * (work.explicit + work.derived) + self.file_symbol * work.symbols


@dataclass(frozen=True)
class Cluster:
    """Spark: seconds of a round or stratum, whatever it finds; core-seconds of a head that a join
    finds, of a fact kept, and of a known fact that a round compares with what it has found (on
    average half of them are known); bytes of a head that moves to another machine, and of a fact in
    a file.
    """

    round: float = 0.3
    find: float = 0.5e-6
    keep: float = 1.5e-6
    compare: float = 0.9e-6
    move: float = 10
    file: float = 4

    def seconds(self, work: Work, cores: float) -> float:
        """How long it takes from scratch."""
        compared = work.derived * work.rounds / 2
        each = self.find * work.found + self.keep * work.derived + self.compare * compared
        return self.round * (work.rounds + work.strata) + each / cores

    def moved(self, work: Work) -> float:
        """The bytes that move between machines: each head that a join finds, to be distinct."""
        return self.move * work.found

    def bytes(self, work: Work) -> float:
        """The size of all files."""
        return self.file * (work.explicit + work.derived)


GB = 1e9
LIMIT = 2 * GB
EMBEDDED, CLUSTER = Embedded(), Cluster()

MEASURED: tuple[tuple[Work, float], ...] = (
    (Work("LUBM's shape, a tenth", 1.4e6, 0.44e6, 0.7e6, 0, 12, 0.24e6, 0.2), 4.0),
    (Work("LUBM's shape, 0.3", 4.19e6, 1.31e6, 2e6, 0, 12, 0.73e6, 0.2), 9.1),
    (Work("LUBM's shape", 14e6, 4.36e6, 7e6, 0, 12, 2.44e6, 0.2), 20),
    (Work("a chain of joins, a tenth", 1.2e6, 11e6, 11e6, 0, 2, 0, 0.9), 4.0),
    (Work("a chain of joins, 0.3", 3.6e6, 33e6, 33e6, 0, 2, 0, 0.9), 9.1),
    (Work("a chain of joins", 12e6, 110e6, 110e6, 0, 2, 0, 0.9), 18),
    (Work("closure of grids, a tenth", 0.16e6, 20e6, 38e6, 58), 9.7),
    (Work("closure of grids, 0.3", 0.49e6, 60e6, 114e6, 58), 37),
    (Work("closure of grids", 1.6e6, 200e6, 380e6, 58), 176),
)
"""What `scale` took, in seconds, with a limit of 2 GB (2026-11-23, quiet)."""

MEASURED_ON_SPARK: tuple[tuple[Work, float], ...] = (
    (Work("a DAG of 600 nodes", 6e3, 0.12e6, 0.67e6, 12), 4.4),
    (Work("a DAG of 1,400 nodes", 14e3, 0.58e6, 3.03e6, 14), 9.2),
    (Work("a DAG of 2,800 nodes", 28e3, 2.14e6, 10.8e6, 16), 16.5),
    (Work("a DAG of 1,400 nodes, by doubling", 14e3, 0.58e6, 82.8e6, 5), 17.4),
    (Work("a DAG of 2,800 nodes, by doubling", 28e3, 2.14e6, 481e6, 5), 155),
    (Work("joins with 3 million results", 0.45e6, 3e6, 3e6, 0, 2), 3.4),
    (Work("joins with 10 million results", 1.5e6, 10e6, 10e6, 0, 2), 11.1),
)
"""What `materialise` took with two cores, in seconds, with `driver_rows=0` (the same day).
Recursion went in rounds, as it does where each executor would need a copy of too much
(spark/apart.py)."""


def at(facts: float) -> list[Work]:
    """Programs with so many facts in all, by what their rules look like."""
    length = 1_000
    terms = facts / 8
    doubling = ceil(log2(length)) + 1
    return [
        Work("an ontology", 0.75 * facts, 0.25 * facts, 0.4 * facts, 0, 12, terms, 0.05),
        Work("a chain of joins", 0.1 * facts, 0.9 * facts, 0.9 * facts, 0, 2, 0, 0.9),
        Work("closure of grids of 30 * 30 nodes", 0.01 * facts, 0.99 * facts, 1.9 * facts, 58),
        Work("closure of paths of 1,000 edges", facts / 500, facts, facts, length),
        Work(DOUBLED, facts / 500, facts, facts * length / 3, doubling),
    ]


DOUBLED = "the same by doubling"
"""The embedded engine makes a linear rule of a transitive one, so it never does that."""


def report() -> None:
    """Print what the model says, and what was measured."""
    print("Measured, and told by the model; two cores.\n")
    print_header(["what", "engine", "measured s", "the model says", "ratio"])
    for work, seconds, told, engine in compared():
        print_line([work.title, engine, number(seconds), number(told), f"{told / seconds:.2f}"])
    for facts in (1e9, 1e11):
        print(f"\nOn paper: {facts:.0e} facts in all.\n")
        print_header([
            "rules", "embedded", "memory to stay in", "file", "Spark, 16 cores", "400 cores",
            "of which rounds", "moved", "files",
        ])  # fmt: skip
        for work in at(facts):
            print_line([work.title, *_line(work)])


def compared() -> Sequence[tuple[Work, float, float, str]]:
    """What was measured: seconds, and those that the model tells."""
    here = [(w, s, EMBEDDED.seconds(w, LIMIT), "embedded") for w, s in MEASURED]
    return here + [(w, s, CLUSTER.seconds(w, 2), "Spark") for w, s in MEASURED_ON_SPARK]


def _line(work: Work) -> list[str]:
    here = [_time(EMBEDDED.seconds(work, LIMIT)), _size(EMBEDDED.needs(work))]
    here.append(_size(EMBEDDED.bytes(work)))
    there = [_time(CLUSTER.seconds(work, cores)) for cores in (16, 400)]
    there.append(_time(CLUSTER.round * (work.rounds + work.strata)))
    there += [_size(CLUSTER.moved(work)), _size(CLUSTER.bytes(work))]
    return ["as above"] * 3 + there if work.title == DOUBLED else here + there


def _time(seconds: float) -> str:
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{number(seconds / length)} {unit}"
    return f"{number(seconds)} s"


def _size(size: float) -> str:
    return f"{number(size / 1e12)} TB" if size >= 2e12 else f"{number(size / GB)} GB"
