"""A table of how many single-fact updates a second there are, one by one and several at once.

Strategies and sizes alternate, each run in a process of its own.
"""

from __future__ import annotations

from statistics import median

from .processes import SEPARATOR, child
from .rate import RateRun
from .tables import number, print_header, print_line, print_notes

COMMAND = "rate"
NAME = f"{COMMAND}:rs2"
NAMES = (NAME,)
RUNS = 1
UPDATES = 10_000
STRATEGIES = ("auto", "bf")
COALESCE = (1, 10, 100, 1_000)

Results = dict[tuple[str, int], list[RateRun]]


def quick(name: str) -> bool:
    """Whether a workload belongs to the quick set: no, it takes minutes."""
    return name not in NAMES


def report(runs: int | None, timeout: float, updates: int | None) -> None:
    """Measure all, and print the table, and what went wrong."""
    count = updates or UPDATES
    print(
        f"{count:,} updates of RS2, w = 200, with one fact each, from JSON lines into the file: "
        f"medians of {runs or RUNS} runs. What takes longer than {20 * timeout:g} s is ended.\n",
        flush=True,
    )
    results, notes = _alternate(runs or RUNS, timeout, count)
    latency = ["median ms of an update", "99th percentile"]
    print_header(["strategy", "at once", "updates/s", "ratio to one by one", *latency])
    for strategy in STRATEGIES:
        for coalesce in COALESCE:
            print_line(_line(results, strategy, coalesce))
    print()
    print_notes(notes)


def _alternate(runs: int, timeout: float, count: int) -> tuple[Results, list[str]]:
    """Each size with each strategy, and then all again; who failed is not asked twice."""
    found: Results = {(strategy, size): [] for size in COALESCE for strategy in STRATEGIES}
    wrong: dict[str, None] = {}
    failed = set()
    for turn in range(runs):
        for strategy, size in list(found)[:: -1 if turn % 2 else 1]:
            if (strategy, size) in failed:
                continue
            name = SEPARATOR.join((NAME, str(size), str(count)))
            rows, problem = child(strategy, name, 1, timeout)
            done = [RateRun(**row) for row in rows]
            found[strategy, size] += done
            problems = [*([problem] if problem else []), *(p for d in done for p in d.problems)]
            wrong |= dict.fromkeys(f"{strategy}, {size} at once: {p}" for p in problems)
            failed |= set() if done else {(strategy, size)}
    return found, list(wrong)


def _line(results: Results, strategy: str, coalesce: int) -> list[str]:
    runs, base = results[strategy, coalesce], results[strategy, 1]
    title = [strategy, f"{coalesce:,}"]
    if not runs:
        return [*title, "-", "-", "-", "-"]
    quotients = [run.rate / one.rate for run, one in zip(runs, base, strict=False)]
    return [
        *title,
        number(median(run.rate for run in runs)),
        f"{median(quotients):.2f}" if quotients else "-",
        number(1000 * median(run.middle for run in runs)),
        number(1000 * median(run.slowest for run in runs)),
    ]
