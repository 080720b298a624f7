"""Random streams of events, windows that come and go, ticks and clocks that jump, against a model
in plain Python (support/window_model.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from generators.event_streams import TYPES, EventStream, Step, tell
from hypothesis import given, settings
from hypothesis import strategies as st
from support import budget
from support.window_model import Row, WindowModel

from zodiac_sql import connect
from zodiac_sql.change import fallen

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.change import Change

RULES = """
.decl reading(turbine: symbol, kind: symbol, at: {type}, celsius: float)
recent(T) :- reading(T, _, _, _).
silent(T) :- turbine(T), not recent(T).
hot(T, N) :- AGGREGATE(reading(T, K, A, C), C > 2) ON T WITH COUNT(K) AS N.
near(X, Y) :- link(X, Y), recent(X).
near(X, Z) :- near(X, Y), link(Y, Z).
turbine(wt1). turbine(wt2). turbine(wt3). turbine(wt4).
link(wt1, wt2). link(wt2, wt3). link(wt3, wt1). link(wt3, wt4).
"""
LINKS = [("wt1", "wt2"), ("wt2", "wt3"), ("wt3", "wt1"), ("wt3", "wt4")]

Open = Callable[[], "KnowledgeBase"]


def derived(facts: set[Row]) -> dict[str, set[Row]]:
    """What the rules derive, in plain Python."""
    recent = {row[0] for row in facts}
    hot = Counter(row[0] for row in facts if row[3] > 2)
    near = {(x, y) for x, y in LINKS if x in recent}
    while more := {(x, z) for x, y in near for u, z in LINKS if y == u} - near:
        near |= more
    return {
        "recent": {(name,) for name in recent},
        "silent": {(f"wt{n}",) for n in range(1, 5) if f"wt{n}" not in recent},
        "hot": set(hot.items()),
        "near": near,
    }


def run(open_: Open, chance: Random, type_: str, number: int, in_file: bool) -> None:
    model, kb, position = WindowModel(), open_(), 0
    kb.add_rules(RULES.format(type=type_))
    kb.keep_feed(["reading", "recent"])
    replayed: dict[str, set[Row]] = {"reading": set(), "recent": set()}
    for step in EventStream(chance, type_).steps(number):
        if step.kind == "reopen":
            if in_file:
                kb.close()
                kb = open_()
            continue
        before = model.facts
        after = WindowModel(list(model.windows), set(before), model.clock, dict(model.seen))
        after.change(step.inserts, step.deletes, step.now, step.windows)
        if step.kind == "preview":
            with kb.preview() as preview:
                tell(preview, step)
            moves_as(preview.change, before, after.facts, step)
            assert set(kb.table("reading").fetchall()) == before
            continue
        with kb.update() as update:
            tell(update, step)
        model = after
        moves_as(update.change, before, model.facts, step)
        why_it_left(update.change, before - model.facts, step)
        assert set(kb.table("reading").fetchall()) == model.facts, step
        for name, expected in derived(model.facts).items():
            assert set(kb.table(name).fetchall()) == expected, (name, step)
        budget.tried("events", len(step.inserts) + len(step.deletes))
        if chance.random() < 0.1:
            position = replay(kb, position, replayed)
            assert replayed["reading"] == model.facts
    found = kb.verify()
    assert found, found
    replay(kb, position, replayed)
    assert replayed["recent"] == derived(model.facts)["recent"]
    kb.close()


def moves_as(change: Change, before: set[Row], after: set[Row], step: Step) -> None:
    """What a change says has moved is what the model says."""
    found = change.inserted.get("reading", 0), change.deleted.get("reading", 0)
    assert found == (len(after - before), len(before - after)), step
    other, there = derived(before), derived(after)
    for name in there:
        found = change.inserted.get(name, 0), change.deleted.get(name, 0)
        assert found == (len(there[name] - other[name]), len(other[name] - there[name])), name


def why_it_left(change: Change, gone: set[Row], step: Step) -> None:
    """The reason why a fact is gone: a verb has deleted it, or it left the window."""
    for row in sorted(gone - set(step.deletes), key=repr)[:1]:
        goal = f"reading({row[0]}, {row[1]}, {written(row[2])}, {row[3]})"
        assert str(change.why(goal)).endswith("left the window of reading"), goal


def written(value: Any) -> str:
    type_ = type(value).__name__
    if type_ in ("datetime", "date"):
        xsd = "dateTime" if type_ == "datetime" else "date"
        return f'"{value.isoformat()}"^^xsd:{xsd}'
    return f'"{value}"^^xsd:decimal' if type_ == "Decimal" else repr(value)


def replay(kb: KnowledgeBase, position: int, replayed: dict[str, set[Row]]) -> int:
    """Follow the feed: no fact enters twice, and none leaves that was not there."""
    changes = kb.changes(since=position)
    for name, batch in changes:
        facts = replayed[name]
        for values in sorted(batch.to_pylist(), key=lambda v: (v["_commit"], v["_change_type"])):
            *row, kind, _, _ = values.values()
            if kind == "insert":
                assert tuple(row) not in facts
                facts.add(tuple(row))
            else:
                facts.remove(tuple(row))
    return changes.position


@pytest.mark.parametrize("type_", TYPES)
@given(seed=st.integers(0, 2**32), most=st.sampled_from([1, 1_000]), in_file=st.booleans())
@settings(max_examples=settings().max_examples, deadline=None)
def test_windows_are_as_the_model(type_: str, seed: int, most: int, in_file: bool) -> None:
    """With `most`, facts that fall out are in memory, or in tables as if they were many."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(fallen, "MOST_GIVEN", most)
        path = str(Path(folder, "w.duckdb")) if in_file else ":memory:"
        run(lambda: connect(path), Random(seed), type_, 15, in_file)
