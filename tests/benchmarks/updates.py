"""One update workload under one strategy, measured inside a process of its own.

Each case deletes a batch, inserts it again, and so on with the next: the state returns. A case
ends early when its time is up. Correctness is looked at between the timed changes: after a
deletion, and at the end, the state must be what materialisation from scratch makes of the facts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

from . import stream_runs
from .session import (
    Batch,
    Fingerprint,
    Row,
    build,
    change,
    connect,
    differences,
    explicit_facts,
    fingerprint,
    from_scratch,
    without,
)
from .streams import STREAMS
from .update_workloads import UPDATES, Case, UpdateWorkload
from .workloads import table_of

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

FEWEST = 3
"""So many samples are taken even when time is up."""


def run_one(strategy: str, name: str, runs: int, seconds: float) -> None:
    """Print one line of JSON for each `Row` as soon as it is known."""
    with TemporaryDirectory() as folder:
        for row in _rows(strategy, name, runs, seconds, Path(folder)):
            print(json.dumps(asdict(row)), flush=True)


def _rows(strategy: str, name: str, runs: int, seconds: float, folder: Path) -> Iterator[Row]:
    if name in STREAMS:
        return stream_runs.measure(STREAMS[name], strategy, runs, seconds)
    return Measurement(UPDATES[name], strategy, folder).rows(runs, seconds)


class Measurement:
    """A workload on a file, materialised from scratch, and then changed case by case."""

    def __init__(self, workload: UpdateWorkload, strategy: str, folder: Path) -> None:
        self.workload = workload
        self.strategy = strategy
        self.path = folder / "updated.duckdb"
        self.other = folder / "scratch.duckdb"
        self.facts = explicit_facts(workload.base)

    def rows(self, runs: int, seconds: float) -> Iterator[Row]:
        """From scratch, then each case. A first tiny program lets all modules be imported."""
        build(self.other, "p(X, Y) :- q(X, Y).", {"q": table_of([(1, 2)])}, self.strategy)
        rules = self.workload.base.rules
        scratch = [build(self.path, rules, self.facts, self.strategy) for _ in range(runs)]
        yield Row("from scratch", {"scratch": scratch}, self.workload.known)
        with connect(self.path, self.strategy) as kb:
            before = fingerprint(kb)
        for case in self.workload.cases(self.facts):
            yield self._case(case, before, seconds)

    def _case(self, case: Case, before: Fingerprint, seconds: float) -> Row:
        row = Row(case.title, {"delete": [], "insert": []}, case.known)
        end = perf_counter() + seconds
        with connect(self.path, self.strategy) as kb:
            for batch in case.batches:
                row.kinds.extend([" ".join(sorted(batch))] if case.by_kind else [])
                spent, done = change(kb, batch, {})
                row.seconds["delete"].append(spent)
                row.changed.append(sum(done.deleted.values()) + sum(done.inserted.values()))
                row.reached.append(len(done.stats["hypernodes"]))
                spent, _ = change(kb, {}, batch)
                row.seconds["insert"].append(spent)
                if perf_counter() > end and len(row.changed) >= FEWEST:
                    break
            batch, rules = case.batches[0], self.workload.base.rules
            row.statements.append(_statements(kb, batch, {}))
            right = from_scratch(self.other, rules, without(self.facts, batch))
            row.problems.extend(f"deleted: {d}" for d in differences(fingerprint(kb), right))
            row.statements.append(_statements(kb, {}, batch))
            row.problems.extend(f"at the end: {d}" for d in differences(fingerprint(kb), before))
        return row


def _statements(kb: KnowledgeBase, gone: Batch, new: Batch) -> int:
    """Make a change. Returns how many SQL statements it took."""
    seen = 0

    def count(_: str, __: object) -> None:
        nonlocal seen
        seen += 1

    kb.trace(count)
    change(kb, gone, new)
    kb.trace(None)
    return seen
