"""Tables of ontologies: from scratch against reasonable and owlrl, and one axiom that moves."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from .ontology_runs import CASES, ENGINES, OURS, Reasoned
from .processes import child
from .tables import ms, print_header, print_line, print_notes

COMMAND = "ontology"
PREFIX = f"{COMMAND}:"
NAMES = tuple(f"{PREFIX}{name}" for name in CASES)


def quick(name: str) -> bool:
    """Whether a workload belongs to the quick set."""
    return name == f"{PREFIX}lubm"


def report(names: list[str], runs: int, timeout: float) -> None:
    """Measure all, and print a line for each engine, and what went wrong."""
    print(
        "Ontologies: seconds from files to all consequences, ours in the file and the others in "
        "memory; then ms of one subclass axiom that comes and goes, ours as a new version of the "
        "ontology (read and translated again) and as a rule. The others begin anew.\n",
        flush=True,
    )
    print_header([
        "what", "engine", "from scratch, s", "ratio to ours", "facts", "axiom added", "removed",
        "rule added", "removed",
    ])  # fmt: skip
    notes: list[str] = []
    for name in (one.removeprefix(PREFIX) for one in names):
        if missing := CASES[name].missing():
            notes.append(f"{name}: skipped, {missing}")
            continue
        found, problems = _measured(name, runs, timeout)
        notes += problems
        ours = [one.seconds for one in found[OURS]]
        for engine in ENGINES:
            if found[engine]:
                _print_engine(CASES[name].title, engine, found[engine], ours)
    print_notes(notes)


def _measured(name: str, runs: int, timeout: float) -> tuple[dict[str, list[Reasoned]], list[str]]:
    """The runs of each engine, in turns, and what went wrong. One that failed is not asked again;
    one that took a minute is not, either."""
    found: dict[str, list[Reasoned]] = {engine: [] for engine in ENGINES}
    problems: dict[str, str] = {}
    for _ in range(runs):
        for engine, done in found.items():
            if engine in problems or any(one.seconds > _LONG for one in done):
                continue
            rows, problem = child(engine, f"{PREFIX}{name}", 1, timeout)
            runs_of_it = [Reasoned(**row) for row in rows]
            problem = problem or next((one.problem for one in runs_of_it if one.problem), "")
            if problem:
                problems[engine] = f"{name}, {engine}: {problem}"
            done += [one for one in runs_of_it if one.seconds]
    return found, list(problems.values())


_LONG = 60


def _print_engine(title: str, engine: str, done: list[Reasoned], ours: Sequence[float]) -> None:
    scratch = [one.seconds for one in done]
    shown = f"{median(scratch):.2f}"
    if len(scratch) > 1:
        shown += f" ({min(scratch):.2f}-{max(scratch):.2f})"
    by_verb = (
        [one.added for one in done],
        [one.removed for one in done],
        [one.rule_added for one in done],
        [one.rule_removed for one in done],
    )
    verbs = (
        map(ms, by_verb) if engine == OURS else [f"{1000 * median(scratch):,.0f}"] * 2 + ["-"] * 2
    )
    print_line([
        title,
        f"{engine} {done[0].version}",
        shown,
        f"{median(scratch) / median(ours):.2f}" if ours else "-",
        f"{done[0].facts:,}",
        *verbs,
    ])  # fmt: skip
