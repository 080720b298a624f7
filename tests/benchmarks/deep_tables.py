"""A table of deep recursions: from scratch against SQL by hand, and single facts that move."""

from __future__ import annotations

from statistics import median

from .deep_runs import ENGINES, OURS, SQL, Change, Run
from .deep_workloads import EDITING, WORKLOADS
from .processes import child
from .tables import number, print_header, print_line, print_notes

COMMAND = "deep"
PREFIX = f"{COMMAND}:"
NAMES = tuple(f"{PREFIX}{name}" for name in WORKLOADS)


def quick(name: str) -> bool:
    """Whether a workload belongs to the quick set."""
    return WORKLOADS[name.removeprefix(PREFIX)].quick


def report(names: list[str], runs: int, timeout: float) -> None:
    """Measure all, engines in turn, and print the lines of each workload."""
    print(
        f"Deep recursions: median ms of {runs} runs into a file; then one fact goes and comes back,"
        "\nat random places. The last ratio is the worst change to ours from scratch.\n"
    )
    print_header([
        "program", "facts", OURS, SQL, "ratio", "change", "median", "worst", "facts moved",
        "ms a fact", "worst ratio",
    ])  # fmt: skip
    notes = [] if EDITING.exists() else ["editing: made up, the real history is not here"]
    for name in names:
        found: dict[str, list[Run]] = {engine: [] for engine in ENGINES}
        for _ in range(runs):
            for engine in ENGINES:
                rows, problem = child(engine, name, 1, timeout)
                found[engine] += [_read(**row) for row in rows]
                notes += [f"{name}, {engine}: {problem}"] if problem else []
        if all(found.values()):
            _print(name.removeprefix(PREFIX), found)
        if len({one.facts for done in found.values() for one in done}) > 1:
            notes.append(f"{name}: the engines do not agree")
    print_notes(notes)


def _read(seconds: float, durable: float, facts: int, changes: list[dict[str, object]]) -> Run:
    return Run(seconds, durable, facts, tuple(Change(**one) for one in changes))  # type: ignore[arg-type]


def _print(name: str, found: dict[str, list[Run]]) -> None:
    ours = 1000 * median(run.durable for run in found[OURS])
    by_hand = 1000 * median(run.durable for run in found[SQL])
    first = [
        WORKLOADS[name].title, f"{found[OURS][0].facts:,}", number(ours), number(by_hand),
        f"{ours / by_hand:.2f}",
    ]  # fmt: skip
    changes = [change for run in found[OURS] for change in run.changes]
    for place, kind in dict.fromkeys((change.place, change.kind) for change in changes):
        mine = [one for one in changes if (one.place, one.kind) == (place, kind)]
        times = [1000 * one.seconds for one in mine]
        facts = [one.facts for one in mine]
        print_line([
            *first,
            f"{kind}, {place}",
            number(median(times)),
            number(max(times)),
            f"{median(facts):,.0f} (at most {max(facts):,})",
            f"{sum(times) / max(sum(facts), 1):.3f}",
            f"{max(times) / ours:.2f}",
        ])  # fmt: skip
        first = ["", "", "", "", ""]
