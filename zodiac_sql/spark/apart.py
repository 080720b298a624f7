"""Recursion that the executors compute apart from each other, each in an embedded engine.

What the rules derive that begin goes by its pivot (pivots.py) to partitions. There, a worker finds
all that follows from its facts, with a copy of what else the rules read. So a closure takes one
shuffle, and not two or three in each round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pyarrow as pa

from zodiac_sql.knowledge_base import KnowledgeBase
from zodiac_sql.language.syntax import Atom, Column
from zodiac_sql.language.templates import with_atoms
from zodiac_sql.names import given
from zodiac_sql.opening import connect
from zodiac_sql.spark.evaluated_program import copying
from zodiac_sql.spark.frames import ROWS_TO_COPY, Frames, stored_names
from zodiac_sql.spark.here import Here
from zodiac_sql.spark.pivots import Pivot
from zodiac_sql.spark.semi_naive import heads
from zodiac_sql.spark.types import arrow_schema, struct_of
from zodiac_sql.spark.workers import have, memory_of_one, partitions_on
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Version, whole
from zodiac_sql.sql.relations import Part, relation_query

if TYPE_CHECKING:
    from pyspark.core.broadcast import Broadcast
    from sqlglot import exp

    Batches = Iterator[pa.RecordBatch]

Columns = Mapping[str, tuple[Column, ...]]


def can_be_apart(frames: Frames, pivot: Pivot, reads: Context) -> bool:
    """Whether the workers have an embedded engine, and can hold what the rules read besides."""
    rows = sum(reads.relation(name, Version.ALL).rows for name in pivot.reads)
    return rows <= ROWS_TO_COPY and have(frames.spark, __name__)


def derived_apart(
    frames: Frames, pivot: Pivot, seeds: exp.Query, columns: Columns, reads: Context
) -> Part:
    """All that follows from what a query finds, by the rules of a pivot that go on."""
    own = columns[pivot.predicate]
    names = stored_names(len(own))
    keys = [names[place] for place in pivot.places]
    with _copied(frames, pivot, columns, reads) as copies:
        work = deriving(pivot, columns, copies)
        spread = frames.query(seeds).toDF(*names).repartition(partitions_on(frames.spark), *keys)
        return frames.kept(spread.mapInArrow(work, struct_of(own)))


def seeds_of(pivot: Pivot, columns: Columns, reads: Context) -> exp.Query | None:
    """A query for what the rules of a pivot that begin find; None if they find nothing."""
    plans = [whole(rule) for rule in pivot.seeds]
    return heads(pivot.predicate, columns[pivot.predicate], plans, reads)


@contextmanager
def _copied(
    frames: Frames, pivot: Pivot, columns: Columns, reads: Context
) -> Iterator[Broadcast[dict[str, pa.Table]]]:
    """The facts that each worker needs, on all executors, for as long as the block lasts."""
    tables = {}
    for name in sorted(pivot.reads):
        relation, schema = reads.relation(name, Version.ALL), arrow_schema(columns[name])
        if relation.parts:
            facts = frames.query(relation_query(relation)).toArrow()
            tables[_plain(name)] = facts.rename_columns(schema.names).cast(schema)
        else:
            tables[_plain(name)] = schema.empty_table()
    copies = frames.spark.sparkContext.broadcast(tables)
    try:
        yield copies
    finally:
        copies.destroy()


def deriving(
    pivot: Pivot, columns: Columns, copies: Broadcast[dict[str, pa.Table]]
) -> Callable[[Batches], Batches]:
    """What a worker does with the facts of a partition."""
    own = columns[pivot.predicate]
    begin = copying(pivot.predicate, given(pivot.predicate), own)
    rules = (begin, *(replace(r, body=with_atoms(r.body, _renamed)) for r in pivot.steps))
    known = {_plain(name): columns[name] for name in (pivot.predicate, *pivot.reads)}
    schema = arrow_schema(own)

    def work(batches: Batches) -> Batches:
        seeds = [batch.rename_columns(schema.names) for batch in batches]
        if not seeds:
            return
        facts = {**copies.value, begin.name: pa.Table.from_batches(seeds)}
        with TemporaryDirectory() as spilled, _engine(spilled) as kb:
            found = Here(kb, known, 0).derive(rules, facts.__getitem__, timeout=None)
            assert found is not None
            with kb.batches(pivot.predicate) as reader:
                for batch in reader:
                    yield batch.rename_columns(schema.names).cast(schema)

    return work


def _engine(spilled: str) -> KnowledgeBase:
    """The engine of one worker of several on its machine."""
    return connect(threads=1, memory_limit=memory_of_one(), temp_directory=spilled)


def _renamed(atom: Atom) -> Atom:
    return replace(atom, predicate=_plain(atom.predicate))


def _plain(name: str) -> str:
    """The name of a predicate in a worker: facts of a predicate are one of their own there."""
    return name.replace("\0", " ")
