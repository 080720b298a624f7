"""What each operator expects to take for a hypernode, and what it takes: all that can maintain it.

`python -m tests.benchmarks operators [updates:rs2 updates:lubm ..]`. The first batch of each case
is deleted and inserted again, with each operator first in turn, in one process, by DuckDB alone.
Times are CPU ms of the process for all that is done for a hypernode, the best of the runs. The
operator that is chosen comes first. One with an exclamation mark has given up, and those after it
have done the work.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from zodiac_sql.change import materialise
from zodiac_sql.change import registry as of_an_update
from zodiac_sql.change.stats import HypernodeStats
from zodiac_sql.maintain import registry

from .session import change, connect, explicit_facts
from .tables import number, print_header, print_line
from .update_tables import NAMES, PREFIX
from .update_workloads import UPDATES

COMMAND = "operators"

BY_DUCKDB = ("hypernodes, to the end",)
"""What carries a change out: not look-ups."""

SHOWN = 0.005
"""Hypernodes that take less than so many seconds by all operators are left out."""


@dataclass
class Taken:
    """What came of one hypernode in one change, by each operator."""

    moved: int = 0
    chosen: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    """The least for each chain of operators: the last one of it has done the work."""
    expected: dict[str, float | None] = field(default_factory=dict)
    """In milliseconds, by operator."""

    def note(self, stats: HypernodeStats, is_chosen: bool) -> None:
        """Note what a change tells."""
        tried = [one for one in stats.considered if one.took is not None]
        chain = " > ".join(f"{one.operator}!" if one.declined else one.operator for one in tried)
        if chain:
            self.moved = stats.inserted + stats.deleted
            self.chosen = chain if is_chosen else self.chosen
            self.seconds[chain] = min(stats.seconds, self.seconds.get(chain, stats.seconds))
            self.expected |= {one.operator: one.expected for one in stats.considered}

    def told(self) -> Iterator[str]:
        """Each chain: what it expected and took, the chosen one first."""
        for chain in sorted(self.seconds, key=lambda c: (c != self.chosen, self.seconds[c])):
            expected = self.expected.get(chain.split(" > ")[-1])
            known = "-" if expected is None else number(expected)
            yield f"{chain} {known} / {number(1000 * self.seconds[chain])}"


def report(names: Iterable[str], runs: int) -> None:
    """Print a line for each hypernode that has something to do."""
    print("Operators: CPU ms expected / taken, the chosen one first.\n")
    print_header(["workload", "case", "change", "hypernode", "moved", "operators"])
    cpu: Any = type("Clock", (), {"perf_counter": staticmethod(time.process_time)})
    with (
        patch.object(materialise, "time", cpu),
        patch.object(of_an_update, "FORCED", BY_DUCKDB),
    ):
        for name in names:
            _report(name, runs)


def _report(name: str, runs: int) -> None:
    workload = UPDATES[name.removeprefix(PREFIX)]
    facts = explicit_facts(workload.base)
    with TemporaryDirectory() as folder, connect(Path(folder, "a.duckdb"), "auto") as kb:
        with kb.update() as update:
            for predicate, table in facts.items():
                update.insert(predicate, table)
            update.add_rules(workload.base.rules)
        for case in workload.cases(facts):
            found: dict[tuple[str, str], Taken] = {}
            batch = case.batches[0]
            forced = ((), *((one.name,) for one in registry.OPERATORS))
            for first in forced * runs:
                with patch.object(registry, "FORCED", first):
                    for verb, gone, new in (("delete", batch, {}), ("insert", {}, batch)):
                        _, done = change(kb, gone, new)
                        for hypernode, stats in done.stats.hypernodes.items():
                            taken = found.setdefault((verb, hypernode), Taken())
                            taken.note(stats, is_chosen=not first)
            for (verb, hypernode), taken in sorted(found.items()):
                if max(taken.seconds.values(), default=0.0) >= SHOWN:
                    told = "; ".join(taken.told())
                    print_line([name, case.title, verb, hypernode, f"{taken.moved:,}", told])


def names_of(asked: Iterable[str]) -> list[str]:
    """The workloads that are asked for: all that change facts if none is."""
    return [*asked] or [name for name in NAMES if name.removeprefix(PREFIX) in UPDATES]
