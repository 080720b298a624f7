"""What each way to evaluate or to maintain a hypernode buys: the workloads with it and without it.

`python -m tests.benchmarks ablation [scratch:lubm updates:rs2 ..]`. First, each workload runs once,
with all ways, and it is counted which of them it takes. Then it runs without each of these, in
turn with a run with all. All times are CPU seconds of the process, which other processes disturb
least. A line that has a way cheaper by a tenth, or dearer, is printed, and at the end the best line
of each way.
"""

from __future__ import annotations

import importlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import median
from time import process_time
from typing import Any

from .ablation_switches import SWITCHES, switch_off
from .deep_tables import NAMES as DEEP
from .processes import child
from .rule_tables import NAMES as RULES
from .tables import number, print_header, print_line, print_notes
from .update_tables import NAMES as UPDATES
from .workloads import WORKLOADS

COMMAND = "ablation"
ENGINE = f"{COMMAND}:"
"""Before the names of what is switched off, separated by commas."""

SCRATCH = "scratch:"
NAMES = (*(f"{SCRATCH}{name}" for name in WORKLOADS), *UPDATES, *RULES, *DEEP)

SHOWN = 0.1
"""A line is printed if a way changes its time by this share."""

LEAST = 0.002
"""Seconds: smaller differences are noise."""

Lines = dict[str, float]
"""The median of each line of a workload, in seconds."""


def run_one(engine: str, name: str, runs: int, timeout: float) -> None:
    """Run a workload without some ways, and print its rows, and then which ways it has taken."""
    from . import deep_runs, rule_changes, scratch, updates

    for module in ("deep_runs", "rule_changes", "scratch", "session", "updates"):
        found = importlib.import_module(f"tests.benchmarks.{module}")
        if hasattr(found, "perf_counter"):
            found.perf_counter = process_time
    taken = switch_off(filter(None, engine.removeprefix(ENGINE).split(",")))
    kind, _, workload = name.partition(":")
    if kind == "scratch":
        started = process_time()
        scratch.run_one(scratch.OURS, workload)
        print(json.dumps({"title": "all", "seconds": {"": [process_time() - started]}}))
    elif kind == "deep":
        deep_runs.run_one(deep_runs.OURS, workload, timeout)
    elif kind == "rules":
        rule_changes.run_one("auto", workload, runs, timeout)
    else:
        updates.run_one("auto", workload, runs, timeout)
    print(json.dumps({"taken": taken}), flush=True)


def report(names: Iterable[str], runs: int, timeout: float) -> None:
    """Print a line for each way and each line of a workload that it changes."""
    print(f"Without a way: CPU ms, medians of {runs} runs in turn with runs with all ways.\n")
    print_header(["way", "workload", "line", "with it", "without it", "ratio"])
    best: dict[str, tuple[float, str]] = {}
    notes = []
    for name in names:
        rows, problem = child(ENGINE, name, 1, timeout)
        notes += [f"{name}: {problem}"] if problem else []
        taken = next((row["taken"] for row in rows if "taken" in row), {})
        for way in taken:
            found = _measured(way, name, runs, timeout)
            for line, (kept, off) in found.items():
                ratio = off / max(kept, 1e-9)
                if abs(off - kept) > LEAST:
                    best[way] = max(best.get(way, (0.0, "")), (ratio, f"{name}, {line}"))
                if abs(off - kept) > max(LEAST, SHOWN * kept):
                    cells = [number(1000 * kept), number(1000 * off), f"{ratio:.2f}"]
                    print_line([way, name, line, *cells])
    print("\nWhat each way buys at best:\n")
    print_header(["way", "ratio without it", "where"])
    for way in SWITCHES:
        ratio, where = best.get(way, (0.0, "no line that it changes"))
        print_line([way, f"{ratio:.2f}" if ratio else "-", where])
    print_notes(notes)


def _measured(way: str, name: str, runs: int, timeout: float) -> Mapping[str, tuple[float, float]]:
    """For each line of a workload, its time with a way and without it."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for _ in range(runs):
        for off in ("", way):
            rows, _problem = child(f"{ENGINE}{off}", name, 1, timeout)
            for row in rows:
                for line, seconds in _lines(row).items():
                    found[line][off].append(seconds)
    return {
        line: (median(both[""]), median(both[way]))
        for line, both in found.items()
        if both[""] and both[way]
    }


def _lines(row: Mapping[str, Any]) -> Lines:
    """The times that one row of a benchmark has."""
    if "changes" in row:
        changes: dict[str, list[float]] = defaultdict(list)
        for change in row["changes"]:
            changes[f"{change['kind']}, {change['place']}"].append(change["seconds"])
        middle = {line: median(seconds) for line, seconds in changes.items()}
        all_ = {f"{line}, all": sum(seconds) for line, seconds in changes.items()}
        return {"from scratch": row["durable"], **middle, **all_}
    seconds = row.get("seconds")
    if not isinstance(seconds, dict):
        return {}
    return {f"{row['title']} {verb}".strip(): median(s) for verb, s in seconds.items() if s}
