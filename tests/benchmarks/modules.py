"""One workload with modules on, with modules off or as SQL, inside a process of its own.

From scratch, then each case: deleted, looked at, inserted again, looked at. What is looked at, not
timed, must be as from scratch (with modules), and the parent compares it with the other engines.

Nothing can stop a statement of DuckDB from outside, so a process ends itself when a verb has had
its time: the sample that says so has no seconds.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer
from time import perf_counter
from typing import cast

import duckdb

from zodiac_sql.change.change import Change
from zodiac_sql.knowledge_base import KnowledgeBase

from . import module_sql
from .module_workloads import MODULES, Gone, ModuleCase, ModuleWorkload
from .processes import SEPARATOR
from .rule_changes import rule_set
from .rule_workloads import RuleSet
from .session import (
    Fingerprint,
    change,
    connect,
    differences,
    explicit_facts,
    fingerprint,
    materialise,
    without,
)
from .workloads import table_of

ON, OFF, SQL = "on", "off", "sql"
SCRATCH = "scratch"
STRATEGY = "auto"


@dataclass(frozen=True)
class Sample:
    """One verb: its seconds, or None if it needed more than it had, and what was there afterwards.

    From scratch, `reason` are the seconds without those for reading facts and checking rules, and
    `sizes` the bytes of the file and of its used blocks, then of an empty knowledge base.
    """

    case: str
    verb: str
    seconds: float | None = None
    reason: float | None = None
    changed: int = 0
    state: Fingerprint = field(default_factory=dict)
    sizes: tuple[int, ...] = ()
    problems: list[str] = field(default_factory=list)


def run_one(engine: str, name: str, limit: float) -> None:
    """Print one line of JSON for each `Sample`; `name` is that of a workload, round and cases."""
    workload_name, turn, keys = name.split(SEPARATOR)
    workload = MODULES[workload_name]
    cases = [case for case in workload.cases if case.key in keys.split(",")]
    kind = SqlMeasurement if engine == SQL else Measurement
    with TemporaryDirectory() as folder:
        measurement = kind(workload, engine, Path(folder), limit)
        for sample in measurement.samples(cases, int(turn)):
            print_sample(sample)


def print_sample(sample: Sample) -> None:
    print(json.dumps(asdict(sample)), flush=True)


@contextmanager
def limited(case: str, verb: str, limit: float) -> Iterator[None]:
    """End this process, having told so, if what is inside needs more than its time."""

    def give_up() -> None:
        print_sample(Sample(case, verb))
        os._exit(0)

    timer = Timer(limit, give_up)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class Measurement:
    """A knowledge base on a file, with modules or without."""

    def __init__(self, workload: ModuleWorkload, engine: str, folder: Path, limit: float) -> None:
        self.workload = workload
        self.modules = engine == ON
        self.limit = limit
        self.path = folder / "modules.duckdb"
        self.other = folder / "other.duckdb"
        self.facts = explicit_facts(workload.base)
        self._warm_up()

    def samples(self, cases: list[ModuleCase], turn: int) -> Iterator[Sample]:
        """From scratch, then each case, with other facts in each turn."""
        for _ in range(self.workload.samples):
            yield self._from_scratch()
        with connect(self.path, STRATEGY, self.modules) as kb:
            rules = rule_set(kb, self.workload.base.rules)
            before = state_of(kb)
            for case in cases:
                for index in range(_times(self.workload, case)):
                    gone = case.gone(self.facts, rules, 100 * (turn + 1) + index)
                    yield self._delete(kb, case, gone, rules)
                    if case.back:
                        yield self._insert(kb, case, gone, rules, before)

    def _warm_up(self) -> None:
        """A tiny program with both closures, changed once, lets all that is needed be imported."""
        rules = "s: t(X, Y) :- t(Y, X).\nt: t(X, Z) :- t(X, Y), t(Y, Z).\nu(X, Z) :- t(X, Z).\n"
        rules += "v(X, Y) :- u(X, Y).\nv(X, Z) :- v(X, Y), v(Y, Z).\n"
        facts = {"t": table_of([(1, 2), (2, 3)])}
        materialise(self.other, rules, facts, STRATEGY, self.modules)
        with connect(self.other, STRATEGY, self.modules) as kb:
            for verb in (kb.delete, kb.insert):
                verb("t", [(1, 2)])
            kb.drop_rules("t")
            kb.add_rules(rules)
            state_of(kb)

    def _from_scratch(self) -> Sample:
        rules = self.workload.base.rules
        with limited(SCRATCH, SCRATCH, self.limit):
            done = materialise(self.path, rules, self.facts, STRATEGY, self.modules)
        phases = cast(dict[str, float], done.stats["seconds"])
        with connect(self.path, STRATEGY, self.modules) as kb:
            state = state_of(kb)
        return Sample(
            SCRATCH,
            SCRATCH,
            done.seconds,
            phases["reason"] + phases["publish"],
            facts_changed(done),
            state,
            self._sizes() if self.workload.sized else (),
        )

    def _sizes(self) -> tuple[int, ...]:
        """Bytes of a copy, after a checkpoint, and of a file with nothing but an empty catalog."""
        shutil.copy(self.path, self.other)
        measured = file_sizes(self.other)
        self.other.unlink()
        connect(self.other, STRATEGY, self.modules).close()
        return *measured, *file_sizes(self.other)

    def _delete(self, kb: KnowledgeBase, case: ModuleCase, gone: Gone, rules: RuleSet) -> Sample:
        verb = case.verbs[0]
        with limited(case.key, verb, self.limit):
            seconds, done = _timed_deletion(kb, gone)
        state, wrong = state_of(kb), []
        if not self.workload.overhead:
            wrong = differences(state, self._right(gone, rules))
        return Sample(case.key, verb, seconds, None, facts_changed(done), state, (), wrong)

    def _insert(
        self, kb: KnowledgeBase, case: ModuleCase, gone: Gone, rules: RuleSet, before: Fingerprint
    ) -> Sample:
        verb = case.verbs[1]
        with limited(case.key, verb, self.limit):
            seconds, done = _timed_insertion(kb, gone, rules)
        state = state_of(kb)
        wrong = differences(state, before)
        return Sample(case.key, verb, seconds, None, facts_changed(done), state, (), wrong)

    def _right(self, gone: Gone, rules: RuleSet) -> Fingerprint:
        """What materialisation from scratch makes of the facts and rules that are left."""
        facts, text = self.facts, self.workload.base.rules
        if isinstance(gone, dict):
            facts = without(facts, gone)
        else:
            text = rules.without(gone)
        materialise(self.other, text, facts, "recompute")
        with connect(self.other, "recompute") as kb:
            return state_of(kb)


class SqlMeasurement:
    """A file with tables, which are computed again from the explicit facts after each change."""

    def __init__(self, workload: ModuleWorkload, _engine: str, folder: Path, limit: float) -> None:
        self.workload = workload
        self.limit = limit
        self.facts = explicit_facts(workload.base)
        self.connection = module_sql.prepare(self.facts, folder / "sql.duckdb")

    def samples(self, cases: list[ModuleCase], turn: int) -> Iterator[Sample]:
        """From scratch, and anew when facts have changed."""
        for index in range(self.workload.samples):
            if index:
                module_sql.forget(self.connection, self.workload.base.rules)
            yield self._sample(SCRATCH, SCRATCH, lambda: None, forget=False)
        for case in cases:
            if not case.rules:
                for index in range(_times(self.workload, case)):
                    gone = case.gone(self.facts, RuleSet("", {}, ()), 100 * (turn + 1) + index)
                    assert isinstance(gone, dict)
                    module_sql.stage(self.connection, gone)
                    for verb in case.verbs:
                        yield self._changed(case, verb, gone)

    def _changed(self, case: ModuleCase, verb: str, batch: module_sql.Batch) -> Sample:
        edit = module_sql.delete if verb == "delete" else module_sql.insert
        return self._sample(case.key, verb, lambda: edit(self.connection, batch), forget=True)

    def _sample(self, case: str, verb: str, edit: Callable[[], None], forget: bool) -> Sample:
        assert self.workload.sql is not None
        rules = self.workload.base.rules
        with limited(case, verb, self.limit):
            started = perf_counter()
            edit()
            if forget:
                module_sql.forget(self.connection, rules)
            self.workload.sql(self.connection)
            seconds = perf_counter() - started
        state = module_sql.fingerprint(self.connection, rules, self.workload.resource)
        return Sample(case, verb, seconds, seconds, state=state)


def _times(workload: ModuleWorkload, case: ModuleCase) -> int:
    return workload.samples * case.repeat if case.back else 1


def state_of(kb: KnowledgeBase) -> Fingerprint:
    """With integers of Python, which JSON can hold."""
    return {p: tuple(int(str(part)) for part in state) for p, state in fingerprint(kb).items()}


def _timed_deletion(kb: KnowledgeBase, gone: Gone) -> tuple[float, Change]:
    if isinstance(gone, dict):
        return change(kb, gone, {})
    started = perf_counter()
    done = kb.drop_rules(*gone)
    return perf_counter() - started, done


def _timed_insertion(kb: KnowledgeBase, gone: Gone, rules: RuleSet) -> tuple[float, Change]:
    if isinstance(gone, dict):
        return change(kb, {}, gone)
    text = rules.text(gone)
    started = perf_counter()
    done = kb.add_rules(text)
    return perf_counter() - started, done


def facts_changed(done: Change) -> int:
    return sum(done.deleted.values()) + sum(done.inserted.values())


def file_sizes(path: Path) -> tuple[int, int]:
    """The file after a checkpoint, and its blocks that are used."""
    with duckdb.connect(str(path)) as connection:
        connection.execute("CHECKPOINT")
    with duckdb.connect(str(path)) as connection:
        row = connection.execute(
            "SELECT block_size * used_blocks FROM pragma_database_size()"
        ).fetchone()
    assert row is not None
    return path.stat().st_size, int(row[0])
