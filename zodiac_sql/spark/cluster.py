"""Evaluates rules over Spark data frames, from scratch: for facts too large for one machine.

Each rule is planned and compiled as for DuckDB (sql/plan.py, sql/select.py), and rendered in
Spark's dialect; hypernodes are evaluated in topological order, recursive ones semi-naively. Spark
chooses joins, schedules work and moves data. Its plans would grow with every step, so the result of
each hypernode and the delta of each iteration become checkpoints, which cut the lineage. What is
small is evaluated on the driver, and recursion that keeps a column by the workers (apart.py).

Symbols are texts here, not numbers, because all machines would have to share one dictionary.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa

from zodiac_sql.database.statements import distinct
from zodiac_sql.errors import DataError, QueryError
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.names import given as given_name
from zodiac_sql.names import written as written_name
from zodiac_sql.spark.evaluated_program import EvaluatedProgram, evaluated_program
from zodiac_sql.spark.explicit import facts_table, normal
from zodiac_sql.spark.frames import Frames, frames_of
from zodiac_sql.spark.from_scratch import from_scratch
from zodiac_sql.spark.handoff import place_for, written
from zodiac_sql.spark.here import ON_DRIVER, Here, here_of
from zodiac_sql.spark.left_to_duckdb import leaves
from zodiac_sql.spark.planning import PlannedRules, Rules, plan_texts, texts_of
from zodiac_sql.spark.refusals import require_builtins, require_runnable
from zodiac_sql.spark.require import deriving, explained, is_local
from zodiac_sql.spark.types import columns_of, frame_of, struct_of
from zodiac_sql.spark.violations import require_none
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.relations import Part, Relation

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LOGGER = logging.getLogger("zodiac_sql.spark")


@dataclass(frozen=True, slots=True)
class Iteration:
    """One round of a hypernode, with the number of new facts that it found of each predicate.

    A hypernode that is not recursive, or was evaluated on the driver, has one round.
    """

    hypernode: str
    number: int
    found: Mapping[str, int]
    seconds: float

    def __str__(self) -> str:
        found = ", ".join(f"{rows:,} {name}" for name, rows in self.found.items()) or "nothing new"
        return f"{self.hypernode}, iteration {self.number}: {found} ({self.seconds:.1f} s)"


@dataclass(frozen=True, slots=True)
class Materialised(Mapping[str, "DataFrame"]):
    """Extensions as data frames, by predicate: explicit and derived facts, each once.

    Columns are those of the predicate: strings for symbols, bigint, double, boolean, date,
    timestamp_ntz. `derived` are the predicates that rules derive. `iterations` has the rounds of
    all hypernodes; `notes` say what looks like a mistake in the rules. A predicate may be asked for
    by name, `<iri>`, `prefix:local` or SQL name.
    """

    derived: tuple[str, ...]
    iterations: tuple[Iteration, ...]
    notes: tuple[str, ...]
    _frames: Mapping[str, DataFrame] = field(repr=False)
    _names: Callable[[str], str] = field(repr=False)

    def __getitem__(self, predicate: str) -> DataFrame:
        name = self._names(predicate)
        if name not in self._frames:
            raise QueryError(f"there is no predicate {predicate}. There are {', '.join(self)}.")
        return self._frames[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._frames)

    def __len__(self) -> int:
        return len(self._frames)


def materialise(
    spark: SparkSession,
    rules: Rules,
    facts: Mapping[str, DataFrame],
    *,
    progress: Callable[[Iteration], None] | None = None,
    driver_rows: int = ON_DRIVER,
    through: str | None = None,
) -> Materialised:
    """Evaluate rules over data frames of facts, by predicate.

    `rules` are a text or a file, or several; facts in them count as well. Columns are matched by
    position; rows may repeat. `progress` is called after each iteration; `print` will do.

    A hypernode that reads at most `driver_rows` facts is evaluated on the driver, by the embedded
    engine, if that is done in half a minute: for these it is faster; 0 is for never. Others are
    evaluated by Spark; recursion that keeps a column by its workers, if these have zodiac_sql, each
    for some values of that column. `through` is a directory or URI that the driver and the
    executors reach; all that is computed is written there, so the answer survives the loss of an
    executor, and you have to clear it yourself. Without it, the executors keep what is computed (or
    the session's checkpoint directory does, if it has one) as long as somebody holds a reference to
    the answer; and nothing is evaluated on the driver of a session that is not local.

    Raises ProgramError for errors in rules, DataError for columns that cannot be columns of facts,
    ConstraintError if a constraint is violated, EvaluationError for an integer beyond 64 bits, and
    SparkError if Spark fails, or with the names of rules that Spark would compute differently.
    """
    given = {name: columns_of(name, df) for name, df in facts.items()}
    texts = texts_of(rules)
    require_builtins(texts)
    planned = plan_texts(texts, given)
    require_runnable(planned, spark)
    frames = _by_predicate(planned, facts)
    program = evaluated_program(planned, frames)
    place = place_for(spark, through) if through else None
    limit = driver_rows if through or is_local(spark) else 0
    with explained(), frames_of(spark, place) as registry, ExitStack() as exits:
        here = exits.enter_context(here_of(program.columns, limit)) if limit else None
        run = _Run(registry, program, progress, here, through)
        for name, df in frames.items():
            run.add_explicit(name, df)
        for name in planned.facts:
            run.add_written(name)
        for hypernode in program.hypernodes:
            run.evaluate(hypernode)
            require_none(hypernode, run.violations)
        extensions = {name: run.extension(name) for name in planned.shown}
    notes = planned.planned.remarks
    LOGGER.info("evaluated %d hypernodes from scratch", len(program.hypernodes))
    return Materialised(planned.derived, tuple(run.iterations), notes, extensions, planned.meant)


def _by_predicate(planned: PlannedRules, facts: Mapping[str, DataFrame]) -> dict[str, DataFrame]:
    """The data frames by full name of predicate. Raises DataError if a predicate has two."""
    given: dict[str, str] = {}
    for name in facts:
        other = given.setdefault(planned.names[name], name)
        if other != name:
            raise DataError(
                f"{other} and {name} are the same predicate: unite their data frames into one."
            )
    return {predicate: facts[name] for predicate, name in given.items()}


@dataclass(slots=True)
class _Run:
    """An evaluation: the parts of each extension so far, by predicate. No fact is in two parts."""

    frames: Frames
    program: EvaluatedProgram
    progress: Callable[[Iteration], None] | None
    here: Here | None
    through: str | None
    parts: dict[str, list[Part]] = field(default_factory=dict)
    iterations: list[Iteration] = field(default_factory=list)

    def relation(self, name: str, _: Version = Version.ALL) -> Relation:
        return Relation(self.program.columns[name], tuple(self.parts.get(name, ())))

    @property
    def context(self) -> Context:
        types = {name: [c.meant for c in columns] for name, columns in self.program.columns.items()}
        return Context(self.relation, types, {}, {}, spelled=True, leaves=leaves)

    def add_explicit(self, predicate: str, df: DataFrame) -> None:
        """Add the given facts of a predicate, each once."""
        facts = normal(self.frames, self.program.planned.schema[predicate], df)
        name = given_name(predicate) if predicate in self.program.derived else predicate
        self.keep(name, self.frames.computed(distinct(facts)))

    def add_written(self, predicate: str) -> None:
        """Add the facts of a predicate in the texts of rules."""
        rows, known = self.program.planned.facts[predicate], self.program.planned.schema[predicate]
        df = frame_of(self.frames.spark, known, rows)
        self.keep(written_name(predicate), self.frames.add(df, len(rows)))

    def keep(self, name: str, part: Part) -> None:
        """Add facts that have been computed."""
        if part.rows:
            self.parts.setdefault(name, []).append(part)

    def extension(self, predicate: str) -> DataFrame:
        """All facts of a predicate, each once."""
        relation = self.relation(predicate)
        if not relation.parts:
            return self.frames.spark.createDataFrame([], struct_of(relation.stored))
        frames = (self.frames.views[part.table] for part in relation.parts)
        return reduce(lambda one, other: one.unionAll(other), frames)

    def violations(self, constraint: str) -> tuple[DataFrame, int] | None:
        """What violates a constraint, and how often."""
        rows = self.relation(constraint).rows
        return (self.extension(constraint), rows) if rows else None

    def evaluate(self, hypernode: Hypernode) -> None:
        """Add the facts that a hypernode derives. The predicates that it reads are complete."""
        if not self.evaluated_here(hypernode):
            with deriving(hypernode.rules):
                self.evaluate_on_spark(hypernode)

    def evaluate_on_spark(self, hypernode: Hypernode) -> None:
        owns, rounds = from_scratch(self.frames, hypernode, self.program.columns, self.context)
        started = time.perf_counter()
        for number, found in enumerate(rounds, start=1):
            self.tell(hypernode, number, found, started)
            started = time.perf_counter()
        for predicate, own in owns.items():
            self.parts[predicate] = own.known

    def evaluated_here(self, hypernode: Hypernode) -> bool:
        """Evaluate a hypernode on the driver; False if it is too large for that."""
        reads = (self.relation(name) for name in hypernode.reads)
        if self.here is None or sum(relation.rows for relation in reads) > self.here.limit:
            return False
        started = time.perf_counter()
        found = self.here.derive(hypernode.rules, self.arrow)
        if found is None:
            return False
        for predicate, rows in found.items():
            if rows:
                with self.here.kb.batches(predicate) as reader:
                    made = written(
                        self.frames.spark, predicate, reader.schema, reader, self.through
                    )
                names = [c.name for c in Relation(self.program.columns[predicate], ()).stored]
                self.keep(predicate, self.frames.add(made.toDF(*names), rows))
        self.tell(hypernode, 1, found, started)
        return True

    def arrow(self, name: str) -> pa.Table:
        """Facts in the memory of the driver."""
        columns = self.program.columns[name]
        predicate = name.partition("\0")[0]
        if name == written_name(predicate):
            return facts_table(columns, self.program.planned.facts[predicate])
        return self.extension(name).toArrow()

    def tell(
        self, hypernode: Hypernode, number: int, found: Mapping[str, int], started: float
    ) -> None:
        """Note what an iteration has found of a program's predicates; report it to `progress`."""
        shown = {*self.program.planned.shown}
        if shown.isdisjoint(hypernode.derives):
            return
        some = {p: rows for p, rows in found.items() if rows and p in shown}
        told = Iteration(hypernode.name, number, some, time.perf_counter() - started)
        self.iterations.append(told)
        LOGGER.debug("%s", told)
        if self.progress:
            self.progress(told)
