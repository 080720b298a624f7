"""A fleet: one rule set over the facts of many devices, each device by itself.

    facts by predicate -> one data frame: device, and a struct per predicate -> in order of devices
    -> in Spark's Python workers, for some thousand rows: what the facts of these devices entail
    -> one data frame of derived facts with the device

Many devices are evaluated together, by rules with one more column (together.py). Where that fails,
and for `try_rules`, they are evaluated one by one: each task has a knowledge base in memory with
the rules and without facts of devices. A preview computes what a device's facts would entail, and
changes nothing. In either way no device sees the facts of another.

    device_facts.py   data frames as they are given -> one data frame, grouped by device
    devices.py        what the workers do with each device
    together.py       and with many of them at once
    answers.py        the columns and rows of answers
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import types as T

from zodiac_sql.errors import DataError, Problem, ProgramError, QueryError
from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.language.functions import Function
from zodiac_sql.language.schema import Predicate, Schema
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.spark.answers import AnswerColumns, struct_for, structs
from zodiac_sql.spark.device_facts import DeviceFrames, device_column, mentioned
from zodiac_sql.spark.devices import (
    DeviceProgram,
    Extensions,
    comparing,
    deriving,
    deriving_one,
    in_groups,
    quarantining,
    reading_rules,
)
from zodiac_sql.spark.planning import PlannedRules, Rules, plan_rules, texts_of
from zodiac_sql.spark.require import explained
from zodiac_sql.spark.together import JoinedProgram
from zodiac_sql.spark.types import as_fact_column
from zodiac_sql.spark.workers import partitions_on

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from zodiac_sql.spark.device_facts import Facts, Groups


def fleet(
    facts: Facts,
    rules: Rules,
    by: str = "turbine",
    *,
    predicate: str | None = None,
    derive: str | None = None,
    functions: Iterable[Function] = (),
    quarantine: str | None = None,
    timeout: float | None = None,
) -> DataFrame:
    """What the same rules derive on each of many devices, from that device's facts alone.

    `facts` are data frames by predicate, or one data frame with the facts of `predicate`. In each,
    the column `by` names the device, and the others are the predicate's columns, in their order. A
    device exists if it has a row in any of them; rows may repeat. `rules` are a text, a file
    (.rules, .dl), or several; facts in them hold on every device. `functions` are Python functions
    that the rules use; they are sent to the workers.

    With `derive`, the name of a predicate that rules derive, the answer has the column `by` and
    that predicate's columns. Without it, all derived predicates are in one data frame: `by`,
    `predicate` (its name, IRIs in full), and for each predicate a struct of its columns, which has
    the predicate's SQL name and is NULL in the rows of others:

        found.where("predicate = 'anomaly'").select("turbine", "anomaly.*")

    Symbols are strings, numbers bigint or double, moments timestamp_ntz, and `by` has the type that
    it would have as a fact's column. A predicate without columns has one, `holds`, which is true.
    The facts are the whole extension, including explicit facts.

    An error on a device fails the query that uses the answer, with a message that names the device:
    an empty cell, a number beyond 64 bits, a violated constraint, a function that fails, or more
    than `timeout` seconds. With `quarantine`, the name of one more text column, such a device has
    one row, with the reason in that column, and the others have their facts:

        found.where("reason IS NULL"), found.where("reason IS NOT NULL").select("turbine", "reason")

    Nothing runs before the answer is used. Raises ProgramError with all problems of the rules;
    DataError for columns that are missing or cannot be columns of facts, or if two columns of the
    answer would have the same name; QueryError if no rule derives `derive`.
    """
    given = DeviceFrames.of(facts, by, predicate)
    called = tuple(functions)
    planned = plan_rules(rules, given.columns, called)
    inputs = mentioned(given.inputs(planned), planned.graph)
    program = DeviceProgram(_texts(rules), inputs, called)
    answer, work = _derivation(given, planned, program, derive, quarantine, timeout)
    return given.in_groups(inputs, answer, work, empty_fails=quarantine is None)


def _derivation(
    given: DeviceFrames,
    planned: PlannedRules,
    program: DeviceProgram,
    derive: str | None,
    quarantine: str | None,
    timeout: float | None,
) -> tuple[AnswerColumns, Groups]:
    """The columns of a fleet's answer, and what finds the rows of a device."""
    names = planned.derived if derive is None else (_derived(planned, derive),)
    shown = [planned.schema[name] for name in names]
    extensions = Extensions(program, given.device.name, names, timeout)
    reason = [] if quarantine is None else [T.StructField(quarantine, T.StringType())]
    fields = structs(["predicate"], shown) if derive is None else struct_for(shown[0]).fields
    answer = AnswerColumns.of(given.spark, given.device, [*fields, *reason])
    if derive is None:
        work = deriving(extensions, shown, answer)
    else:
        work = deriving_one(extensions, answer)
    if quarantine is not None:
        work = quarantining(work, answer)
    together = JoinedProgram.of(planned, program.inputs, program.functions, names, timeout)
    several = shown if derive is None else None
    return answer, in_groups(together, work, answer, given.device.name, several)


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
    """What a change of rules would do on each device: which derived facts it gains and loses.

    `facts`, `rules`, `by`, `predicate` and `functions` are as for `fleet`, with the rules as they
    are now. `add` are texts or files of rules; `drop` are names of rules, texts or files. Rules are
    dropped before others are added, so that a new rule can take the name of a dropped one. Facts in
    the texts of dropped rules stay.

    The answer has the columns `by`, `change` ("gained" or "lost"), `predicate`, and a struct for
    each predicate that is derived before or after the change, as in the answer of `fleet`.

    Raises what `fleet` raises; QueryError for a rule to drop that is not there; ProgramError if a
    predicate would have columns of other types after the change.
    """
    given = DeviceFrames.of(facts, by, predicate)
    called = tuple(functions)
    planned = plan_rules(rules, given.columns, called)
    before = DeviceProgram(_texts(rules), given.inputs(planned), called)
    after = replace(before, added=_texts(add or ()), dropped=_texts(drop))
    schema, graph = after.rehearsed()
    shown = _before_and_after(planned, schema, graph)
    inputs = mentioned(before.inputs, planned.graph, graph)
    names = tuple(p.name for p in shown)
    was, will_be = (Extensions(replace(p, inputs=inputs), by, names) for p in (before, after))
    answer = AnswerColumns.of(given.spark, given.device, structs(["change", "predicate"], shown))
    return given.by_device(inputs, answer, comparing(was, will_be, shown, answer))


def collect_rules(
    files: Mapping[str, str | Path] | DataFrame, spark: SparkSession, by: str = "turbine"
) -> DataFrame:
    """The rules in the files of many devices.

    `files` are paths of DuckDB files by device, or a data frame with the columns `by` and `path`.
    Spark's workers open them, for reading only, so the paths must be valid on the workers. The
    answer has the columns `by`, `name`, `rule` and `added` (UTC, timestamp_ntz). `rule` is the text
    of the rule after the prefixes that it uses, so it can be added to any other knowledge base.

    Nothing runs before the answer is used; a file that cannot be opened fails the query that uses
    it, with a message that names device and path. Raises DataError for columns that are missing.
    """
    frame = _paths(files, spark, by)
    device = device_column("files", frame, by)
    if "path" not in frame.columns:
        raise DataError(f"files have no column path: their columns are {', '.join(frame.columns)}")
    fields = [T.StructField(name, T.StringType()) for name in ("name", "rule")]
    answer = AnswerColumns.of(
        spark, device, [*fields, T.StructField("added", T.TimestampNTZType())]
    )
    with explained():
        columns = (as_fact_column("files", frame.schema[name]).alias(name) for name in (by, "path"))
        pairs = frame.select(*columns).repartition(partitions_on(spark))
        return pairs.mapInArrow(reading_rules(by, answer), answer.schema)


# --- rules ----------------------------------------------------------------------------------------


def _texts(rules: Rules) -> tuple[str, ...]:
    """Rules as texts, because workers cannot read the files of the driver."""
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
            told = [", ".join(f"{c.name}: {c.meant}" for c in p.columns) for p in (one, other)]
            message = f"{name} has ({told[0]}) before the change and ({told[1]}) after it"
            problems.append(Problem(message, None, "Give what comes another name."))
            continue
        columns = (Column(c.name, t) for c, t in zip(other.columns, types, strict=True))
        shown.append(replace(other, columns=tuple(columns)))
    if problems:
        raise ProgramError(problems)
    return tuple(shown)


def _agreed(one: Predicate, other: Predicate) -> list[Type | None] | None:
    """The types of columns that fit both predicates; None if there are none. Open columns fit any
    type.
    """
    pairs = [(a.meant, b.meant) for a, b in zip(one.columns, other.columns, strict=False)]
    if one.arity != other.arity or any(a and b and a != b for a, b in pairs):
        return None
    return [b or a for a, b in pairs]


# --- files ----------------------------------------------------------------------------------------


def _paths(files: Mapping[str, str | Path] | DataFrame, spark: SparkSession, by: str) -> DataFrame:
    if not isinstance(files, Mapping):
        return files
    with explained():
        paths = [str(path) for path in files.values()]
        return spark.createDataFrame(pa.table([list(files), paths], names=[by, "path"]))
