"""What Spark's workers do for each device: derive, compare, or read the rules of a file.

Programs and work functions are sent to the workers. Knowledge bases are opened there.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from zodiac_sql.errors import (
    ConstraintError,
    MissingFunctionWarning,
    OtherMeaningWarning,
    SparkError,
    ZodiacError,
)
from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.knowledge_base import KnowledgeBase
from zodiac_sql.language.functions import Function
from zodiac_sql.language.schema import Predicate, Schema
from zodiac_sql.language.syntax import Type
from zodiac_sql.opening import connect
from zodiac_sql.spark.answers import AnswerColumns, failed, flat, joined, nested
from zodiac_sql.spark.device_facts import Input, place_of, rows_of
from zodiac_sql.spark.together import JoinedProgram, groups, runs
from zodiac_sql.spark.types import ARROW_TYPES

if TYPE_CHECKING:
    from zodiac_sql.change.update import Update
    from zodiac_sql.spark.device_facts import DeviceWork

    Batches = Iterator[pa.RecordBatch]

_Facts = Mapping[str, pa.Table]
"""Facts by predicate; predicates without facts are left out."""


@dataclass(frozen=True, slots=True)
class DeviceProgram:
    """Rules without any device's facts, and how the rules are to change."""

    texts: tuple[str, ...]
    inputs: tuple[Input, ...]
    functions: tuple[Function, ...]
    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()

    def open(self) -> KnowledgeBase:
        """Open a knowledge base with these rules. Raises ProgramError, or QueryError if a rule to
        drop is not there.
        """
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
        """Add rules, and settle the types of inputs, so that facts need no new planning."""
        for text in texts:
            update.add_rules(text)
        for one in self.inputs:
            if one.columns:
                fields = [(c.name, ARROW_TYPES[c.type or Type.SYMBOL]) for c in one.columns]
                update.insert(one.exactly, pa.schema(fields).empty_table())

    def rehearsed(self) -> tuple[Schema, Hypergraph]:
        """The schema and HRDG after the change of rules. Raises as `open` does."""
        with self.open() as kb, kb.preview() as preview:
            pass
        return kb._session.state.schema, preview.change.after


_DEVICES_AT_MOST = 500
"""After this many devices a new knowledge base is opened, because each preview leaves some 25 kB
behind in the old one."""


@dataclass(slots=True)
class Extensions:
    """Computes the extensions of some predicates for one device after another.

    It is sent to the workers without a knowledge base, and opens one for each task. `_there` has
    the extensions without any device's facts: they come from facts in the rules, and from rules
    without atoms.
    """

    program: DeviceProgram
    by: str
    predicates: tuple[str, ...]
    timeout: float | None = None
    _kb: KnowledgeBase | None = None
    _there: _Facts = field(default_factory=dict)
    _devices: int = 0

    def on(self, device: pa.Scalar, facts: pa.Table) -> _Facts:
        """The extensions on a device. Raises a SparkError that names the device."""
        try:
            return self._of(facts)
        except ZodiacError as error:
            self._kb = None  # nobody knows what the device has left behind
            raise SparkError(f"{self.by} {device.as_py()}: {error}") from error

    def _of(self, facts: pa.Table) -> _Facts:
        with self._opened().preview(timeout=self.timeout) as preview:
            for number, one in enumerate(self.program.inputs):
                given = facts.column(place_of(number)).drop_null()
                if len(given):
                    preview.insert(one.exactly, rows_of(one, given) if one.columns else [()])
        change = preview.change
        if change.violations:
            raise ConstraintError(change.violations, may_pass=False)
        found = dict(self._there)
        for name in found.keys() & change.deleted.keys():
            found[name] = _without(found[name], change.deleted_facts(name))
        for name in set(self.predicates) & change.inserted.keys():
            some = change.inserted_facts(name)
            found[name] = pa.concat_tables([found[name], some]) if name in found else some
        return {name: rows for name, rows in found.items() if rows.num_rows}

    def _opened(self) -> KnowledgeBase:
        if self._kb is None or self._devices == _DEVICES_AT_MOST:
            self._kb = self.program.open()
            known = set(self._kb.predicates()["predicate"].to_pylist())
            tables = {p: self._kb.table(p).arrow() for p in self.predicates if p in known}
            self._there = {name: rows for name, rows in tables.items() if rows.num_rows}
            self._devices = 0
        self._devices += 1
        return self._kb


def quarantining(work: DeviceWork, answer: AnswerColumns) -> DeviceWork:
    """The same work, with a row for a device on which it fails: the reason in the last column."""

    def careful(key: tuple[pa.Scalar, ...], facts: pa.Table) -> pa.Table:
        try:
            return work(key, facts)
        except SparkError as error:
            return failed(answer.arrow, key[0], str(error.__cause__ or error))

    return careful


def deriving(
    extensions: Extensions, shown: Sequence[Predicate], answer: AnswerColumns
) -> DeviceWork:
    """Work that returns the derived facts as rows, each predicate's in its own struct."""

    def work(key: tuple[pa.Scalar, ...], facts: pa.Table) -> pa.Table:
        found = extensions.on(key[0], facts)
        return joined(
            answer.arrow,
            [
                nested(answer.arrow, key[0], [p.name], p.sql_name, found[p.name])
                for p in shown
                if p.name in found
            ],
        )

    return work


def deriving_one(extensions: Extensions, answer: AnswerColumns) -> DeviceWork:
    """Work that returns the facts of the one predicate that is wanted."""

    def work(key: tuple[pa.Scalar, ...], facts: pa.Table) -> pa.Table:
        found = extensions.on(key[0], facts)
        return joined(answer.arrow, [flat(answer.arrow, key[0], t) for t in found.values()])

    return work


_ONE_BY_ONE = 8
"""So many devices take no longer one by one than together."""


def in_groups(
    together: JoinedProgram,
    alone: DeviceWork,
    answer: AnswerColumns,
    by: str,
    shown: Sequence[Predicate] | None,
) -> Callable[[Batches], Batches]:
    """The work on many devices at once. Where some of them fail, it is done for each half by
    itself, and so on, and at last one by one.

    `shown` are the predicates that have structs of their own; without them, there is one predicate.
    """

    def work(batches: Batches) -> Batches:
        for devices, facts in groups(batches, by):
            yield from on(devices, facts)

    def on(devices: pa.ChunkedArray, facts: pa.Table) -> Batches:
        try:
            found = together.on(devices, facts)
        except ZodiacError:
            yield from in_parts(devices, facts)
            return
        for name, rows in found.items():
            who, values = rows.column(0), rows.remove_column(0)
            if shown is None:
                yield from flat(answer.arrow, who, values).to_batches()
            else:
                place = next(p.sql_name for p in shown if p.name == name)
                yield from nested(answer.arrow, who, [name], place, values).to_batches()

    def in_parts(devices: pa.ChunkedArray, facts: pa.Table) -> Batches:
        each = runs(devices)
        if len(each) <= _ONE_BY_ONE:
            for run in each:
                some = facts.slice(run.start, len(run))
                yield from alone((devices[run.start],), some).to_batches()
            return
        middle = each[len(each) // 2].start
        yield from on(devices.slice(0, middle), facts.slice(0, middle))
        yield from on(devices.slice(middle), facts.slice(middle))

    return work


def comparing(
    was: Extensions, will_be: Extensions, shown: Sequence[Predicate], answer: AnswerColumns
) -> DeviceWork:
    """Work that returns the facts that only one of two programs derives."""

    def work(key: tuple[pa.Scalar, ...], facts: pa.Table) -> pa.Table:
        old, new = (extensions.on(key[0], facts) for extensions in (was, will_be))
        changes = (("gained", new, old), ("lost", old, new))
        return joined(
            answer.arrow,
            [
                nested(answer.arrow, key[0], [change, p.name], p.sql_name, rows)
                for p in shown
                for change, some, others in changes
                if p.name in some and (rows := _without(some[p.name], others.get(p.name))).num_rows
            ],
        )

    return work


def _without(rows: pa.Table, others: pa.Table | None) -> pa.Table:
    """The rows that are not among others."""
    if others is None:
        return rows
    return rows.join(others, rows.column_names, others.column_names, "left anti", use_threads=False)


# --- rules of files -------------------------------------------------------------------------------


def reading_rules(by: str, answer: AnswerColumns) -> Callable[[Batches], Batches]:
    """A function that reads rules from files. Its batches have a device and a path in each row."""

    def read(batches: Batches) -> Batches:
        for batch in batches:
            for key, path in zip(*batch.columns, strict=True):
                yield from _rules_in(by, key, path.as_py(), answer.arrow).to_batches()

    return read


def _rules_in(by: str, device: pa.Scalar, path: str, schema: pa.Schema) -> pa.Table:
    """The rules in a device's file, each with the prefixes that it needs. Raises SparkError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MissingFunctionWarning)
            warnings.simplefilter("ignore", OtherMeaningWarning)
            with connect(path, read_only=True, threads=1) as kb:
                rules = kb._session.state.written
    except ZodiacError as error:
        raise SparkError(f"{by} {device.as_py()}: {path} cannot be read: {error}") from error
    names, texts, added = (
        pa.array(values, pa.string())
        for values in (
            [rule.name for rule in rules],
            [rule.standalone for rule in rules],
            [rule.added_at for rule in rules],
        )
    )
    moments = added.cast(pa.timestamp("us", tz="UTC"))
    return flat(schema, device, pa.table({"name": names, "rule": texts, "added": moments}))
