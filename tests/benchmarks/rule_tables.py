"""Tables of rule changes, with what figures 7 and 8 and tables 2 and 3 of the ZodiacEdge paper
tell.

Ratios are to materialisation from scratch of what a change leads to: for dropping, of the rules
that are left; for adding, of all.
"""

from __future__ import annotations

from statistics import median

from .processes import child
from .rule_changes import RuleRow
from .rule_workloads import RULE_CHANGES, RuleWorkload
from .tables import counts, ms, number, print_header, print_line, print_notes, ratio

COMMAND = "rules"
PREFIX = f"{COMMAND}:"
NAMES = {f"{PREFIX}{changes.name}": changes for changes in RULE_CHANGES.values()}
STRATEGY = "auto"
ROUNDS = 5
GOAL = 50

HEADER = [
    "dropped, then added again",
    "rounds",
    "facts changed",
    "hypernodes: drop / add",
    "drop",
    "from scratch without",
    "ratio",
    "add",
    "from scratch with",
    "ratio",
    "ZodiacEdge: delete / add",
    "times faster: delete / add",
]


def quick(name: str) -> bool:
    """Whether a workload belongs to the quick set."""
    return NAMES[name].base.quick


def expand(names: list[str]) -> list[str]:
    """Names on the command line: after `rules`, `rs2` is short for rules:rs2, `leaf` for leaf-*."""
    if COMMAND not in names:
        return names
    split = names.index(COMMAND) + 1
    if not names[split:]:
        return names
    return names[: split - 1] + [full for name in names[split:] for full in _meant(name)]


def _meant(name: str) -> list[str]:
    known = [full for full in RULE_CHANGES if name in (full, full.split("-")[0])]
    return [f"{PREFIX}{full}" for full in known or [name]]


def report(names: list[str], runs: int, timeout: float) -> None:
    """Print one table for each workload as it is done, and the sums of those that are compared."""
    print(
        "Changes of rules: median ms (least-most) of one durable change, and ratio to the same "
        f"from scratch.\nAfter {timeout:.0f} s no further round of a line is begun.\n"
    )
    chosen = [NAMES[name] for name in names]
    compared = [
        row for changes in chosen if changes.summed for row in _report(changes, runs, timeout)
    ]
    if compared:
        _print_sums(compared)
    for changes in chosen:
        if not changes.summed:
            _report(changes, runs, timeout)


def _report(changes: RuleWorkload, runs: int, timeout: float) -> list[RuleRow]:
    print(f"### Rules of {changes.base.title}\n", flush=True)
    if missing := changes.base.missing():
        print_notes([f"skipped, {missing}"])
        return []
    found, problem = child(STRATEGY, f"{PREFIX}{changes.name}", runs, timeout)
    rows = [RuleRow(**row) for row in found]
    print_header(HEADER)
    for row in rows:
        print_line(_cells(row))
    print()
    scratch = f"ZodiacEdge from scratch: {changes.scratch:,.0f}" if changes.scratch else ""
    print_notes([scratch, problem, *(f"{row.title}: {p}" for row in rows for p in row.problems)])
    return rows


def _cells(row: RuleRow) -> list[str]:
    drop, add = row.seconds["drop"], row.seconds["add"]
    without, whole = row.seconds["without"], row.seconds["with"]
    return [
        row.title,
        str(len(drop)),
        counts(row.changed),
        f"{counts(row.reached)} / {counts(row.reached_adding)}",
        ms(drop),
        ms(without),
        ratio(drop, median(without)),
        ms(add),
        ms(whole),
        ratio(add, median(whole)),
        *_against(row.zodiac_edge, (1000 * median(drop), 1000 * median(add))),
    ]


def _against(others: tuple[float, float] | None, ours: tuple[float, float]) -> list[str]:
    if others is None:
        return ["-", "-"]
    faster = [other / own for other, own in zip(others, ours, strict=True)]
    return [f"{others[0]:,.0f} / {others[1]:,.0f}", f"{number(faster[0])} / {number(faster[1])}"]


def _print_sums(rows: list[RuleRow]) -> None:
    """What dropping and adding of all rows takes, here and there, and how many times faster."""
    print(f"### Sums over {len(rows)} lines\n")
    print_header(["ms", "drop", "add", "together"])
    ours = [1000 * sum(median(row.seconds[verb]) for row in rows) for verb in ("drop", "add")]
    known = [row.zodiac_edge for row in rows if row.zodiac_edge]
    theirs = [float(sum(figures)) for figures in zip(*known, strict=True)]
    for title, sums in (("ours", ours), ("ZodiacEdge", theirs)):
        print_line([title, *(number(value) for value in (*sums, sum(sums)))])
    quotients = [t / o for t, o in zip((*theirs, sum(theirs)), (*ours, sum(ours)), strict=True)]
    print_line([f"times faster (goal: {GOAL} together)", *(number(q) for q in quotients)])
    print()
