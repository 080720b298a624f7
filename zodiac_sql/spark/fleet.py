"""A fleet: one rule set over the facts of many devices, each device by itself.

    facts by predicate -> one data frame: the device, and a struct per predicate -> grouped by device
    -> in Spark's Python workers, group after group: a preview of what the device's facts entail
    -> one data frame of derived facts with the device

A task has a knowledge base in memory with the rules, and without facts of devices. A preview works
out what facts would do, and leaves nothing behind: so rules are planned once for many devices, and no
device sees the facts of another. A worker holds one device's facts at a time.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql import types as T

from zodiac_sql.errors import (
    DataError,
    MissingFunctionWarning,
    Problem,
    ProgramError,
    QueryError,
    SparkError,
    ZodiacError,
)
from zodiac_sql.functions import Function
from zodiac_sql.hypernodes import Hypergraph
from zodiac_sql.knowledge_base import KnowledgeBase, connect
from zodiac_sql.relations import HOLDS
from zodiac_sql.rules import Column, Type
from zodiac_sql.schema import Predicate, Schema
from zodiac_sql.spark.planning import PlannedRules, Rules, plan_rules, texts_of
from zodiac_sql.spark.require import explained
from zodiac_sql.spark.types import (
    ARROW_TYPES,
    as_fact_column,
    columns_of,
    quoted,
    struct_of,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from zodiac_sql.update import Update

    Facts = DataFrame | Mapping[str, DataFrame]
    Work = Callable[[tuple[pa.Scalar, ...], pa.Table], pa.Table]
    """What a worker does with one device and all its facts."""


def fleet(
    facts: Facts,
    rules: Rules,
    by: str = "turbine",
    *,
    predicate: str | None = None,
    derive: str | None = None,
    functions: Iterable[Function] = (),
) -> DataFrame:
    """What the same rules derive on each of many devices, from that device's facts alone.

    `facts` are data frames by predicate, or one data frame with the facts of `predicate`. In each,
    the column `by` tells the device, and the others are the predicate's columns, in their order. A
    device is there if it has a row in any of them; rows may repeat. `rules` are a text, a file
    (.rules, .dl), or several; facts in them hold on every device. `functions` are Python functions
    that the rules use; they travel to the workers.

    With `derive`, the name of a predicate that rules derive, the answer has the column `by` and that
    predicate's columns. Without it, all derived predicates stand in one data frame: `by`,
    `predicate` (its name, IRIs in full), and for each predicate a struct of its columns, which has
    the predicate's SQL name and is NULL in the rows of others:

        found.where("predicate = 'anomaly'").select("turbine", "anomaly.*")

    Symbols are strings, numbers bigint or double, moments timestamp_ntz, and `by` has the type that
    it would have as a fact's column. A predicate without columns has one, `holds`, which is true.
    The facts are those of the extension: if some are explicit, these are among them.

    Nothing runs before the answer is used. Raises ProgramError with all problems of the rules;
    DataError for columns that are missing or cannot be facts', or if two columns of the answer would
    have the same name; QueryError if no rule derives `derive`. What goes wrong on a device fails the
    query that uses the answer, with a message that names the device.
    """
    given = _given(facts, by, predicate)
    called = tuple(functions)
    planned = plan_rules(rules, given.columns, called)
    names = planned.derived if derive is None else (_derived(planned, derive),)
    shown = [planned.schema[name] for name in names]
    inputs = _mentioned(given.inputs(planned), planned.graph)
    extensions = _Extensions(_Program(_texts(rules), inputs, called), by, names)
    if derive is None:
        answer = _Answer.of(given.spark, given.device, _structs(["predicate"], shown))
        return given.by_device(inputs, answer, _deriving(extensions, shown, answer))
    answer = _Answer.of(given.spark, given.device, struct_of(_columns(shown[0])).fields)
    return given.by_device(inputs, answer, _deriving_one(extensions, answer))


def try_rules(
    facts: Facts,
    rules: Rules,
    by: str = "turbine",
    *,
    predicate: str | None = None,
    add: Rules | None = None,
    drop: Rules = (),
    functions: Iterable[Function] = (),
) -> DataFrame:
    """What a change of rules would do on each device: the derived facts gained, and those lost.

    `facts`, `rules`, `by`, `predicate` and `functions` are as for `fleet`, with the rules as they
    are now. `add` are texts or files of rules; `drop` are names of rules, texts or files. Rules go
    before others come, so that a new one may have the name of one that goes. Facts in the texts of
    rules that go stay.

    The answer has the columns `by`, `change` ("gained" or "lost"), `predicate`, and a struct for
    each predicate that is derived before or after the change, as in the answer of `fleet`.

    Raises what `fleet` raises; QueryError for a rule to drop that is not there; ProgramError if a
    predicate would have columns of other types after the change.
    """
    given = _given(facts, by, predicate)
    called = tuple(functions)
    planned = plan_rules(rules, given.columns, called)
    before = _Program(_texts(rules), given.inputs(planned), called)
    after = replace(before, added=_texts(add or ()), dropped=_texts(drop))
    schema, graph = after.rehearsed()
    shown = _before_and_after(planned, schema, graph)
    inputs = _mentioned(before.inputs, planned.graph, graph)
    names = tuple(p.name for p in shown)
    was, will_be = (_Extensions(replace(p, inputs=inputs), by, names) for p in (before, after))
    answer = _Answer.of(given.spark, given.device, _structs(["change", "predicate"], shown))
    return given.by_device(inputs, answer, _comparing(was, will_be, shown, answer))


def collect_rules(
    files: Mapping[str, str | Path] | DataFrame, spark: SparkSession, by: str = "turbine"
) -> DataFrame:
    """The rules in the files of many devices.

    `files` are paths of DuckDB files by device, or a data frame with the columns `by` and `path`.
    Spark's workers open them, for reading only: the paths must be good there. The answer has the
    columns `by`, `name`, `rule` (its text) and `added` (UTC, timestamp_ntz).

    Nothing runs before the answer is used; a file that cannot be opened fails the query that uses
    it, with a message that names device and path. Raises DataError for columns that are missing.
    """
    frame = _paths(files, spark, by)
    device = _device("files", frame, by)
    if "path" not in frame.columns:
        raise DataError(f"files have no column path: their columns are {', '.join(frame.columns)}")
    fields = [T.StructField(name, T.StringType()) for name in ("name", "rule")]
    answer = _Answer.of(spark, device, [*fields, T.StructField("added", T.TimestampNTZType())])

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for key, path in zip(*batch.columns, strict=True):
                yield from _rules_in(by, key, path.as_py(), answer.arrow).to_batches()

    with explained():
        columns = (as_fact_column("files", frame.schema[name]).alias(name) for name in (by, "path"))
        pairs = frame.select(*columns).repartition(_partitions(spark))
        return pairs.mapInArrow(read, answer.schema)


# --- facts, as they are given ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Input:
    """A predicate that devices bring facts of: as it was given, and in full."""

    given: str
    predicate: str
    columns: tuple[Column, ...]

    @property
    def exactly(self) -> str:
        """The predicate as a knowledge base takes for no SQL name of another one."""
        return f"<{self.predicate}>"


@dataclass(frozen=True, slots=True)
class _Given:
    """Data frames by predicate, with the column `device`; `columns` are the others."""

    device: Column
    frames: Mapping[str, DataFrame]
    columns: Mapping[str, tuple[Column, ...]]

    @property
    def spark(self) -> SparkSession:
        return next(iter(self.frames.values())).sparkSession

    def inputs(self, planned: PlannedRules) -> tuple[_Input, ...]:
        return tuple(_Input(n, planned.names[n], columns) for n, columns in self.columns.items())

    def by_device(self, inputs: Sequence[_Input], answer: _Answer, work: Work) -> DataFrame:
        """What some work on each device's facts yields. Nothing runs yet."""
        with explained():
            frames = [self._as_structs(name, inputs) for name in self.frames]
            facts = reduce(lambda some, more: some.unionAll(more), frames)
            # By a number: else Spark would bring few facts together in one partition, on one core.
            device = quoted(self.device.name)
            spread = facts.repartition(_partitions(self.spark), device)
            return spread.groupBy(device).applyInArrow(work, answer.schema)

    def _as_structs(self, name: str, inputs: Sequence[_Input]) -> DataFrame:
        """One predicate's facts in the columns of all: the device, and a struct for each input.

        Of a predicate that no rule mentions, only the devices count.
        """
        df = self.frames[name]
        values = [
            as_fact_column(name, f).alias(f.name) for f in df.schema if f.name != self.device.name
        ]
        structs = [
            F.struct(*values or [F.lit(True).alias(HOLDS.name)])
            if one.given == name
            else F.lit(None).cast(struct_of(one.columns or (HOLDS,)))
            for one in inputs
        ]
        device = as_fact_column(name, df.schema[self.device.name]).alias(self.device.name)
        named = [struct.alias(_place(number)) for number, struct in enumerate(structs)]
        selected = df.select(device, *named)
        return selected if name in {one.given for one in inputs} else selected.distinct()


def _place(number: int) -> str:
    """The column of an input's facts, next to the device; no device is called like this."""
    return f"zodiac$facts_{number}"


def _given(facts: Facts, by: str, predicate: str | None) -> _Given:
    frames = _frames(facts, predicate)
    devices = {name: _device(name, df, by) for name, df in frames.items()}
    (first, device), *others = devices.items()
    for name, other in others:
        if other != device:
            raise DataError(
                f"{by} is of the type {device.type} in {first} and {other.type} in {name}: the same "
                "device must have the same value everywhere. Convert one."
            )
    columns = {
        name: tuple(c for c in columns_of(name, df) if c.name != by) for name, df in frames.items()
    }
    return _Given(device, frames, columns)


def _frames(facts: Facts, predicate: str | None) -> Mapping[str, DataFrame]:
    if isinstance(facts, Mapping):
        if not facts or predicate is not None:
            raise DataError(
                "facts are data frames by predicate, or one data frame and predicate=..."
            )
        return facts
    if predicate is None:
        raise DataError("predicate=... must say what the rows of the data frame are facts of")
    return {predicate: facts}


def _device(predicate: str, df: DataFrame, by: str) -> Column:
    """The column that tells the device. Raises DataError if there is none."""
    found = [column for column in columns_of(predicate, df) if column.name == by]
    if not found:
        raise DataError(
            f"{predicate} has no column {by}, which tells the device: its columns are "
            f"{', '.join(df.columns)}. Give the name with by=..., or rename a column."
        )
    return found[0]


def _mentioned(inputs: Iterable[_Input], *graphs: Hypergraph) -> tuple[_Input, ...]:
    """The inputs that rules mention: facts of others need not travel."""
    names = {p for g in graphs for h in g.hypernodes for p in h.reads.union(h.derives)}
    return tuple(one for one in inputs if one.predicate in names)


def _partitions(spark: SparkSession) -> int:
    """Two for each core, to even out; on a cluster, whose cores come and go, not below its setting."""
    context = spark.sparkContext
    partitions = 2 * context.defaultParallelism
    if str(context.master).startswith("local"):
        return partitions
    return max(partitions, int(str(spark.conf.get("spark.sql.shuffle.partitions"))))


# --- rules ----------------------------------------------------------------------------------------


def _texts(rules: Rules) -> tuple[str, ...]:
    """Rules as texts, since workers cannot read the files of the driver."""
    return tuple(text for text, _ in texts_of(rules))


def _derived(planned: PlannedRules, derive: str) -> str:
    name = planned.meant(derive)
    if name not in planned.derived:
        raise QueryError(f"no rule derives {derive}. Derived are {', '.join(planned.derived)}.")
    return name


def _before_and_after(
    planned: PlannedRules, schema: Schema, graph: Hypergraph
) -> tuple[Predicate, ...]:
    """The predicates that are derived before or after a change. Raises ProgramError."""
    after = (p for h in graph.hypernodes for p in h.derives)
    shown, problems = [], []
    for name in dict.fromkeys((*planned.derived, *after)):
        old, new = planned.schema.get(name), schema.get(name)
        one, other = old or new, new or old
        assert one is not None and other is not None
        types = _agreed(one, other)
        if types is None:
            told = [", ".join(f"{c.name}: {c.type}" for c in p.columns) for p in (one, other)]
            message = f"{name} has ({told[0]}) before the change and ({told[1]}) after it"
            problems.append(Problem(message, None, "Give what comes another name."))
            continue
        columns = (Column(c.name, t) for c, t in zip(other.columns, types, strict=True))
        shown.append(replace(other, columns=tuple(columns)))
    if problems:
        raise ProgramError(problems)
    return tuple(shown)


def _agreed(one: Predicate, other: Predicate) -> list[Type | None] | None:
    """The types that fit both, an open one being none; None if there are no such types."""
    pairs = [(a.type, b.type) for a, b in zip(one.columns, other.columns, strict=False)]
    if one.arity != other.arity or any(a and b and a != b for a, b in pairs):
        return None
    return [b or a for a, b in pairs]


# --- answers --------------------------------------------------------------------------------------


def _columns(predicate: Predicate) -> tuple[Column, ...]:
    return predicate.columns or (HOLDS,)


def _structs(labels: Sequence[str], shown: Iterable[Predicate]) -> list[T.StructField]:
    """Columns with text, and one for each predicate."""
    return [
        *(T.StructField(label, T.StringType()) for label in labels),
        *(T.StructField(p.sql_name, struct_of(_columns(p))) for p in shown),
    ]


@dataclass(frozen=True, slots=True)
class _Answer:
    """The columns of an answer, as Spark and as Arrow know them."""

    schema: T.StructType
    arrow: pa.Schema

    @staticmethod
    def of(spark: SparkSession, device: Column, fields: Sequence[T.StructField]) -> _Answer:
        """The device and some other columns. Raises DataError if two have the same name."""
        from pyspark.sql.pandas.types import to_arrow_schema

        names = [field.name.lower() for field in fields]
        twice = [
            n for n in (device.name, *names) if (device.name.lower(), *names).count(n.lower()) > 1
        ]
        if twice:
            raise DataError(
                f"the answer would have two columns {twice[0]} (SQL ignores case): rename the "
                "predicate or its column, or the column of the device."
            )
        schema = T.StructType([*struct_of([device]).fields, *fields])
        large = spark.conf.get("spark.sql.execution.arrow.useLargeVarTypes") == "true"
        arrow = to_arrow_schema(schema, timezone="UTC", prefers_large_types=large)
        return _Answer(schema, arrow)


def _joined(schema: pa.Schema, tables: Sequence[pa.Table]) -> pa.Table:
    return pa.concat_tables([schema.empty_table(), *tables])


def _flat(schema: pa.Schema, device: pa.Scalar, rows: pa.Table) -> pa.Table:
    """Facts of a predicate next to the device."""
    columns = [pa.repeat(device, rows.num_rows), *rows.columns]
    return pa.table([c.cast(f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)


def _nested(
    schema: pa.Schema, device: pa.Scalar, labels: Sequence[str], place: str, rows: pa.Table
) -> pa.Table:
    """Facts of a predicate in the column `place`, next to the device and labels."""
    count = rows.num_rows
    start = [pa.repeat(device, count), *(pa.repeat(label, count) for label in labels)]
    columns = [c.cast(schema.field(i).type) for i, c in enumerate(start)]
    for column in list(schema)[len(start) :]:
        if column.name == place:
            parts = [
                c.combine_chunks().cast(f.type)
                for c, f in zip(rows.columns, column.type, strict=True)
            ]
            columns.append(pa.StructArray.from_arrays(parts, fields=list(column.type)))
        else:
            columns.append(pa.nulls(count, column.type))
    return pa.table(columns, schema=schema)


# --- in the workers -------------------------------------------------------------------------------

_Facts = Mapping[str, pa.Table]
"""Facts by predicate; predicates that have none are left out."""


def _deriving(extensions: _Extensions, shown: Sequence[Predicate], answer: _Answer) -> Work:
    """The rows of derived facts, each predicate's in its struct."""

    def work(key: tuple[pa.Scalar, ...], facts: pa.Table) -> pa.Table:
        found = extensions.on(key[0], facts)
        return _joined(
            answer.arrow,
            [
                _nested(answer.arrow, key[0], [p.name], p.sql_name, found[p.name])
                for p in shown
                if p.name in found
            ],
        )

    return work


def _deriving_one(extensions: _Extensions, answer: _Answer) -> Work:
    """The rows of the one predicate that is derived."""

    def work(key: tuple[pa.Scalar, ...], facts: pa.Table) -> pa.Table:
        found = extensions.on(key[0], facts)
        return _joined(answer.arrow, [_flat(answer.arrow, key[0], t) for t in found.values()])

    return work


def _comparing(
    was: _Extensions, will_be: _Extensions, shown: Sequence[Predicate], answer: _Answer
) -> Work:
    """The rows of facts that only one of two programs has."""

    def work(key: tuple[pa.Scalar, ...], facts: pa.Table) -> pa.Table:
        old, new = (extensions.on(key[0], facts) for extensions in (was, will_be))
        changes = (("gained", new, old), ("lost", old, new))
        return _joined(
            answer.arrow,
            [
                _nested(answer.arrow, key[0], [change, p.name], p.sql_name, rows)
                for p in shown
                for change, some, others in changes
                if p.name in some and (rows := _without(some[p.name], others.get(p.name))).num_rows
            ],
        )

    return work


@dataclass(frozen=True, slots=True)
class _Program:
    """Rules before any device's facts, and how they are to change."""

    texts: tuple[str, ...]
    inputs: tuple[_Input, ...]
    functions: tuple[Function, ...]
    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()

    def open(self) -> KnowledgeBase:
        """A knowledge base with these rules. Raises ProgramError, or QueryError for one to drop."""
        kb = connect(threads=1, functions=self.functions)
        try:
            with kb.update() as update:
                self._add(update, self.texts)
            if self.added or self.dropped:
                with kb.update() as update:
                    update.drop_rules(*self.dropped, strict=True)
                    self._add(update, self.added)
        except ZodiacError:
            kb.close()
            raise
        return kb

    def _add(self, update: Update, texts: Iterable[str]) -> None:
        """Add rules, and settle the types of what they read, so that facts find all planned."""
        for text in texts:
            update.add_rules(text)
        for one in self.inputs:
            if one.columns:
                fields = [(c.name, ARROW_TYPES[c.type or Type.SYMBOL]) for c in one.columns]
                update.insert(one.exactly, pa.schema(fields).empty_table())

    def rehearsed(self) -> tuple[Schema, Hypergraph]:
        """What there is when the rules have changed. Raises as `open` does."""
        with self.open() as kb, kb.preview() as preview:
            pass
        return preview.state.schema, preview.change.after


_DEVICES = 500
"""A knowledge base serves so many devices: each preview leaves some 25 kB behind in its process."""


@dataclass(slots=True)
class _Extensions:
    """The extensions of some predicates on one device after the other.

    It travels to the workers without a knowledge base, and opens one for each task. `_there` are the
    extensions without a device's facts: those of facts in the rules, and of rules without atoms.
    """

    program: _Program
    by: str
    predicates: tuple[str, ...]
    _kb: KnowledgeBase | None = None
    _there: _Facts = field(default_factory=dict)
    _devices: int = 0

    def on(self, device: pa.Scalar, facts: pa.Table) -> _Facts:
        """The extensions on a device. Raises SparkError that names it."""
        try:
            return self._of(facts)
        except ZodiacError as error:
            raise SparkError(f"{self.by} {device.as_py()}: {error}") from error

    def _of(self, facts: pa.Table) -> _Facts:
        with self._opened().preview() as preview:
            for number, one in enumerate(self.program.inputs):
                given = facts.column(_place(number)).drop_null()
                if len(given):
                    rows = pa.Table.from_struct_array(given) if one.columns else [()]
                    preview.insert(one.exactly, rows)
        change = preview.change
        found = dict(self._there)
        for name in found.keys() & change.deleted.keys():
            found[name] = _without(found[name], change.deleted_facts(name))
        for name in set(self.predicates) & change.inserted.keys():
            some = change.inserted_facts(name)
            found[name] = pa.concat_tables([found[name], some]) if name in found else some
        return {name: rows for name, rows in found.items() if rows.num_rows}

    def _opened(self) -> KnowledgeBase:
        if self._kb is None or self._devices == _DEVICES:
            self._kb = self.program.open()
            known = set(self._kb.predicates()["predicate"].to_pylist())
            tables = {p: self._kb.table(p).arrow() for p in self.predicates if p in known}
            self._there = {name: rows for name, rows in tables.items() if rows.num_rows}
            self._devices = 0
        self._devices += 1
        return self._kb


def _without(rows: pa.Table, others: pa.Table | None) -> pa.Table:
    """The rows that are not among others."""
    if others is None:
        return rows
    return rows.join(others, rows.column_names, others.column_names, "left anti", use_threads=False)


def _rules_in(by: str, device: pa.Scalar, path: str, schema: pa.Schema) -> pa.Table:
    """The rules in a device's file. Raises SparkError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MissingFunctionWarning)
            with connect(path, read_only=True, threads=1) as kb:
                rules = kb.rules().arrow()
    except ZodiacError as error:
        raise SparkError(f"{by} {device.as_py()}: {path} cannot be read: {error}") from error
    added = rules["added_at"].cast(pa.timestamp("us", tz="UTC"))
    told = {"name": rules["name"], "rule": rules["rule"], "added": added}
    return _flat(schema, device, pa.table(told))


def _paths(files: Mapping[str, str | Path] | DataFrame, spark: SparkSession, by: str) -> DataFrame:
    if not isinstance(files, Mapping):
        return files
    with explained():
        paths = [str(path) for path in files.values()]
        return spark.createDataFrame(pa.table([list(files), paths], names=[by, "path"]))
