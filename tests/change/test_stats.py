"""What a change cost: read by attribute, as mappings, and as JSON."""

from __future__ import annotations

import dataclasses
import inspect
import json

import pytest

import zodiac_sql
from zodiac_sql.change import stats
from zodiac_sql.change.stats import HypernodeStats, Record, Stats

PHASES = ["stage", "check", "reason", "compare", "publish"]


@pytest.fixture(scope="module")
def change() -> Stats:
    with zodiac_sql.connect() as kb:
        kb.add_rules("path(X, Y) :- edge(X, Y).  path(X, Z) :- path(X, Y), edge(Y, Z).")
        return kb.insert("edge", [("a", "b"), ("b", "c")]).stats


def test_by_attribute_and_as_mappings(change: Stats) -> None:
    assert list(change) == ["seconds", "hypernodes", "considered"] and len(change) == 3
    assert list(change["seconds"]) == PHASES
    assert change["seconds"]["reason"] == change.seconds.reason
    assert change["hypernodes"]["h2"]["strategy"] == change.hypernodes["h2"].strategy
    assert {**change.hypernodes["h2"]}["why"] == change.hypernodes["h2"].why


def test_what_is_absent(change: Stats) -> None:
    assert "stream" not in change and change.stream is None and change.get("marks") is None
    with pytest.raises(KeyError):
        change["stream"]
    with pytest.raises(KeyError):
        change["to_dict"]


def test_a_preview_publishes_nothing() -> None:
    with zodiac_sql.connect() as kb:
        with kb.preview() as update:
            update.insert("p", [(1,)])
        assert list(update.change.stats.seconds) == PHASES[:-1]


def test_with_marks_in_a_stream() -> None:
    with zodiac_sql.connect(strategy="bf_marking") as kb:
        kb.insert("p", [(1,)])
        updates = [{"insert": {"p": [(2,)]}}, {"delete": {"p": [(1,)]}}]
        first, last = list(kb.stream(updates))
    assert first.stats["marks"] == {"explicit": 1, "implicit": 0}
    assert first.stats["stream"]["waiting"] == 1 and last.stats["stream"]["waiting"] == 0


def test_as_json(change: Stats) -> None:
    told = change.to_dict()
    assert json.loads(json.dumps(told)) == told == change
    names = [field.name for field in dataclasses.fields(HypernodeStats)]
    weighed = ("expected_inserted", "expected_deleted")  # absent if nothing was
    assert [*told["hypernodes"]["h1"]] == [name for name in names if name not in weighed]


def test_every_field_is_explained() -> None:
    """A field's explanation is the text on the line below it."""
    records = [c for c in vars(stats).values() if isinstance(c, type) and issubclass(c, Record)]
    for record in set(records) - {Record}:
        lines = [line.strip() for line in inspect.getsource(record).splitlines()]
        for field in dataclasses.fields(record):
            (place,) = (i for i, line in enumerate(lines) if line.startswith(f"{field.name}: "))
            assert lines[place + 1].startswith('"""'), f"{record.__name__}.{field.name}"
