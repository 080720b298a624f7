"""A table of shortest paths on grids: ours, SQL by hand, and networkx."""

from __future__ import annotations

from statistics import median

from .paths_runs import ENGINES, NETWORKX, OURS, SIDES, SQL, Paths
from .processes import child
from .tables import number, print_header, print_line, print_notes

COMMAND = "paths"
PREFIX = f"{COMMAND}:"
NAMES = tuple(f"{PREFIX}{name}" for name in SIDES)


def quick(name: str) -> bool:
    """Whether a workload belongs to the quick set."""
    return name != f"{PREFIX}single-300"


def report(names: list[str], runs: int, timeout: float) -> None:
    """Measure all, engines in turn, and print a line for each workload."""
    print(f"Shortest paths on grids like roads: median ms of {runs} runs (CPU in parentheses).\n")
    print_header([
        "grid", "facts", OURS, SQL, "ratio of CPU", NETWORKX, "one street less", "one more",
    ])  # fmt: skip
    notes: list[str] = []
    for name in names:
        found: dict[str, list[Paths]] = {engine: [] for engine in ENGINES}
        for _ in range(runs):
            for engine in ENGINES:
                rows, problem = child(engine, name, 1, timeout)
                found[engine] += [Paths(**row) for row in rows]
                notes += [f"{name}, {engine}: {problem}"] if problem else []
        if all(found.values()):
            _print(name.removeprefix(PREFIX), found)
        if len({(one.facts, one.total) for done in found.values() for one in done}) > 1:
            notes.append(f"{name}: the engines do not agree")
    print_notes(notes)


def _print(name: str, found: dict[str, list[Paths]]) -> None:
    side = SIDES[name]
    kind = "from one crossing" if name.startswith("single") else "all pairs"
    ratio = _cpu(found[OURS]) / _cpu(found[SQL])
    print_line([
        f"{side} x {side}, {kind}",
        f"{found[OURS][0].facts:,}",
        *(_told(found[engine]) for engine in (OURS, SQL)),
        f"{ratio:.2f}",
        _told(found[NETWORKX]),
        number(1000 * median(one.deleted for one in found[OURS])),
        number(1000 * median(one.inserted for one in found[OURS])),
    ])  # fmt: skip


def _cpu(done: list[Paths]) -> float:
    return median(one.cpu for one in done)


def _told(done: list[Paths]) -> str:
    return f"{1000 * median(one.seconds for one in done):,.0f} ({1000 * _cpu(done):,.0f})"
