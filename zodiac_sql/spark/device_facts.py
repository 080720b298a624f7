"""The facts of many devices: data frames by predicate -> one data frame, grouped by device."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as F

from zodiac_sql.errors import DataError
from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.language.syntax import Column
from zodiac_sql.spark.answers import AnswerColumns
from zodiac_sql.spark.planning import PlannedRules
from zodiac_sql.spark.require import explained
from zodiac_sql.spark.types import as_fact_column, columns_of, empty_cell, quoted, struct_of
from zodiac_sql.spark.workers import partitions_on
from zodiac_sql.sql.relations import HOLDS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    Facts = DataFrame | Mapping[str, DataFrame]
    """Data frames by predicate, or one of them."""
    DeviceWork = Callable[[tuple[pa.Scalar, ...], pa.Table], pa.Table]
    """What a worker does with one device and all its facts."""
    Groups = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
    """What a worker does with the facts of many devices."""


@dataclass(frozen=True, slots=True)
class Input:
    """A predicate of which devices have facts, with its name as given and its full name."""

    given: str
    predicate: str
    columns: tuple[Column, ...]

    @property
    def exactly(self) -> str:
        """The predicate spelled so that it cannot be taken for another one's SQL name."""
        return f"<{self.predicate}>"


@dataclass(frozen=True, slots=True)
class DeviceFrames:
    """Data frames by predicate, with the column `device`; `columns` are the others."""

    device: Column
    frames: Mapping[str, DataFrame]
    columns: Mapping[str, tuple[Column, ...]]

    @staticmethod
    def of(facts: Facts, by: str, predicate: str | None) -> DeviceFrames:
        """The facts given to `fleet`. Raises DataError."""
        frames = _frames(facts, predicate)
        devices = {name: device_column(name, df, by) for name, df in frames.items()}
        (first, device), *others = devices.items()
        for name, other in others:
            if other != device:
                raise DataError(
                    f"{by} is of the type {device.type} in {first} and {other.type} in {name}: the "
                    "same device must have the same value everywhere. Convert one."
                )
        columns = {
            name: tuple(c for c in columns_of(name, df) if c.name != by)
            for name, df in frames.items()
        }
        return DeviceFrames(device, frames, columns)

    @property
    def spark(self) -> SparkSession:
        """The session of the data frames."""
        return next(iter(self.frames.values())).sparkSession

    def inputs(self, planned: PlannedRules) -> tuple[Input, ...]:
        """The predicates of which devices have facts, as rules over these data frames know them."""
        return tuple(Input(n, planned.names[n], columns) for n, columns in self.columns.items())

    def by_device(
        self, inputs: Sequence[Input], answer: AnswerColumns, work: DeviceWork
    ) -> DataFrame:
        """A data frame of the results of `work` on each device's facts. Nothing runs yet."""
        with explained():
            spread = self._spread(inputs, empty_fails=True)
            return spread.groupBy(quoted(self.device.name)).applyInArrow(work, answer.schema)

    def in_groups(
        self, inputs: Sequence[Input], answer: AnswerColumns, work: Groups, empty_fails: bool
    ) -> DataFrame:
        """A data frame of the results of `work` on the rows of many devices. Nothing runs yet.

        The rows of a device come one after the other. `empty_fails` tells whether an empty cell
        fails the query; else `work` gets it.
        """
        with explained():
            spread = self._spread(inputs, empty_fails)
            ordered = spread.sortWithinPartitions(quoted(self.device.name))
            return ordered.mapInArrow(work, answer.schema)

    def _spread(self, inputs: Sequence[Input], empty_fails: bool) -> DataFrame:
        frames = [self._as_structs(name, inputs, empty_fails) for name in self.frames]
        facts = reduce(lambda some, more: some.unionAll(more), frames)
        # Give the number of partitions, or Spark would put few facts in one, on one core.
        return facts.repartition(partitions_on(self.spark), quoted(self.device.name))

    def _as_structs(self, name: str, inputs: Sequence[Input], empty_fails: bool) -> DataFrame:
        """One predicate's facts in the columns of all: the device, and a struct for each input.

        For a predicate that no rule mentions, only the devices are kept.
        """
        df = self.frames[name]
        values = [
            as_fact_column(name, f, empty_fails, self.device.name).alias(f.name)
            for f in df.schema
            if f.name != self.device.name
        ]
        structs = [
            F.struct(*values or [F.lit(True).alias(HOLDS.name)])
            if one.given == name
            else F.lit(None).cast(struct_of(one.columns or (HOLDS,)))
            for one in inputs
        ]
        device = as_fact_column(name, df.schema[self.device.name]).alias(self.device.name)
        named = [struct.alias(place_of(number)) for number, struct in enumerate(structs)]
        selected = df.select(device, *named)
        return selected if name in {one.given for one in inputs} else selected.distinct()


def place_of(number: int) -> str:
    """The column of an input's facts, next to the device column, which never has such a name."""
    return f"zodiac$facts_{number}"


def rows_of(one: Input, given: pa.ChunkedArray) -> pa.Table:
    """Facts of a predicate from its structs. Raises DataError for an empty cell."""
    rows = pa.Table.from_struct_array(given)
    for column in one.columns:
        if rows[column.name].null_count:
            raise DataError(empty_cell(one.given, column.name))
    return rows


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


def device_column(predicate: str, df: DataFrame, by: str) -> Column:
    """The column that tells the device. Raises DataError if there is none."""
    found = [column for column in columns_of(predicate, df) if column.name == by]
    if not found:
        raise DataError(
            f"{predicate} has no column {by}, which tells the device: its columns are "
            f"{', '.join(df.columns)}. Give the name with by=..., or rename a column."
        )
    return found[0]


def mentioned(inputs: Iterable[Input], *graphs: Hypergraph) -> tuple[Input, ...]:
    """The inputs that rules mention. Facts of other predicates need not be moved."""
    names = {p for g in graphs for h in g.hypernodes for p in h.reads.union(h.derives)}
    return tuple(one for one in inputs if one.predicate in names)
