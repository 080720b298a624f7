"""Evaluates rules over Spark data frames, from scratch: for facts too large for one machine.

Each rule is planned and compiled as for DuckDB (sql/plan.py, sql/select.py), and rendered in
Spark's dialect; hypernodes are evaluated in topological order, recursive ones semi-naively. Spark
chooses joins, schedules work and moves data. Its plans would grow with every step, so the result of
each hypernode and the delta of each iteration become checkpoints, which cut the lineage.

Symbols are texts here, not numbers, because all machines would have to share one dictionary.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from zodiac_sql.database.statements import anti_join, distinct, semi_join, union_all
from zodiac_sql.errors import DataError, QueryError
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.spark.dialect import canonical
from zodiac_sql.spark.frames import Frames, frames_of
from zodiac_sql.spark.planning import PlannedRules, Rules, plan_rules
from zodiac_sql.spark.refusals import require_builtins, require_runnable
from zodiac_sql.spark.require import explained
from zodiac_sql.spark.types import as_fact_column, columns_of, frame_of, struct_of
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.duplicates import has_duplicates
from zodiac_sql.sql.emptiness import is_empty
from zodiac_sql.sql.plan import Plan, Version, delta_variants, whole
from zodiac_sql.sql.relations import Part, Relation, relation_query, source
from zodiac_sql.sql.relations import columns_of as relation_columns
from zodiac_sql.sql.select import compile_rule

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Iteration:
    """One round of a hypernode, with the number of new facts that it found of each predicate.

    A hypernode that is not recursive has one round, and its facts may be known from elsewhere.
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
    all hypernodes. A predicate may be asked for by name, `<iri>`, `prefix:local` or SQL name.
    """

    derived: tuple[str, ...]
    iterations: tuple[Iteration, ...]
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
) -> Materialised:
    """Evaluate rules over data frames of facts, by predicate.

    `rules` are a text or a file, or several; facts in them count as well. Columns are matched by
    position; a data frame's rows may repeat. `progress` is called after each iteration; `print`
    will do. The executors keep intermediate results (or the session's checkpoint directory does, if
    it has one) as long as somebody holds a reference to the answer.

    Raises ProgramError for errors in rules, DataError for columns that cannot be columns of facts,
    and SparkError if Spark fails, or with the names of rules that Spark would compute differently.
    """
    given = {name: columns_of(name, df) for name, df in facts.items()}
    require_builtins(rules)
    planned = plan_rules(rules, given)
    require_runnable(planned, spark.conf.get("spark.sql.ansi.enabled") == "true")
    frames = _by_predicate(planned, facts)
    with explained(), frames_of(spark) as registry:
        run = _Run(registry, planned, progress)
        for predicate in planned.schema.values():
            run.add_explicit(predicate, frames.get(predicate.name))
        for hypernode in planned.graph.hypernodes:
            run.evaluate(hypernode)
        extensions = {name: run.extension(name) for name in planned.schema}
    return Materialised(planned.derived, tuple(run.iterations), extensions, planned.meant)


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
    """An evaluation: the parts of each extension so far, by predicate. Parts may overlap."""

    frames: Frames
    planned: PlannedRules
    progress: Callable[[Iteration], None] | None
    parts: dict[str, list[Part]] = field(default_factory=lambda: defaultdict(list))
    iterations: list[Iteration] = field(default_factory=list)

    def relation(self, predicate: str, _: Version = Version.ALL) -> Relation:
        return Relation(self.planned.schema[predicate].columns, tuple(self.parts[predicate]))

    @property
    def context(self) -> Context:
        columns = {name: [c.type for c in p.columns] for name, p in self.planned.schema.items()}
        return Context(self.relation, columns, {}, {}, spelled=True)

    def add_explicit(self, predicate: Predicate, given: DataFrame | None) -> None:
        """Add the given facts, each once, and those in the texts of rules."""
        rows = self.planned.facts.get(predicate.name)
        if given is not None:
            facts = distinct(self.normal(predicate, given))
            self.keep(predicate.name, facts)
        if rows:
            self.parts[predicate.name].append(
                self.frames.add(frame_of(self.frames.spark, predicate, rows), len(rows))
            )

    def normal(self, predicate: Predicate, given: DataFrame) -> exp.Select:
        """Facts as rules read them: with the predicate's columns, and symbols in canonical form."""
        names = [column.name for column in Relation(predicate.columns, ()).stored]
        fields = given.schema.fields
        cast = [
            as_fact_column(predicate.name, field).alias(name)
            for field, name in zip(fields, names, strict=True)
        ]
        raw = self.frames.add(given.select(*cast), 1)
        query = exp.select().from_(exp.table_(raw.table, quoted=True))
        for column in Relation(predicate.columns, ()).stored:
            value: exp.Expr = exp.column(column.name, quoted=True)
            if column.type is Type.SYMBOL:
                value = canonical(value)
            elif column.type is Type.FLOAT:
                value = exp.cast(value, "DOUBLE")
            query = query.select(value.as_(column.name, quoted=True), copy=False)
        return query

    def keep(self, predicate: str, query: exp.Query) -> int:
        """Compute facts of a predicate and add them to its parts. Returns their number."""
        facts, rows = self.frames.counted(query)
        if rows:
            self.parts[predicate].append(self.frames.add(facts, rows))
        return rows

    def extension(self, predicate: str) -> DataFrame:
        """All facts of a predicate, each once."""
        relation = self.relation(predicate)
        if not relation.parts:
            return self.frames.spark.createDataFrame([], struct_of(relation.stored))
        if len(relation.parts) > 1:
            self.parts[predicate] = []
            self.keep(predicate, relation_query(relation, distinct=True))
        (part,) = self.parts[predicate]
        return self.frames.views[part.table]

    def evaluate(self, hypernode: Hypernode) -> None:
        """Add the facts that a hypernode derives. The predicates that it reads are complete."""
        if hypernode.recursive:
            self.close(hypernode)
            return
        (rule,) = hypernode.rules
        plan, predicate = whole(rule), rule.head.predicate
        if is_empty(plan, self.context):
            return
        started = time.perf_counter()
        columns = self.planned.schema[predicate].columns
        query: exp.Query = compile_rule(plan, columns, self.context).query
        if has_duplicates(plan, columns, self.context):
            query = distinct(query)
        self.tell(hypernode, 1, {predicate: self.keep(predicate, query)}, started)

    def tell(
        self, hypernode: Hypernode, number: int, found: Mapping[str, int], started: float
    ) -> None:
        """Note what an iteration has found, and report it to `progress`."""
        some = {predicate: rows for predicate, rows in found.items() if rows}
        told = Iteration(hypernode.name, number, some, time.perf_counter() - started)
        self.iterations.append(told)
        if self.progress:
            self.progress(told)

    def close(self, hypernode: Hypernode) -> None:
        """Semi-naive evaluation: each iteration applies the rules to the last one's new facts.

        Every rule of a recursive hypernode reads a predicate of this hypernode. So the first delta
        is the facts that these predicates have from elsewhere.
        """
        owns = {p: _Own(p, self.planned.schema[p].columns) for p in hypernode.derives}
        for own in owns.values():
            outside = self.relation(own.predicate)
            if outside.parts:
                given = self.frames.counted(relation_query(outside, distinct=True))
                own.advance(self.frames, given)
        inside = replace(
            self.context,
            relation=lambda p, v: owns[p].relation(v) if p in owns else self.relation(p),
        )
        variants = [p for rule in hypernode.rules for p in delta_variants(rule, owns)]
        number = 0
        while plans := [plan for plan in variants if not is_empty(plan, inside)]:
            number += 1
            started = time.perf_counter()
            heads = {p: _heads(own, plans, inside) for p, own in owns.items()}
            found = {p: self.new(owns[p], query) for p, query in heads.items() if query}
            for predicate, own in owns.items():
                own.advance(self.frames, found.get(predicate))
            self.tell(hypernode, number, {p: rows for p, (_, rows) in found.items()}, started)
        for own in owns.values():
            self.parts[own.predicate] = own.known

    def new(self, own: _Own, heads: exp.Query) -> tuple[DataFrame, int]:
        """Compute the heads that are not known yet, and their number.

        If the heads are few, they are copied to every executor, to find which of them are among the
        known facts. Spark cannot know that they are few before they are computed, and would move
        all known facts instead. (For the last iterations of a closure of 2 million pairs, this
        halves the time.)
        """
        known = own.relation(Version.ALL)
        if not known.parts:
            return self.frames.counted(heads)
        if not own.ends:
            return self.frames.counted(_without(heads, known, source(known, "x")))
        facts, rows = self.frames.counted(heads)
        if not rows:
            return facts, rows
        few = self.frames.add(facts, rows)
        there = Relation(own.columns, (few,))
        columns = relation_columns(known, "c")
        seen = exp.select(*columns).from_(relation_query(known).subquery("c", copy=False))
        seen = semi_join(seen, columns, source(there, "h"), "h")
        if rows <= _ROWS_TO_COPY:
            seen = seen.hint("BROADCAST(h)", dialect="spark", copy=False)
        query = _without(relation_query(there), known, seen.subquery(copy=False))
        found = self.frames.counted(query)
        self.frames.forget(few)
        return found


def _heads(own: _Own, plans: Sequence[Plan], context: Context) -> exp.Query | None:
    """A query for the facts of a predicate that plans find, each once; None without plans."""
    mine = [plan for plan in plans if plan.rule.head.predicate == own.predicate]
    if not mine:
        return None
    return distinct(union_all([compile_rule(p, own.columns, context).query for p in mine]))


def _without(facts: exp.Query, known: Relation, others: exp.Expr) -> exp.Select:
    """The facts that are not among others. Columns are named as in `known`."""
    columns = relation_columns(known, "c")
    rows = exp.select(*columns).from_(facts.subquery("c", copy=False))
    return anti_join(rows, columns, others)


_ROWS_TO_COPY = 1_000_000
"""At most this many new facts are copied to every executor, because each must hold them all."""


@dataclass(slots=True)
class _Own:
    """A predicate of a recursive hypernode: its delta, and its older facts in parts.

    Parts of similar size are united. So there are few parts, and each fact is copied a few times,
    not once in every iteration.
    """

    predicate: str
    columns: tuple[Column, ...]
    old: list[Part] = field(default_factory=list)
    delta: Part | None = None

    @property
    def known(self) -> list[Part]:
        return [*self.old, self.delta] if self.delta else self.old

    @property
    def ends(self) -> bool:
        """Whether the delta has under a twentieth of the rows of the older facts."""
        return self.delta is not None and 20 * self.delta.rows < sum(p.rows for p in self.old)

    def relation(self, version: Version) -> Relation:
        if version is Version.DELTA:
            return Relation(self.columns, (self.delta,) if self.delta else ())
        return Relation(self.columns, tuple(self.old if version is Version.OLD else self.known))

    def advance(self, frames: Frames, found: tuple[DataFrame, int] | None) -> None:
        """Move the delta to the older facts, and make the facts just found the new delta."""
        if self.delta:
            self.old.append(self.delta)
            self.delta = None
            while len(self.old) > 1 and 2 * self.old[-1].rows >= self.old[-2].rows:
                self.old.append(frames.united(self.old.pop(), self.old.pop()))
        if found is not None and found[1]:
            self.delta = frames.add(*found)
