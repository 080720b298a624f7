"""Tables of updates: each strategy on each workload in a process of its own, then Markdown.

Ratios are to materialisation from scratch of the same program and facts, by the same strategy in
the same process. What others need from scratch stands above a table where `scratch` can tell.
"""

from __future__ import annotations

from statistics import median

from . import peers, scratch
from .processes import child
from .session import STRATEGIES, Row
from .streams import STREAMS, Stream
from .tables import counts, ms, print_header, print_line, print_notes, ratio
from .update_workloads import UPDATES, UpdateWorkload
from .workloads import WORKLOADS

PREFIX = "updates:"
WORK: tuple[UpdateWorkload | Stream, ...] = (
    *UPDATES.values(), STREAMS["trans"], STREAMS["seq"],
)  # fmt: skip
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
    print_notes(notes)


def _report_updates(workload: UpdateWorkload, runs: int, timeout: float) -> None:
    print(f"### {workload.base.title}\n", flush=True)
    if missing := workload.base.missing():
        print_notes([f"skipped, {missing}"])
        return
    others = _others(workload, runs, timeout)
    results, notes = _measure(workload.name, workload.strategies, runs, timeout)
    if others:
        print(f"Others from scratch: {'; '.join(others)}.\n")
    if len(workload.strategies) > 1:
        _print_side_by_side(results, "known")
    else:
        _print_one(results[workload.strategies[0]])
    print_notes(notes)


# ---------------------------------------------------------------------------------- processes


def _measure(
    name: str, strategies: tuple[str, ...], runs: int, timeout: float
) -> tuple[Results, list[str]]:
    """Rows by strategy, and everything that went wrong."""
    results, notes = {}, []
    for strategy in strategies:
        rows, problem = child(strategy, f"{PREFIX}{name}", runs, timeout)
        results[strategy] = [Row(**row) for row in rows]
        notes += [f"{strategy}: {problem}"] if problem else []
        for row in results[strategy]:
            notes += [f"{strategy}, {row.title}: {problem}" for problem in row.problems]
    return results, notes


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
        told.append(f"{engine} {ms(seconds) if seconds else done[0].problem}")
    return told


# ------------------------------------------------------------------------------------- tables


def _print_one(rows: list[Row]) -> None:
    header = ["change", "samples", "facts changed", "hypernodes", "statements"]
    print_header([*header, "delete", "ratio", "insert", "ratio", "known: delete / insert"])
    base = _base(rows)
    for row in rows:
        if "scratch" in row.seconds:
            made = row.seconds["scratch"]
            print_line([row.title, str(len(made)), "", "", "", "", "", ms(made), "1", row.known])
        else:
            gone, new = row.seconds["delete"], row.seconds["insert"]
            cells = [row.title, str(len(gone)), counts(row.changed), counts(row.reached)]
            cells.append(" / ".join(map(str, row.statements)))
            cells += [ms(gone), ratio(gone, base), ms(new), ratio(new, base), row.known]
            print_line(cells)
            if row.kinds:
                gone, new = (_slowest(row.kinds, some) for some in (gone, new))
                title, samples = f"{row.title}: the slowest one", str(len(gone))
                cells = [title, samples, "", "", "", ms(gone), ratio(gone, base)]
                print_line([*cells, ms(new), ratio(new, base), ""])


def _slowest(kinds: list[str], seconds: list[float]) -> list[float]:
    """The samples of the kind whose median is the largest."""
    found: dict[str, list[float]] = {}
    for kind, spent in zip(kinds, seconds, strict=True):
        found.setdefault(kind, []).append(spent)
    return max(found.values(), key=median)
    print()


def _print_side_by_side(results: Results, known: str) -> None:
    """A column for each strategy: from scratch and streams one figure, else delete / insert."""
    print_header(["", *results, known])
    titles = {row.title: row.known for rows in results.values() for row in rows}
    for title, figures in titles.items():
        cells = [_cell(rows, title) for rows in results.values()]
        print_line([title, *cells, figures])
    print()


def _cell(rows: list[Row], title: str) -> str:
    row = next((row for row in rows if row.title == title), None)
    if row is None:
        return "-"
    base = _base(rows) if "scratch" not in row.seconds else None
    return " / ".join(
        ms(samples) + (f", {ratio(samples, base)}" if base else "")
        for samples in row.seconds.values()
    )


def _base(rows: list[Row]) -> float | None:
    return next((median(s) for row in rows if (s := row.seconds.get("scratch"))), None)
