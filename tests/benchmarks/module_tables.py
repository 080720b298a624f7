"""Tables of modules, in the shape of tables 1 and 2 of paper 2: on, off, and SQL by hand.

Engines alternate, each round of each one in a process of its own. Table 1 and all other lines are
printed when everything is measured; until then stderr tells what is.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from statistics import median, quantiles

from .module_workloads import MODULES, ModuleCase, ModuleWorkload
from .modules import OFF, ON, SCRATCH, SQL, Sample
from .processes import SEPARATOR, child
from .session import differences
from .tables import counts, ms, number, print_header, print_line, print_notes
from .workloads import head_predicates

COMMAND = "modules"
PREFIX = f"{COMMAND}:"
NAMES = {f"{PREFIX}{workload.name}": workload for workload in MODULES.values()}
ROUNDS = 3
PAIRS = 10
GOAL = 1.05

Key = tuple[str, str]
Rounds = list[list[Sample]]
"""For each round what was measured in it."""


def quick(name: str) -> bool:
    """Whether a workload belongs to the quick set."""
    return NAMES[name].base.quick


def expand(names: list[str]) -> list[str]:
    """Names on the command line: after `modules`, `dag` is short for modules:dag, `rs1` for all
    that begin with rs1- (and `dag` for itself alone)."""
    if COMMAND not in names or not names[(split := names.index(COMMAND) + 1) :]:
        return names
    return names[: split - 1] + [full for name in names[split:] for full in _meant(name)]


def _meant(name: str) -> list[str]:
    if name in MODULES or ":" in name:
        return [name if ":" in name else f"{PREFIX}{name}"]
    return [f"{PREFIX}{full}" for full in MODULES if full.split("-")[0] == name] or [name]


def report(names: list[str], runs: int | None, timeout: float) -> None:
    """Measure all, and print a table for each kind of workload, then what went wrong."""
    print(
        "Modules on and off, and SQL by hand: median ms (least-most) of one durable change. SQL "
        f"computes everything again.\nWhat takes longer than {timeout:g} s is not waited for.\n",
        flush=True,
    )
    found = [
        Measured(workload, runs, timeout)
        for workload in (NAMES[name] for name in names)
        if _is_here(workload)
    ]
    papers = [measured for measured in found if measured.workload.shape != (0,) * 5]
    if tabled := [m for m in papers if not m.workload.sized]:
        _print_materialisation(tabled)
        _print_maintenance(tabled)
    if sized := [m for m in papers if m.workload.sized]:
        _print_turbines(sized)
        _print_sizes(sized)
    if overhead := [m for m in found if m.workload.overhead]:
        _print_overhead(overhead)
    print_notes([note for measured in found for note in measured.notes])


def _is_here(workload: ModuleWorkload) -> bool:
    if missing := workload.base.missing():
        print_notes([f"{workload.name}: skipped, {missing}"])
    return not missing


# -------------------------------------------------------------------------------- measurements


class Measured:
    """All rounds of a workload, for each engine.

    Which case an engine could not do in time, it is not asked to do again.
    """

    def __init__(self, workload: ModuleWorkload, runs: int | None, timeout: float) -> None:
        self.workload = workload
        self.timeout = timeout
        self.rounds: dict[str, Rounds] = {ON: [], OFF: []} | ({SQL: []} if workload.sql else {})
        self.left = {engine: [SCRATCH, *_keys(workload, engine)] for engine in self.rounds}
        self.notes: list[str] = []
        for turn in range(runs or (PAIRS if workload.overhead else ROUNDS)):
            for engine in list(self.rounds)[:: -1 if turn % 2 else 1]:
                self.rounds[engine].append(self._round(engine, turn))
            self._compare(turn)

    def samples(self, engine: str, key: Key) -> list[Sample]:
        """All samples of a case and verb, in every round."""
        rounds = self.rounds.get(engine, [])
        return [s for done in rounds for s in done if (s.case, s.verb) == key]

    def seconds(self, engine: str, key: Key) -> list[float]:
        """Their seconds; those that were not waited for are left out."""
        return [s.seconds for s in self.samples(engine, key) if s.seconds is not None]

    def is_over(self, engine: str, key: Key) -> bool:
        """Whether it was not waited for."""
        return any(s.seconds is None for s in self.samples(engine, key))

    def _round(self, engine: str, turn: int) -> list[Sample]:
        """What is left to be done, in one process, or in more if some end themselves."""
        found: list[Sample] = []
        todo = [key for key in self.left[engine] if key != SCRATCH]
        while SCRATCH in self.left[engine]:
            name = SEPARATOR.join((f"{PREFIX}{self.workload.name}", str(turn), ",".join(todo)))
            rows, problem = child(engine, name, 1, self.timeout)
            samples = [Sample(**row) for row in rows]
            found += [s for s in samples if s.case != SCRATCH or not self._has_scratch(found)]
            self._tell(engine, turn, samples, problem)
            over = samples[-1].case if samples and samples[-1].seconds is None else None
            if over is None:
                if problem:
                    self.left[engine].remove(SCRATCH)
                return found
            self.left[engine].remove(over)
            todo = todo[todo.index(over) + 1 :] if over in todo else []
            if not todo:
                return found
        return found

    def _has_scratch(self, found: list[Sample]) -> bool:
        return sum(s.case == SCRATCH for s in found) >= self.workload.samples

    def _tell(self, engine: str, turn: int, samples: list[Sample], problem: str) -> None:
        """One line on stderr, and notes of what went wrong."""
        told = [f"{s.case} {s.verb} {_waited(s.seconds, self.timeout)}" for s in samples]
        title = f"{self.workload.name}, {engine}, round {turn + 1}"
        print(f"{title}: {'; '.join([*told, problem])}", file=sys.stderr, flush=True)
        self.notes += [f"{title}: {problem}"] if problem else []
        for s in samples:
            self.notes += [f"{title}, {s.case} {s.verb}: {wrong}" for wrong in s.problems]

    def _compare(self, turn: int) -> None:
        """Every engine must have come to the same, in what both have."""
        states = {e: _states(rounds[turn]) for e, rounds in self.rounds.items()}
        for engine in [e for e in states if e != ON]:
            for key in states[engine].keys() & states[ON].keys():
                left, right = states[ON][key], states[engine][key]
                heads = set(head_predicates(self.workload.base.rules))
                if engine == SQL:
                    left = {p: state for p, state in left.items() if p in heads}
                self.notes += [
                    f"{self.workload.name}, round {turn + 1}, {' '.join(map(str, key))}, "
                    f"on against {engine}: {wrong.replace('from scratch', engine)}"
                    for wrong in differences(left, right)
                ]


def _keys(workload: ModuleWorkload, engine: str) -> list[str]:
    return [case.key for case in workload.cases if engine != SQL or not case.rules]


def _states(samples: list[Sample]) -> dict[tuple[str, str, int], dict[str, tuple[object, ...]]]:
    """What was there after each verb; a case may have several samples."""
    found: dict[tuple[str, str, int], dict[str, tuple[object, ...]]] = {}
    for sample in samples:
        if sample.seconds is not None:
            nth = sum(key[:2] == (sample.case, sample.verb) for key in found)
            found[sample.case, sample.verb, nth] = sample.state
    return found


def _waited(seconds: float | None, timeout: float) -> str:
    return f"> {timeout:g} s" if seconds is None else number(1000 * seconds)


# --------------------------------------------------------------------------------------- cells


def _cell(measured: Measured, engine: str, key: Key) -> str:
    if measured.is_over(engine, key):
        return f"> {measured.timeout:g} s"
    seconds = measured.seconds(engine, key)
    return ms(seconds) if seconds else "-"


def _ratio(measured: Measured, engine: str, base: str, key: Key) -> str:
    """How many times as long as another; at least, if it was not waited for."""
    below = measured.seconds(base, key)
    if measured.is_over(engine, key) and below:
        return f"> {number(measured.timeout / median(below))}"
    above = measured.seconds(engine, key)
    return f"{median(above) / median(below):.2f}" if above and below else "-"


_FIGURES = ["modules on", "modules off", "off/on", "SQL", "on/SQL"]


def _figures(measured: Measured, key: Key) -> list[str]:
    return [
        _cell(measured, ON, key),
        _cell(measured, OFF, key),
        _ratio(measured, OFF, ON, key),
        _cell(measured, SQL, key),
        _ratio(measured, ON, SQL, key),
    ]


def _changed(measured: Measured, key: Key) -> str:
    for engine in (ON, OFF):
        if found := [s.changed for s in measured.samples(engine, key) if s.seconds is not None]:
            return counts(found)
    return "-"


def _lines(workload: ModuleWorkload) -> Iterator[tuple[Key, str]]:
    """Each case and verb, with its title."""
    for case in workload.cases:
        for verb in case.verbs:
            yield (case.key, verb), _title(case, verb)


def _title(case: ModuleCase, verb: str) -> str:
    return f"{verb} {case.title}"


# -------------------------------------------------------------------------------------- tables


FROM_SCRATCH = (SCRATCH, SCRATCH)


def _print_materialisation(found: list[Measured]) -> None:
    """E explicit and I derived facts, S strata, rules that are not and are recursive, closures."""
    print("### Table 1: materialisation, ms\n")
    shape = ["benchmark", "E", "I", "S", "rules nr", "rules r", "TC", "STC"]
    print_header([*shape, *_FIGURES, "on, reasoning and publishing", "of that to SQL"])
    for m in found:
        sizes = [f"{n:,}" for n in _sizes(m)] or ["-", "-"]
        figures = [*_figures(m, FROM_SCRATCH), *_reasoning(m)]
        print_line([m.workload.base.title, *sizes, *map(str, m.workload.shape), *figures])
    print()


def _sizes(measured: Measured) -> tuple[int, int] | tuple[()]:
    """Explicit facts, and those of derived predicates that are not explicit."""
    for engine in measured.rounds:
        for sample in measured.samples(engine, FROM_SCRATCH):
            if sample.seconds is not None:
                explicit = {p: t.num_rows for p, t in measured.workload.base.facts().items()}
                heads = head_predicates(measured.workload.base.rules)
                derived = sum(
                    int(str(sample.state[p][0])) - explicit.get(p, 0)
                    for p in heads
                    if p in sample.state
                )
                return sum(explicit.values()), derived
    return ()


def _reasoning(measured: Measured) -> list[str]:
    """As SQL's time is: without reading the facts, which are in the file already."""
    ours = [s.reason for s in measured.samples(ON, FROM_SCRATCH) if s.reason is not None]
    sql = measured.seconds(SQL, FROM_SCRATCH)
    return [ms(ours) if ours else "-", f"{median(ours) / median(sql):.2f}" if ours and sql else "-"]


def _print_maintenance(found: list[Measured]) -> None:
    print("### Table 2: incremental maintenance, ms\n")
    print_header(["benchmark", "change", "facts changed", *_FIGURES])
    for m in found:
        for key, title in _lines(m.workload):
            print_line([m.workload.base.title, title, _changed(m, key), *_figures(m, key)])
    print()


def _print_turbines(found: list[Measured]) -> None:
    print("### Table 3: RS1 of the ZodiacEdge paper, ms\n")
    edge = ["ZodiacEdge on PyPy", "times faster with modules"]
    print_header(["", "change", "facts changed", *_FIGURES, *edge])
    for m in found:
        for key, title in [(FROM_SCRATCH, "from scratch"), *_lines(m.workload)]:
            line = [m.workload.base.title, title, _changed(m, key), *_figures(m, key)]
            print_line([*line, *_against(m, key)])
    print()


def _against(measured: Measured, key: Key) -> list[str]:
    known, ours = measured.workload.known.get(key), measured.seconds(ON, key)
    if known is None:
        return ["-", "-"]
    return [f"{known:,.0f}", number(known / 1000 / median(ours)) if ours else "-"]


def _print_sizes(found: list[Measured]) -> None:
    """From scratch and after a checkpoint; the same less what is there without any fact or rule."""
    print("### Table 4: bytes of the file, and of its used blocks\n")
    parts = ["file", "used", "used by an empty one", "used by facts and rules"]
    print_header(["", *(f"{part}, {engine}" for engine in (ON, OFF) for part in parts)])
    for m in found:
        cells = [cell for engine in (ON, OFF) for cell in _size_cells(m, engine)]
        print_line([m.workload.base.title, *cells])
    print()


def _size_cells(measured: Measured, engine: str) -> list[str]:
    sizes = [s.sizes for s in measured.samples(engine, FROM_SCRATCH) if s.sizes]
    if not sizes:
        return ["-"] * 4
    whole, used, _, empty = (int(median(column)) for column in zip(*sizes, strict=True))
    return [f"{n:,}" for n in (whole, used, empty, used - empty)]


def _print_overhead(found: list[Measured]) -> None:
    """Ratios of the same change in neighbouring processes, because machines have moods."""
    print(f"### Table 5: what modules cost where there is nothing for them, goal {GOAL}\n")
    header = ["", "change", "pairs", "modules on", "modules off"]
    print_header([*header, "on/off of pairs: median (quartiles)", "on/off of medians"])
    for m in found:
        for key, title in [(FROM_SCRATCH, "from scratch"), *_lines(m.workload)]:
            ratios = _pairs(m, key)
            line = [m.workload.base.title, title, str(len(ratios))]
            line += [_cell(m, ON, key), _cell(m, OFF, key), _quartiles(ratios)]
            print_line([*line, _ratio(m, ON, OFF, key)])
    print()


def _pairs(measured: Measured, key: Key) -> list[float]:
    """The nth sample of one round with modules on, to the nth of the same round with them off."""
    ratios: list[float] = []
    for on, off in zip(measured.rounds[ON], measured.rounds[OFF], strict=True):
        both = zip(_seconds(on, key), _seconds(off, key), strict=False)
        ratios += [above / below for above, below in both]
    return ratios


def _seconds(samples: list[Sample], key: Key) -> list[float]:
    return [s.seconds for s in samples if (s.case, s.verb) == key and s.seconds is not None]


def _quartiles(ratios: list[float]) -> str:
    if len(ratios) < 2:
        return "-"
    low, middle, high = quantiles(ratios, n=4)
    return f"{middle:.3f} ({low:.3f}-{high:.3f})"
