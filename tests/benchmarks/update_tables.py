"""Tables of updates: each strategy on each workload in a process of its own, then Markdown.

Ratios are to materialisation from scratch of the same program and facts, by the same strategy in
the same process. What others need from scratch stands above a table where `scratch` can tell.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from statistics import median
from tempfile import TemporaryDirectory, TemporaryFile

from . import peers, scratch
from .session import STRATEGIES, Row
from .streams import STREAMS, Stream
from .update_workloads import UPDATES, UpdateWorkload
from .workloads import REPOSITORY, WORKLOADS

PREFIX = "updates:"
WORK: tuple[UpdateWorkload | Stream, ...] = (*UPDATES.values(), *STREAMS.values())
NAMES = {f"{PREFIX}{work.name}": work for work in WORK}

Results = dict[str, list[Row]]


def quick(name: str) -> bool:
    """Whether a workload belongs to the quick set."""
    workload = NAMES[name]
    return isinstance(workload, Stream) or workload.base.quick


def report(names: list[str], runs: int, timeout: float) -> None:
    """Print one table for each workload as it is done, and what went wrong below it."""
    print(
        "Updates: median ms (least-most) of one durable change, and ratio to the same from scratch."
        f"\nAfter {timeout:.0f} s no further sample of a line is taken.\n"
    )
    for name in names:
        workload = NAMES[name]
        if isinstance(workload, Stream):
            _report_stream(workload, runs, timeout)
        else:
            _report_updates(workload, runs, timeout)


def _report_stream(stream: Stream, runs: int, timeout: float) -> None:
    print(
        f"### {stream.title}: ms for a stream of 50 updates, median of {runs} seeds\n", flush=True
    )
    results, notes = _measure(stream.name, STRATEGIES, runs, timeout)
    _print_side_by_side(results, "paper: B/F, with marking")
    _print_notes(notes)


def _report_updates(workload: UpdateWorkload, runs: int, timeout: float) -> None:
    print(f"### {workload.base.title}\n", flush=True)
    if missing := workload.base.missing():
        _print_notes([f"skipped, {missing}"])
        return
    others = _others(workload, runs, timeout)
    results, notes = _measure(workload.name, workload.strategies, runs, timeout)
    if others:
        print(f"Others from scratch: {'; '.join(others)}.\n")
    if len(workload.strategies) > 1:
        _print_side_by_side(results, "known")
    else:
        _print_one(results[workload.strategies[0]])
    _print_notes(notes)


# ---------------------------------------------------------------------------------- processes


def _measure(
    name: str, strategies: tuple[str, ...], runs: int, timeout: float
) -> tuple[Results, list[str]]:
    """Rows by strategy, and everything that went wrong."""
    results, notes = {}, []
    for strategy in strategies:
        results[strategy], problem = _child(strategy, name, runs, timeout)
        notes += [f"{strategy}: {problem}"] if problem else []
        for row in results[strategy]:
            notes += [f"{strategy}, {row.title}: {problem}" for problem in row.problems]
    return results, notes


def _child(strategy: str, name: str, runs: int, timeout: float) -> tuple[list[Row], str]:
    """The rows that one process finished within twenty times the timeout, and why not all."""
    command = [sys.executable, "-m", "tests.benchmarks", "--one", strategy, f"{PREFIX}{name}"]
    command += ["--runs", str(runs), "--timeout", str(timeout)]
    limit = 20 * timeout
    with TemporaryDirectory() as folder, TemporaryFile("w+") as out, TemporaryFile("w+") as wrong:
        problem = ""
        try:
            done = subprocess.run(
                command,
                cwd=REPOSITORY,
                env={**os.environ, "TMPDIR": folder},  # so that nothing stays of one that is killed
                stdout=out,
                stderr=wrong,
                timeout=limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            problem = f"ended after {limit:.0f} s"
        else:
            wrong.seek(0)
            if done.returncode:
                problem = (wrong.read().strip().splitlines() or ["failed"])[-1]
        out.seek(0)
        return [Row(**json.loads(line)) for line in out if line.endswith("\n")], problem


def _others(workload: UpdateWorkload, runs: int, timeout: float) -> list[str]:
    """SQL by hand into a file, and for small workloads the peers: what they need from scratch."""
    if workload.base.name not in WORKLOADS:
        return []
    engines = [scratch.SQL_FILE, *(peers.installed() if workload.base.quick else [])]
    told = []
    for engine in engines:
        limit = 10 * timeout if engine == scratch.SQL_FILE else timeout
        done = [scratch.measure(engine, workload.base, limit) for _ in range(runs)]
        seconds = [s for run in done if (s := run.durable or run.reason) is not None]
        told.append(f"{engine} {_ms(seconds) if seconds else done[0].problem}")
    return told


# ------------------------------------------------------------------------------------- tables


def _print_one(rows: list[Row]) -> None:
    header = ["change", "samples", "facts changed", "hypernodes"]
    _print_line([*header, "delete", "ratio", "insert", "ratio", "known: delete / insert"])
    print("|" + "---|" * 9)
    base = _base(rows)
    for row in rows:
        if "scratch" in row.seconds:
            made = row.seconds["scratch"]
            _print_line([row.title, str(len(made)), "", "", "", "", _ms(made), "1", row.known])
        else:
            gone, new = row.seconds["delete"], row.seconds["insert"]
            cells = [row.title, str(len(gone)), _counts(row.changed), _counts(row.reached)]
            cells += [_ms(gone), _ratio(gone, base), _ms(new), _ratio(new, base), row.known]
            _print_line(cells)
    print()


def _print_side_by_side(results: Results, known: str) -> None:
    """A column for each strategy: from scratch and streams one figure, else delete / insert."""
    _print_line(["", *results, known])
    print("|" + "---|" * (len(results) + 2))
    titles = {row.title: row.known for rows in results.values() for row in rows}
    for title, figures in titles.items():
        cells = [_cell(rows, title) for rows in results.values()]
        _print_line([title, *cells, figures])
    print()


def _cell(rows: list[Row], title: str) -> str:
    row = next((row for row in rows if row.title == title), None)
    if row is None:
        return "-"
    base = _base(rows) if "scratch" not in row.seconds else None
    return " / ".join(
        _ms(samples) + (f", {_ratio(samples, base)}" if base else "")
        for samples in row.seconds.values()
    )


def _base(rows: list[Row]) -> float | None:
    return next((median(s) for row in rows if (s := row.seconds.get("scratch"))), None)


def _ms(seconds: list[float]) -> str:
    shown = [_number(1000 * s) for s in (median(seconds), min(seconds), max(seconds))]
    return f"{shown[0]} ({shown[1]}-{shown[2]})" if len(seconds) > 1 else shown[0]


def _number(value: float) -> str:
    return f"{value:,.1f}" if value < 10 else f"{value:,.0f}"


def _counts(counts: list[int]) -> str:
    least, most = min(counts), max(counts)
    return f"{least:,}" if least == most else f"{median(counts):,.0f} ({least:,}-{most:,})"


def _ratio(seconds: list[float], base: float | None) -> str:
    return f"{median(seconds) / base:.3f}" if base else "-"


def _print_line(cells: list[str]) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


def _print_notes(notes: list[str]) -> None:
    print("".join(f"* {note}\n" for note in [*notes, ""] if note), flush=True)
