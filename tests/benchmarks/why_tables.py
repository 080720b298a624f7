"""Tables of what explanations cost: a proof of a random fact, what a fact lacks, and xclingo."""

from __future__ import annotations

from statistics import median, quantiles

from .processes import child
from .tables import number, print_header, print_line, print_notes
from .why_runs import TURBINES, WHY, WORKLOAD_OF, XCLINGO, Explained, xclingo

COMMAND = "why"
PREFIX = f"{COMMAND}:"
PEER = f"{PREFIX}{XCLINGO}"
NAMES = (*(f"{PREFIX}{name}" for name in WORKLOAD_OF), PEER)
FACTS = 200

_TITLES = {
    "rs2": "a proof in RS2, w = 200",
    "lubm": "a proof in LUBM-1",
    "closure-small": "a proof in a closure of 1.1 million pairs, by ranks",
    "closure": "a proof in a closure of 22.4 million pairs, by ranks",
    "tc-small": "a path in a closure of 1.1 million pairs, by a module",
    "tc": "a path in a closure of 22.4 million pairs, by a module",
    "chain": "a proof 3,000 steps down a chain, at the median",
    "long-paths": "a path of hundreds of steps in a chain of 1,200, by ranks",
    "rs2-not": "why not, in RS2, w = 200",
}
_GOALS = {
    "rs2": "20, 60",
    "lubm": "20, 60",
    "closure": "300",
    "tc": "300",
    "chain": "100",
    "rs2-not": "50",
}


def quick(name: str) -> bool:
    """Whether a workload belongs to the quick set."""
    return name not in (f"{PREFIX}closure", f"{PREFIX}tc", PEER)


def report(names: list[str], timeout: float) -> None:
    """Measure all, and print a line for each, and what went wrong."""
    chosen = [name.removeprefix(PREFIX) for name in names]
    notes: list[str] = []
    if ours := [name for name in chosen if name in WORKLOAD_OF]:
        print(
            f"Explanations of {FACTS} random facts, as many of each predicate that rules derive: "
            "ms from the goal's text to the checked answer, the file freshly opened. Facts of a "
            "proof are for why not the rules that were tried.\n",
            flush=True,
        )
        print_header([
            "what", "median ms", "99th percentile", "slowest", "goals", "statements",
            "height: median, most", "facts: median, most",
        ])  # fmt: skip
        for name in ours:
            notes += _report(name, timeout)
        print()
    if XCLINGO in chosen:
        notes += _report_peer(timeout)
    print_notes(notes)


def _report(name: str, timeout: float) -> list[str]:
    """Print the line of one workload; returns what there is to say about it."""
    if missing := WORKLOAD_OF[name].missing():
        return [f"{name}: skipped, {missing}"]
    rows, problem = child(WHY, f"{PREFIX}{name}", FACTS, timeout)
    every = [Explained(**row) for row in rows]
    notes = [f"{name}: {text}" for text in (problem, *(one.problem for one in every)) if text]
    done = [one for one in every if not one.problem]
    if len(done) < 2:
        return notes
    times = [1000 * one.seconds for one in done]
    heights, facts = [one.height for one in done], [one.facts for one in done]
    print_line([
        _TITLES[name],
        number(median(times)),
        number(quantiles(times, n=100, method="inclusive")[-1]),
        number(max(times)),
        _GOALS.get(name, "-"),
        f"{median(one.statements for one in done):,.0f}",
        f"{median(heights):,.0f}, {max(heights):,}",
        f"{median(facts):,.0f}, {max(facts):,}",
    ])  # fmt: skip
    return notes


def _report_peer(timeout: float) -> list[str]:
    """Print the table of xclingo; returns what there is to say about it."""
    if not xclingo():
        how = "install it from PyPI in an environment of its own, and let XCLINGO be its program"
        return [f"xclingo: skipped; {how}"]
    print("xclingo: one proof of p30(0, 2), from grounding to the printed tree.\n", flush=True)
    print_header(["RS2 with", "s", "height", "facts"])
    notes = []
    for name, links in TURBINES.items():
        rows, problem = child(XCLINGO, f"{PREFIX}{name}", 1, timeout)
        notes += [f"{name}: {problem}"] if problem else []
        for one in (Explained(**row) for row in rows):
            notes += [f"{name}: {one.problem}"] if one.problem else []
            seconds = f"{one.seconds:.1f}"
            print_line([f"w = {links}", seconds, str(one.height), str(one.facts)])
    print()
    return notes
