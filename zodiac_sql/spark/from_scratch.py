"""Evaluates a hypernode on Spark from scratch: which of three ways, by its rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.syntax import Column
from zodiac_sql.spark.apart import can_be_apart, derived_apart, seeds_of
from zodiac_sql.spark.frames import Frames
from zodiac_sql.spark.improve import Improvings, beginning, improve
from zodiac_sql.spark.pivots import Pivot, pivot_of
from zodiac_sql.spark.semi_naive import Own, grow, within
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import whole

Columns = Mapping[str, tuple[Column, ...]]


def from_scratch(
    frames: Frames, hypernode: Hypernode, columns: Columns, reads: Context
) -> tuple[Mapping[str, Own] | Improvings, Iterator[dict[str, int]]]:
    """What a hypernode derives, known when all rounds are done: yields what each has found."""
    if hypernode.bests:
        better = beginning(hypernode, columns)
        return better, improve(frames, hypernode, better, reads)
    owns = {p: Own(columns[p]) for p in hypernode.derives}
    pivot = pivot_of(hypernode, columns)
    if pivot is not None and can_be_apart(frames, pivot, reads):
        return owns, _apart(frames, pivot, owns, columns, reads)
    plans = [whole(rule) for rule in hypernode.rules]
    return owns, grow(frames, hypernode.rules, owns, plans, within(reads, owns))


def _apart(
    frames: Frames, pivot: Pivot, owns: Mapping[str, Own], columns: Columns, reads: Context
) -> Iterator[dict[str, int]]:
    """The same in one round, in which the workers do theirs."""
    seeds = seeds_of(pivot, columns, reads)
    found = derived_apart(frames, pivot, seeds, columns, reads) if seeds else None
    owns[pivot.predicate].advance(frames, found)
    yield {pivot.predicate: found.rows if found else 0}
