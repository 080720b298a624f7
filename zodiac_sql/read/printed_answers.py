"""Answers and entries of the feed as objects and CSV, for the command line and for a server."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import IO, Any

from zodiac_sql.facts.printed_values import as_text
from zodiac_sql.names import CHANGE_TYPE, COMMIT, TIME
from zodiac_sql.read.changes import Changes
from zodiac_sql.read.query import Answer


def rows(answer: Answer) -> Iterator[Sequence[Any]]:
    """The rows one by one, so that never all of them are Python objects."""
    for batch in answer.arrow().to_batches(max_chunksize=10_000):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def objects(answer: Answer) -> Iterator[dict[str, Any]]:
    """An object for each row. SQL may give two columns the same name: the second gets a number."""
    names: list[str] = []
    for place, name in enumerate(answer.column_names):
        number = answer.column_names[:place].count(name)
        names.append(f"{name}_{number}" if number else name)
    for row in rows(answer):
        yield dict(zip(names, row, strict=True))


def write_csv(answer: Answer, file: IO[str]) -> None:
    """Write the names of the columns, and the rows."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(answer.column_names)
    writer.writerows([as_text(value) for value in row] for row in rows(answer))


def entries(found: Changes) -> Iterator[dict[str, Any]]:
    """An object for each entry of the feed, in the order of changes, what has left first."""
    facts = chain.from_iterable(((name, row) for row in batch.to_pylist()) for name, batch in found)
    for name, row in sorted(facts, key=lambda one: (one[1][COMMIT], one[1][CHANGE_TYPE])):
        ours = {key: row.pop(key) for key in (COMMIT, TIME, CHANGE_TYPE)}
        yield {**ours, "predicate": name, "fact": row}
