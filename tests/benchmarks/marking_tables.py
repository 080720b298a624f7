"""Tables of marking, in the shape of tables 1 to 3 of paper 4: without and with, case by case.

Strategies alternate, each run in a process of its own. What stands side by side is from the same
runs: a ratio is the median of the quotients of neighbours, which have the same stream.
"""

from __future__ import annotations

from statistics import median

from .processes import SEPARATOR, child
from .stream_runs import MARKS, WORK, StreamRun
from .streams import STREAMS, Stream
from .tables import ms, print_header, print_line, print_notes

COMMAND = "marking"
PREFIX = f"{COMMAND}:"
NAMES = {f"{PREFIX}{stream.name}": stream for stream in STREAMS.values()}
RUNS = 5
SEEDS = 3
"""Runs take these in turn: as in the paper, there are several runs of the same stream."""

PAIRS = {"bf": "bf_marking", "dred": "dred_marking"}
"""Without marking, and with."""

STRATEGIES = tuple(strategy for pair in PAIRS.items() for strategy in pair)


def quick(name: str) -> bool:
    """Whether a workload belongs to the quick set: no, they take minutes."""
    return name not in NAMES


def expand(names: list[str]) -> list[str]:
    """Names on the command line: after `marking`, `seq` is short for marking:seq."""
    if COMMAND not in names or not names[(split := names.index(COMMAND) + 1) :]:
        return names
    short = [f"{PREFIX}{name}" if name in STREAMS else name for name in names[split:]]
    return names[: split - 1] + short


def report(names: list[str], runs: int | None, timeout: float, sizes: list[int] | None) -> None:
    """Print one table for each stream, line by line as they are done, and what went wrong."""
    print(
        "Streams of updates, without marking (old) and with it (new), rules as they are written: "
        f"median ms (least-most) of {runs or RUNS} runs of whole streams, every update durable; "
        "work summed over a stream.\n"
    )
    for stream in (NAMES[name] for name in names):
        print(f"### {stream.title}\n")
        print_header(_header(stream))
        notes: list[str] = []
        for case in sizes if sizes and stream.sized else stream.cases:
            found = _alternate(stream, case, runs or RUNS, timeout)
            print_line(_line(stream, case, found.runs))
            notes += found.notes
        print()
        print_notes(list(dict.fromkeys(notes)))


# -------------------------------------------------------------------------------- measurements


class _Found:
    """For each strategy its runs, None where one failed; and everything that went wrong."""

    def __init__(self) -> None:
        self.runs: dict[str, list[StreamRun | None]] = {s: [] for s in STRATEGIES}
        self.notes: list[str] = []


def _alternate(stream: Stream, case: int, runs: int, timeout: float) -> _Found:
    """Every strategy once, then every strategy again, backwards; who failed is not asked twice."""
    found = _Found()
    for turn in range(runs):
        name = SEPARATOR.join((f"{PREFIX}{stream.name}", str(case), str(turn % SEEDS + 1)))
        for strategy in STRATEGIES[:: -1 if turn % 2 else 1]:
            if None in found.runs[strategy]:
                continue
            rows, problem = child(strategy, name, 1, timeout)
            done = [StreamRun(**row) for row in rows]
            found.runs[strategy] += done or [None]
            wrong = [*([problem] if problem else []), *(p for d in done for p in d.problems)]
            found.notes += [f"{stream.unit} {case}, {strategy}: {p}" for p in wrong]
    return found


# -------------------------------------------------------------------------------------- tables


_COMPARED = ("ratio", "reduction, %", "CPU, ratio")


def _header(stream: Stream) -> list[str]:
    timed = [cell for old, new in PAIRS.items() for cell in (old, new, *_COMPARED)]
    counted = [f"{name}, old / new" for name in WORK]
    return [
        stream.unit,
        *timed,
        "paper: B/F, reduction, %",
        *counted,
        *(f"marks, {kind}" for kind in MARKS),
    ]


def _line(stream: Stream, case: int, runs: dict[str, list[StreamRun | None]]) -> list[str]:
    cells = [str(case)]
    for old, new in PAIRS.items():
        ratio, cpu = (_ratio(runs[old], runs[new], what) for what in ("seconds", "cpu"))
        cells += [_time(runs[old]), _time(runs[new])]
        cells += [f"{ratio:.3f}" if ratio else "-", _reduction(ratio)]
        cells.append(f"{cpu:.3f}" if cpu else "-")
    paper = stream.paper(case)
    cells.append(_reduction(paper[1] / paper[0] if paper else None))
    old, new = next(iter(PAIRS.items()))
    for name in WORK:
        cells.append(f"{_count(runs[old], name)} / {_count(runs[new], name)}")
    return [*cells, *(_count(runs[new], name) for name in MARKS)]


def _time(runs: list[StreamRun | None]) -> str:
    seconds = [run.seconds for run in runs if run]
    return ms(seconds) if seconds else "-"


def _count(runs: list[StreamRun | None], name: str) -> str:
    found = [run.work[name] for run in runs if run]
    return f"{median(found):,.0f}" if found else "-"


def _ratio(old: list[StreamRun | None], new: list[StreamRun | None], what: str) -> float | None:
    """With marking as a part of without: the median of what neighbours say."""
    both = [getattr(n, what) / getattr(o, what) for o, n in zip(old, new, strict=False) if o and n]
    return median(both) if both else None


def _reduction(ratio: float | None) -> str:
    return f"{100 * (1 - ratio):.1f}" if ratio else "-"
