"""One workload with rules decomposed into hypertrees, or not, inside a process of its own.

All facts but a few are materialised; then there are a deletion, an addition and another deletion,
one after the other. What is there after each, not timed, is compared with the other engines by the
parent. A verb that is not asked for, because it took too long before, is not done: what it changes
is so already in the facts of the materialisation that follows, which is not timed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, cast

import zodiac_sql
from zodiac_sql.change.change import Change
from zodiac_sql.knowledge_base import KnowledgeBase

from .hypertree_workloads import HYPERTREES
from .modules import (
    SCRATCH,
    Sample,
    facts_changed,
    file_sizes,
    limited,
    print_sample,
    state_of,
)
from .processes import SEPARATOR
from .session import Batch, change, explicit_facts, without
from .update_workloads import sample
from .workloads import Facts, Workload, table_of

STANDARD, HD, COMBINED = "standard", "HD", "combined"
Hypertree = Literal["auto"] | bool
ENGINES: dict[str, Hypertree] = {STANDARD: False, HD: True, COMBINED: "auto"}
"""What `hypertree` is for each."""

VERBS = (SCRATCH, "small deletion", "small addition", "large deletion")
"""In the order in which they are done."""

SMALL = 1_000
LARGE = 0.25
MEMORY = "6GB"


@dataclass(frozen=True)
class Step:
    """A verb: what it deletes and inserts, and the facts there are afterwards."""

    verb: str
    gone: Batch
    new: Batch
    facts: Facts


def steps(facts: Facts, turn: int) -> list[Step]:
    """All verbs, with other facts in each turn: those that are added were held back."""
    seed = 100 * (turn + 1)
    held = sample(facts, SMALL, 1, seed)[0]
    first = without(facts, held)
    small = sample(first, SMALL, 1, seed + 1)[0]
    grown = without(facts, small)
    large = sample(grown, round(LARGE * _size(grown)), 1, seed + 2)[0]
    batches: list[tuple[Batch, Batch, Facts]] = [
        ({}, {}, first),
        (small, {}, without(first, small)),
        ({}, held, grown),
        (large, {}, without(grown, large)),
    ]
    return [Step(verb, *batch) for verb, batch in zip(VERBS, batches, strict=True)]


def run_one(engine: str, name: str, limit: float) -> None:
    """Print one line of JSON for each `Sample`; `name` is that of a workload, round and verbs."""
    workload, turn, verbs = name.split(SEPARATOR)
    with TemporaryDirectory() as folder:
        measurement = Measurement(HYPERTREES[workload], ENGINES[engine], Path(folder), limit)
        for found in measurement.samples(verbs.split(","), int(turn)):
            print_sample(found)


class Measurement:
    """A knowledge base on a file, whose rules are decomposed or not."""

    def __init__(
        self, workload: Workload, hypertree: Hypertree, folder: Path, limit: float
    ) -> None:
        self.workload = workload
        self.hypertree = hypertree
        self.limit = limit
        self.path = folder / "hypertree.duckdb"
        self.facts = explicit_facts(workload)
        self._warm_up(folder / "other.duckdb")

    def samples(self, verbs: list[str], turn: int) -> Iterator[Sample]:
        """The verbs that are asked for, each in the state that those before it leave."""
        before: Facts | None = None
        with ExitStack() as stack:
            kb: KnowledgeBase | None = None
            for step in steps(self.facts, turn):
                if step.verb not in verbs:
                    stack.close()
                    kb = None
                elif step.verb == SCRATCH:
                    yield self._from_scratch(step)
                    kb = stack.enter_context(self._connect(self.path))
                else:
                    if kb is None:
                        assert before is not None
                        self._materialise(before, step.verb)
                        kb = stack.enter_context(self._connect(self.path))
                    yield self._changed(kb, step)
                before = step.facts

    def _connect(self, path: Path) -> KnowledgeBase:
        return zodiac_sql.connect(path, hypertree=self.hypertree, memory_limit=MEMORY)

    def _warm_up(self, path: Path) -> None:
        """A tiny cyclic program, changed once, lets all that is needed be imported."""
        with self._connect(path) as kb:
            kb.add_rules("q(X, Z) :- e(X, Y), e(Y, Z), e(Z, W), e(W, X), D = X + Z, D > 0.")
            kb.insert("e", table_of([(1, 2), (2, 3), (3, 4), (4, 1)]))
            for verb in (kb.delete, kb.insert):
                verb("e", [(1, 2)])
            state_of(kb)

    def _materialise(self, facts: Facts, verb: str) -> Change:
        """Facts and rules into a new file, as one change, in the time that the verb has."""
        self.path.unlink(missing_ok=True)
        with self._connect(self.path) as kb, limited(verb, verb, self.limit):
            with kb.update() as update:
                for predicate, table in facts.items():
                    update.insert(predicate, table)
                update.add_rules(self.workload.rules)
            return update.change

    def _from_scratch(self, step: Step) -> Sample:
        done = self._materialise(step.facts, step.verb)
        sizes = file_sizes(self.path)
        phases = cast(dict[str, float], done.stats["seconds"])
        reason = phases["reason"] + phases["publish"]
        with self._connect(self.path) as kb:
            state = state_of(kb)
        return Sample(SCRATCH, SCRATCH, done.seconds, reason, facts_changed(done), state, sizes)

    def _changed(self, kb: KnowledgeBase, step: Step) -> Sample:
        with limited(step.verb, step.verb, self.limit):
            seconds, done = change(kb, step.gone, step.new)
        return Sample(step.verb, step.verb, seconds, None, facts_changed(done), state_of(kb))


def _size(facts: Facts) -> int:
    return sum(table.num_rows for table in facts.values())
