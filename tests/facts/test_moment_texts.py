"""ISO texts in rows become dates and timestamps where a column holds these, and only there."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pytest

import zodiac_sql
from zodiac_sql import DataError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]
Rows = Callable[[Sequence[Any]], object]


def _table(rows: Sequence[Any]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(COLUMNS, row, strict=True)) for row in rows])


COLUMNS = ["x", "at", "on"]
DECLARED = ".decl seen(x: symbol, at: timestamp, on: date)"
WAYS: dict[str, Rows] = {
    "tuples": lambda rows: rows,
    "lists": lambda rows: [[*row] for row in rows],
    "a table": lambda rows: _table(rows),
    "a stream": lambda rows: _table(rows).to_reader(),
    "categories": lambda rows: pd.DataFrame(rows, columns=COLUMNS, dtype="category"),
    "a data frame": lambda rows: pd.DataFrame(rows, columns=COLUMNS),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_texts_of_rows(open_kb: OpenKb, way: str) -> None:
    kb = open_kb()
    kb.add_rules(DECLARED)
    given = [
        ("2026-01-31", "2026-01-31T12:00:00.500000", "2026-01-31"),
        ("b", "2026-01-31 12:00", "2024-02-29"),
        ("c", "2026-01-31T12:00:00.1234560000", "0001-01-01"),
    ]
    kb.insert("seen", WAYS[way](given))
    noon = dt.datetime(2026, 1, 31, 12)
    rows = [
        ("2026-01-31", noon.replace(microsecond=500_000), dt.date(2026, 1, 31)),
        ("b", noon, dt.date(2024, 2, 29)),
        ("c", noon.replace(microsecond=123_456), dt.date(1, 1, 1)),
    ]
    assert sorted(kb.table("seen").fetchall()) == rows
    assert kb.insert("seen", rows).inserted == {}
    assert kb.delete("seen", WAYS[way](given[1:])).deleted == {"seen": 2}
    assert kb.verify()


@pytest.mark.parametrize("way", WAYS)
def test_texts_with_a_zone_are_instants(open_kb: OpenKb, way: str) -> None:
    kb = open_kb()
    kb.add_rules(DECLARED)
    days = "2026-01-31"
    kb.insert(
        "seen", WAYS[way]([("a", f"{days}T12:00:00+01:00", days), ("b", f"{days}T12:00Z", days)])
    )
    assert [at for _, at, _ in sorted(kb.table("seen").fetchall())] == [
        dt.datetime(2026, 1, 31, 11), dt.datetime(2026, 1, 31, 12),
    ]  # fmt: skip
    mixed = [("a", f"{days}T12:00:00+01:00", days), ("b", f"{days}T12:00", days)]
    with pytest.raises(DataError, match="give all of them a time zone, or none"):
        kb.insert("seen", WAYS[way](mixed))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("at", "on", "said"),
    [
        ("2026-01-31T12:00:00.123456789", "2026-01-31", r"finer than microseconds.* \(row 2\)"),
        ("2026-01-31", "2026-01-31", r"column at has the type timestamp, and .* is none \(row 2\)"),
        ("2026-01-31T12:00", "2026-02-30", "column on has the type date, and .* is none"),
        ("2026-01-31T12:00", "2026-01-31T12:00", "Write it like 2026-01-02"),
        ("noon", "2026-01-31", "Write it like 2026-01-02T00:00:00"),
        ("9999-12-31T23:30:00-01:00", "2026-01-31", "column"),
    ],
)
def test_other_texts_are_refused(open_kb: OpenKb, way: str, at: str, on: str, said: str) -> None:
    kb = open_kb()
    kb.add_rules(DECLARED)
    kb.insert("seen", [("a", "2026-01-31T12:00Z", "2026-01-31")])
    first = ("b", "2026-01-31T12:00" + ("Z" if said == "column" else ""), "2026-01-31")
    with pytest.raises(DataError, match=said):
        kb.insert("seen", WAYS[way]([first, ("c", at, on)]))
    assert len(kb.table("seen").fetchall()) == 1


def test_columns_that_nobody_has_declared_keep_texts(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.insert("said", [("a", "2026-01-31T12:00:00")])
    assert kb.table("said").fetchall() == [("a", "2026-01-31T12:00:00")]


def test_rows_follow_what_rules_derive(open_kb: OpenKb) -> None:
    """Here the type of the column is inferred."""
    kb = open_kb()
    kb.add_rules(DECLARED + " last(X, T) :- seen(X, T, _).")
    kb.insert("last", [("z", "2026-01-31T12:00:00")])
    assert kb.table("last").fetchall() == [("z", dt.datetime(2026, 1, 31, 12))]


@pytest.mark.parametrize("coalesce", [1, 10])
def test_queues_of_updates_read_texts(open_kb: OpenKb, coalesce: int) -> None:
    kb = open_kb()
    kb.add_rules(".decl reading(x: symbol, at: timestamp)")
    updates = zodiac_sql.UpdateQueue(size=10)
    updates.put({"insert": {"reading": [("a", "2026-01-31T12:00:00")]}})
    updates.put({"delete": {"reading": [("a", dt.datetime(2026, 1, 31, 12))]}})
    updates.put({"insert": {"reading": [["b", "2026-01-31T12:00:00"]]}})
    updates.put({"insert": {"reading": [("c", "2026-01-31T12:00:00.0000001")]}})
    updates.put({"insert": {"reading": iter([("d", "2026-01-31T12:00:00")])}})
    updates.close()
    changes = [*kb.stream(updates, coalesce=coalesce, skip_bad=True)]
    assert sorted(kb.table("reading").fetchall()) == [
        (name, dt.datetime(2026, 1, 31, 12)) for name in ("b", "d")
    ]
    assert any("finer than microseconds" in note for change in changes for note in change.notes)
    assert len(changes) == (5 if coalesce == 1 else 3)


@pytest.mark.parametrize("zone", ["", "Z", "+01:00", "-0330"])
@pytest.mark.parametrize("form", ["T12:00", " 12:00:30", "T12:00:00.5", "T12:00:00.123456000"])
def test_streams_take_the_texts_that_files_may_have(
    open_kb: OpenKb, tmp_path: Path, form: str, zone: str
) -> None:
    """A line of JSON in a file, one in a stream, and a queue say the same by the same text."""
    at = f"2026-01-31{form}{zone}"
    (tmp_path / "reading.jsonl").write_text(json.dumps({"x": "a", "at": at}) + "\n")
    update = {"insert": {"reading": [["a", at]]}}
    (tmp_path / "updates.jsonl").write_text(json.dumps(update) + "\n")
    found = []
    for way in ("file", "lines", "queue", "rows"):
        kb = open_kb()
        kb.add_rules(".decl reading(x: symbol, at: timestamp)")
        if way == "file":
            kb.load(tmp_path / "reading.jsonl")
        elif way == "rows":
            kb.insert("reading", [("a", at)])
        else:
            updates: Any = zodiac_sql.UpdateQueue() if way == "queue" else None
            if updates:
                updates.put({"insert": {"reading": [("a", at)]}})
                updates.close()
            (change,) = kb.stream(updates or tmp_path / "updates.jsonl")
            assert (change.inserted, change.notes) == ({"reading": 1}, ())
        found.append(kb.table("reading").fetchall())
    assert found[0][0][1].date() == dt.date(2026, 1, 31) and found == found[:1] * 4
