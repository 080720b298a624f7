"""What each way to evaluate or to maintain a hypernode buys: the workloads with it and without it.

`python -m tests.benchmarks ablation [scratch:lubm updates:rs2 ..]`. First, each workload runs once,
with all ways, and it is noted which of them it takes. Then it runs with all, and without each of
these, in turn, in the same process. All times are CPU seconds, and the best of its runs counts:
other processes disturb that least. A line that a way makes cheaper by a tenth, or dearer, is
printed, and at the end the best and the worst line of each way.
"""

from __future__ import annotations

import importlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import redirect_stdout
from io import StringIO
from math import inf
from statistics import median
from time import process_time
from typing import Any

from . import (
    deep_runs,
    hypertree_runs,
    modules,
    paths_runs,
    rate,
    rule_changes,
    scratch,
    updates,
)
from .ablation_switches import WAYS, counted, without
from .deep_tables import NAMES as DEEP
from .hypertree_tables import NAMES as HYPERTREES
from .module_tables import NAMES as CLOSURES
from .module_workloads import MODULES
from .paths_tables import NAMES as PATHS
from .processes import SEPARATOR, child
from .rule_tables import NAMES as RULES
from .tables import number, print_header, print_line, print_notes
from .update_tables import NAMES as UPDATES
from .workloads import WORKLOADS

COMMAND = "ablation"
ENGINE = f"{COMMAND}:"
HOUR = 3_600

SCRATCH = "scratch:"
RATES = ("rate:1", "rate:10", "rate:100", "rate:1000")
"""So many updates at once."""

RATE_UPDATES = 1_000

NAMES = (
    *(f"{SCRATCH}{name}" for name in WORKLOADS),
    *UPDATES, *RULES, *CLOSURES, *HYPERTREES, *PATHS, *RATES, *DEEP,
)  # fmt: skip

SHOWN = 0.1
"""A line is printed if a way changes its time by this share."""

LEAST = 0.002
"""Seconds: smaller differences are noise."""

Times = dict[str, float]
"""The median of each line of a workload, in seconds."""

Run = Callable[[str, int, float], object]
"""Runs a workload so many times, with a limit of seconds for each part."""


def run_one(name: str, runs: int, timeout: float) -> None:
    """Run a workload with all ways, and without each of those that it takes, in turn. Prints a line
    of JSON for each run.
    """
    _by_cpu()
    with counted() as taken:
        _lines(_rows(name, timeout))
    for _ in range(runs):
        for way in ("", *sorted(taken)):
            with without(way):
                print(json.dumps({"way": way, "lines": _lines(_rows(name, timeout))}), flush=True)


def _by_cpu() -> None:
    """Let workloads tell CPU seconds."""
    for module in (
        "deep_runs", "hypertree_runs", "modules", "paths_runs", "rate", "rule_changes", "scratch",
        "session", "stream_runs", "updates",
    ):  # fmt: skip
        found = importlib.import_module(f"tests.benchmarks.{module}")
        if hasattr(found, "perf_counter"):
            found.perf_counter = process_time  # type: ignore[attr-defined]


def _rows(name: str, timeout: float) -> list[dict[str, Any]]:
    """What one run of a workload prints."""
    kind, _, workload = name.partition(":")
    printed = StringIO()
    with redirect_stdout(printed):
        _RUNS[kind](workload, 1, timeout)
    return [json.loads(line) for line in printed.getvalue().splitlines()]


def _from_scratch(workload: str, _runs: int, _timeout: float) -> None:
    _timed(lambda: scratch.run_one(scratch.OURS, workload))


def _at_once(coalesce: str, _runs: int, _timeout: float) -> None:
    _timed(lambda: rate.run("auto", int(coalesce), RATE_UPDATES))


def _paths(workload: str, _runs: int, _timeout: float) -> None:
    paths_runs.run_one(paths_runs.OURS, workload)


def _closures(workload: str, _runs: int, timeout: float) -> None:
    keys = ",".join(case.key for case in MODULES[workload].cases)
    modules.run_one(modules.ON, SEPARATOR.join((workload, "0", keys)), timeout)


def _decomposed(workload: str, _runs: int, timeout: float) -> None:
    verbs = ",".join(hypertree_runs.VERBS)
    name = SEPARATOR.join((workload, "0", verbs))
    hypertree_runs.run_one(hypertree_runs.COMBINED, name, timeout)


_RUNS: Mapping[str, Run] = {
    "scratch": _from_scratch,
    "updates": lambda name, runs, timeout: updates.run_one("auto", name, runs, timeout),
    "rules": lambda name, runs, timeout: rule_changes.run_one("auto", name, runs, timeout),
    "modules": _closures,
    "hypertree": _decomposed,
    "paths": _paths,
    "rate": _at_once,
    "deep": lambda name, _, timeout: deep_runs.run_one(deep_runs.OURS, name, timeout),
}


def _timed(run: Callable[[], object]) -> None:
    """Print the time of a run that is one line."""
    started = process_time()
    run()
    print(json.dumps({"title": "all", "seconds": {"": [process_time() - started]}}))


def report(names: Iterable[str], runs: int, timeout: float) -> None:
    """Print a line for each way and each line of a workload that it changes."""
    print(f"Without a way: CPU ms, the best of {runs} runs, in turn with runs with all ways.\n")
    print_header(["way", "workload", "line", "with it", "without it", "ratio"])
    ratios: dict[str, list[tuple[float, str]]] = defaultdict(list)
    notes = []
    for name in names:
        rows, problem = child(ENGINE, name, runs, timeout, limit=HOUR)
        notes += [f"{name}: {problem}"] if problem else []
        for way, line, kept, off in _compared(rows):
            ratio = off / max(kept, 1e-9)
            if abs(off - kept) > LEAST:
                ratios[way].append((ratio, f"{name}, {line}"))
            if abs(off - kept) > max(LEAST, SHOWN * kept):
                cells = [number(1000 * kept), number(1000 * off), f"{ratio:.2f}"]
                print_line([way, name, line, *cells])
    print("\nWhat each way buys at best, and at worst:\n")
    print_header(["way", "ratio without it", "where", "and", "where"])
    for way in WAYS:
        found = ratios.get(way)
        if found:
            (most, where), (least, there) = max(found), min(found)
            print_line([way, f"{most:.2f}", where, f"{least:.2f}", there])
        else:
            print_line([way, "-", "no line that it changes", "", ""])
    print_notes(notes)


def _compared(rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str, float, float]]:
    """For each way and each line of a workload, its time with all ways and without that one."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for row in rows:
        for line, seconds in row["lines"].items():
            best = found[row["way"]].get(line, inf)
            found[row["way"]][line] = min(best, seconds)
    kept = found.pop("", {})
    for way, lines in found.items():
        for line in kept.keys() & lines:
            yield way, line, kept[line], lines[line]


def _lines(rows: Iterable[Mapping[str, Any]]) -> Times:
    """The times that the rows of one process have: the median of each line."""
    found: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        for line, seconds in _lines_of(row).items():
            found[line].append(seconds)
    return {line: median(seconds) for line, seconds in found.items()}


def _lines_of(row: Mapping[str, Any]) -> Times:
    """The times that one row of a benchmark has."""
    if "changes" in row:
        changes: dict[str, list[float]] = defaultdict(list)
        for change in row["changes"]:
            changes[f"{change['kind']}, {change['place']}"].append(change["seconds"])
        middle = {line: median(seconds) for line, seconds in changes.items()}
        all_ = {f"{line}, all": sum(seconds) for line, seconds in changes.items()}
        return {"from scratch": row["durable"], **middle, **all_}
    seconds = row.get("seconds")
    if "cpu" in row:
        return {"from scratch": row["cpu"], "delete": row["deleted"], "insert": row["inserted"]}
    if "case" in row:
        return {} if seconds is None else {f"{row['case']} {row['verb']}": seconds}
    if not isinstance(seconds, dict):
        return {}
    return {f"{row['title']} {verb}".strip(): median(s) for verb, s in seconds.items() if s}
