"""Tables of hypertree decompositions, in the shape of table 2 of paper 5: standard, HD, combined.

Engines alternate, each round of each one in a process of its own. The tables are printed when
everything is measured; until then stderr tells what is.
"""

from __future__ import annotations

import sys
from statistics import median

from .hypertree_runs import COMBINED, ENGINES, HD, SMALL, STANDARD, VERBS
from .hypertree_workloads import HYPERTREES
from .modules import SCRATCH, Sample
from .processes import SEPARATOR, child
from .session import differences, explicit_facts
from .tables import counts, number, print_header, print_line, print_notes
from .workloads import Workload

COMMAND = "hypertree"
PREFIX = f"{COMMAND}:"
NAMES = {f"{PREFIX}{workload.name}": workload for workload in HYPERTREES.values()}
ROUNDS = 1

MATERIALISATION = "materialisation"
DECOMPOSED = (HD, COMBINED)


def quick(name: str) -> bool:
    """Whether a workload belongs to the quick set."""
    return NAMES[name].quick


def expand(names: list[str]) -> list[str]:
    """Names on the command line: after `hypertree`, `exp` is short for hypertree:exp."""
    if COMMAND not in names or not names[(split := names.index(COMMAND) + 1) :]:
        return names
    short = [f"{PREFIX}{name}" if name in HYPERTREES else name for name in names[split:]]
    return names[: split - 1] + short


def report(names: list[str], runs: int | None, timeout: float) -> None:
    """Measure all, and print times, then sizes, then what went wrong."""
    print(
        "Rules as they are written (standard), all decomposed (HD), and the cyclic ones that gain "
        "by it (combined): median s of one durable change.\n"
        f"What takes longer than {timeout:g} s is not waited for.\n",
        flush=True,
    )
    found = [
        Measured(workload, runs or ROUNDS, timeout)
        for workload in (NAMES[name] for name in names)
        if _is_here(workload)
    ]
    if found:
        _print_times(found)
        _print_sizes(found)
    print_notes([note for measured in found for note in measured.notes])


def _is_here(workload: Workload) -> bool:
    if missing := workload.missing():
        print_notes([f"{workload.name}: skipped, {missing}"])
    return not missing


# -------------------------------------------------------------------------------- measurements


class Measured:
    """All rounds of a workload, for each engine.

    Which verb an engine could not do in time, it is not asked to do again.
    """

    def __init__(self, workload: Workload, runs: int, timeout: float) -> None:
        self.workload = workload
        self.timeout = timeout
        self.explicit = sum(t.num_rows for t in explicit_facts(workload).values()) - SMALL
        self.rounds: dict[str, list[list[Sample]]] = {engine: [] for engine in ENGINES}
        self.left = {engine: list(VERBS) for engine in ENGINES}
        self.notes: list[str] = []
        for turn in range(runs):
            for engine in list(ENGINES)[:: -1 if turn % 2 else 1]:
                self.rounds[engine].append(self._round(engine, turn))
            self._compare(turn)

    def samples(self, engine: str, verb: str) -> list[Sample]:
        """All samples of a verb, in every round."""
        return [s for done in self.rounds[engine] for s in done if s.verb == verb]

    def seconds(self, engine: str, verb: str) -> float | None:
        """The median of those that were waited for."""
        found = [s.seconds for s in self.samples(engine, verb) if s.seconds is not None]
        return median(found) if found else None

    def is_over(self, engine: str, verb: str) -> bool:
        """Whether it was not waited for."""
        return any(s.seconds is None for s in self.samples(engine, verb))

    def _round(self, engine: str, turn: int) -> list[Sample]:
        """What is left to be done, in one process, or in more if some end themselves.

        Without a materialisation in time there is nothing that could be changed.
        """
        found: list[Sample] = []
        todo = list(self.left[engine])
        while todo:
            name = SEPARATOR.join((f"{PREFIX}{self.workload.name}", str(turn), ",".join(todo)))
            rows, problem = child(engine, name, 1, self.timeout)
            samples = [Sample(**row) for row in rows]
            found += samples
            self._tell(engine, turn, samples, problem)
            over = samples[-1].verb if samples and samples[-1].seconds is None else None
            if over is None:
                if problem:
                    self.left[engine] = []
                return found
            self.left[engine] = [v for v in self.left[engine] if over not in (SCRATCH, v)]
            todo = [v for v in self.left[engine] if v in todo[todo.index(over) + 1 :]]
        return found

    def _tell(self, engine: str, turn: int, samples: list[Sample], problem: str) -> None:
        """One line on stderr, and a note of what went wrong."""
        told = [f"{s.verb} {_waited(s.seconds, self.timeout)}" for s in samples]
        title = f"{self.workload.name}, {engine}, round {turn + 1}"
        print(f"{title}: {'; '.join([*told, problem])}", file=sys.stderr, flush=True)
        self.notes += [f"{title}: {problem}"] if problem else []

    def _compare(self, turn: int) -> None:
        """Every engine must have come to the same, after each verb that two have done."""
        for verb in VERBS:
            states = {
                engine: s.state
                for engine, rounds in self.rounds.items()
                for s in rounds[turn]
                if s.verb == verb and s.seconds is not None
            }
            for (one, left), (other, right) in zip(
                states.items(), list(states.items())[1:], strict=False
            ):
                self.notes += [
                    f"{self.workload.name}, round {turn + 1}, {verb}, {one} against {other}: "
                    f"{wrong.replace('from scratch', other)}"
                    for wrong in differences(left, right)
                ]


def _waited(seconds: float | None, timeout: float) -> str:
    return f"> {timeout:g} s" if seconds is None else f"{seconds:.2f} s"


# -------------------------------------------------------------------------------------- tables


def _print_times(found: list[Measured]) -> None:
    print("### Table 1: materialisation and incremental maintenance, s\n")
    ratios = [f"{STANDARD}/{engine}" for engine in DECOMPOSED]
    print_header(["workload", "rules", "E", "I", "change", "facts changed", *ENGINES, *ratios])
    for m in found:
        shape = [str(_rules(m.workload)), *_sizes(m)]
        for verb in VERBS:
            title = MATERIALISATION if verb == SCRATCH else verb
            line = [m.workload.title, *shape, title, _changed(m, verb)]
            line += [_cell(m, engine, verb) for engine in ENGINES]
            print_line([*line, *(_ratio(m, engine, verb) for engine in DECOMPOSED)])
    print()


def _print_sizes(found: list[Measured]) -> None:
    """After materialisation and a checkpoint: of the file, then of its used blocks."""
    print("### Table 2: MB of the file after materialisation (of its used blocks)\n")
    print_header(["workload", *ENGINES, *(f"{engine}/{STANDARD}" for engine in DECOMPOSED)])
    for m in found:
        used = {engine: _bytes_of(m, engine) for engine in ENGINES}
        cells = [_megabytes(used[engine]) for engine in ENGINES]
        ratios = [_growth(used[engine], used[STANDARD]) for engine in DECOMPOSED]
        print_line([m.workload.title, *cells, *ratios])
    print()


def _cell(measured: Measured, engine: str, verb: str) -> str:
    if measured.is_over(engine, verb):
        return f"> {measured.timeout:g}"
    seconds = measured.seconds(engine, verb)
    return "-" if seconds is None else f"{seconds:,.2f}"


def _ratio(measured: Measured, engine: str, verb: str) -> str:
    """How many times as long the standard takes; more, or less, if one was not waited for."""
    above, below = measured.seconds(STANDARD, verb), measured.seconds(engine, verb)
    if measured.is_over(STANDARD, verb) and measured.is_over(engine, verb):
        return "-"
    if measured.is_over(STANDARD, verb) and below:
        return f"> {number(measured.timeout / below)}"
    if measured.is_over(engine, verb) and above:
        return f"< {above / measured.timeout:.2f}"
    return f"{above / below:.2f}" if above and below else "-"


def _changed(measured: Measured, verb: str) -> str:
    for engine in ENGINES:
        if found := [s.changed for s in measured.samples(engine, verb) if s.seconds is not None]:
            return counts(found)
    return "-"


def _rules(workload: Workload) -> int:
    return sum(":-" in line for line in workload.rules.splitlines())


def _sizes(measured: Measured) -> list[str]:
    """E and I of the paper: explicit facts, and all that are there after materialisation."""
    explicit = f"{measured.explicit:,}"
    for engine in ENGINES:
        for s in measured.samples(engine, SCRATCH):
            if s.seconds is not None:
                return [explicit, f"{sum(int(str(state[0])) for state in s.state.values()):,}"]
    return [explicit, "-"]


def _bytes_of(measured: Measured, engine: str) -> tuple[float, float] | None:
    found = [s.sizes for s in measured.samples(engine, SCRATCH) if s.sizes]
    if not found:
        return None
    whole, used = (median(column) for column in zip(*found, strict=True))
    return whole, used


def _megabytes(sizes: tuple[float, float] | None) -> str:
    return f"{sizes[0] / 1e6:,.1f} ({sizes[1] / 1e6:,.1f})" if sizes else "-"


def _growth(sizes: tuple[float, float] | None, base: tuple[float, float] | None) -> str:
    return f"{sizes[0] / base[0]:.2f}" if sizes and base else "-"
